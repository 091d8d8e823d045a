/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The picture viewer of the selected frame pair: one picture, or two on either side of a divider, with
 * zoom, and the block under the pointer.
 *
 * openViewer()           makes the controls
 * showPictures(frame)    loads the pictures of a frame that has some; returns a promise
 * drawViewer()           draws again after a change of size or colours
 * pickBlock(index)       selects a block
 */

const PICTURES = [
    ["reference", "Reference", "the frame that is searched for matches"],
    ["target", "Target", "the frame whose blocks are matched"],
    ["predicted", "Predicted", "the target, assembled from matching blocks of the reference"],
    ["difference", "Difference", `|target - reference|, gamma ${data.gamma}`],
    ["residual", "Residual", `|target - predicted|, gamma ${data.gamma}`],
    ["overlay", "Overlay", (data.parameters["best-reference"] ? "motion of each block forward in time"
        : "motion of each block from the reference, opposite to its vector") + "; square-root length scale"
        + (data.parameters.partition ? "; outlines of the blocks that the partition chose" : "")],
    ["cost", "Cost map", `cost per pixel, from dark (0) to light (${data.colours.cost_full} of 256 gray levels or more); `
        + "square-root colour scale"],
    ["confidence", "Confidence", "how close the second best match comes, as best cost / second cost, from dark "
        + "(0: the best match is much better, or the only one) to light (1: the second best match is as good)"],
].filter(([name]) => name !== "confidence" || data.parameters.confidence);
/* Pictures that are drawn from the vectors, over the target. */
const DRAWN = ["overlay", "cost", "confidence"].filter((name) => PICTURES.some((picture) => picture[0] === name));

/* Positions and sizes are in pixels of the video, unless they are named screen...: CSS pixels. */
const view = {
    frame: -1,
    images: {},
    vectors: null, /* of the frame pair, see readVectors */
    cells: null,   /* block of each cell, in raster order */
    maps: {},      /* by the name of the picture: a canvas with one pixel per cell */
    main: "difference",
    other: "residual",
    divider: 0.5,
    gain: 0, /* of difference and residual; 0: chosen by gainOf */
    zoom: 1,
    x: 0, /* upper left corner of the visible part */
    y: 0,
    screenWidth: 0,
    screenHeight: 0,
    block: -1,
};
const PICTURE_NAMES = ["reference", "target", "predicted", "difference", "residual"];

async function showPictures(frame) {
    if (view.frame === frame) {
        return;
    }
    view.frame = frame;
    const set = JSON.parse(byId(`set-${frame}`).textContent);
    const images = {};
    await Promise.all(PICTURE_NAMES.map(async (name) => {
        const image = new Image();
        image.src = `data:${data.type};base64,${set[name]}`;
        await image.decode();
        images[name] = image;
    }));
    if (view.frame !== frame) {
        return; /* another frame has been selected meanwhile */
    }
    view.images = images;
    takeVectors(set);
    for (const name of DRAWN) {
        byId(`tab-${name}`).disabled = !view.vectors;
    }
    byId("stage").dataset.frame = frame;
    showBlock();
    drawViewer();
}

/* CSS pixels per pixel of the video. */
function screenScale() {
    return view.zoom * view.screenWidth / WIDTH;
}

/* Draws the visible part of an image whose samples are unitX x unitY pixels of the video. */
function drawPart(context, image, unitX, unitY, smooth) {
    context.imageSmoothingEnabled = smooth;
    context.imageSmoothingQuality = "high";
    context.drawImage(image, view.x / unitX, view.y / unitY, WIDTH / view.zoom / unitX,
        HEIGHT / view.zoom / unitY, 0, 0, view.screenWidth, view.screenHeight);
}

/* The automatic gain brings the mean of the difference to about a sixth of white. */
function gainOf(frame) {
    if (view.gain > 0) {
        return view.gain;
    }
    const peak = 2 ** data.input.bits - 1;
    const mean = fields.sadBefore[frame - data.first_field] / (WIDTH * HEIGHT * peak);
    const gain = 0.16 / Math.max(mean ** (1 / data.gamma), 1e-6);
    return gain >= 6 ? 8 : gain >= 3 ? 4 : gain >= 1.5 ? 2 : 1;
}

/* Returns the group of drawArrows; 0 if no arrows were drawn. */
function drawPicture(context, name) {
    const image = view.images[DRAWN.includes(name) ? "target" : name];
    const smooth = screenScale() * data.scale < 3;
    drawPart(context, image, data.scale, data.scale, smooth);
    if (name === "difference" || name === "residual") {
        context.globalCompositeOperation = "lighter";
        for (let i = 1; i < gainOf(view.frame); i++) {
            drawPart(context, image, data.scale, data.scale, smooth);
        }
        context.globalCompositeOperation = "source-over";
    }
    if (view.maps[name]) {
        context.globalAlpha = data.colours.cost_share;
        drawPart(context, view.maps[name], CELL_W, CELL_H, false);
        context.globalAlpha = 1;
    }
    if (DRAWN.includes(name) && view.vectors && data.parameters.partition) {
        drawOutlines(context);
    }
    return name === "overlay" && view.vectors ? drawArrows(context) : 0;
}

function drawBlock(context) {
    if (view.block < 0 || !view.vectors) {
        return;
    }
    const scale = screenScale();
    const { x, y, w, h } = rectangle(view.block);
    const outline = (left, top, dash, stroke) => {
        const box = [(left - view.x) * scale, (top - view.y) * scale, w * scale, h * scale];
        context.setLineDash([]);
        context.strokeStyle = "rgb(0 0 0 / 0.8)";
        context.lineWidth = 4;
        context.strokeRect(...box);
        context.setLineDash(dash);
        context.strokeStyle = stroke;
        context.lineWidth = 2;
        context.strokeRect(...box);
        context.setLineDash([]);
    };
    outline(x + view.vectors.dx[view.block], y + view.vectors.dy[view.block], [4, 3], "rgb(95 185 240)");
    outline(x, y, [], "rgb(255 255 255)");
}

function drawViewer() {
    if (!view.images.target) {
        return;
    }
    const room = byId("stage-panel").clientWidth;
    const scale = Math.min(room / WIDTH, Math.max(320, 0.72 * window.innerHeight) / HEIGHT, 24);
    view.screenWidth = Math.max(1, WIDTH * scale);
    view.screenHeight = Math.max(1, HEIGHT * scale);
    const canvas = byId("stage");
    const context = resize(canvas, view.screenWidth, view.screenHeight);
    const split = view.screenWidth * view.divider;
    let group = drawPicture(context, view.main);
    if (view.other !== "none") {
        context.save();
        context.beginPath();
        context.rect(split, 0, view.screenWidth - split, view.screenHeight);
        context.clip();
        group = drawPicture(context, view.other) || group;
        context.restore();
        context.fillStyle = "rgb(0 0 0 / 0.7)";
        context.fillRect(split - 2, 0, 4, view.screenHeight);
        context.fillStyle = "rgb(255 255 255)";
        context.fillRect(split - 1, 0, 2, view.screenHeight);
    }
    drawBlock(context);
    showKeys();
    canvas.dataset.zoom = view.zoom;
    canvas.style.touchAction = view.zoom > 1 ? "none" : "pan-y";
    showCaption(group);
}

function showCaption(group) {
    const words = (name) => {
        const [, title, text] = PICTURES.find((picture) => picture[0] === name);
        return `${title} (${text})`;
    };
    let text = words(view.main);
    if (view.other !== "none") {
        text = `Left: ${text}. Right: ${words(view.other)}`;
    }
    const gain = gainOf(view.frame);
    if (gain > 1 && /difference|residual/.test(`${view.main} ${view.other}`)) {
        text += `. Difference and residual are brightened ${gain} times`;
    }
    if (group > 1) {
        const most = data.parameters.partition ? "up to " : "";
        text += `. Each arrow is the mean of ${most}${group} x ${group} blocks; zoom in to see every block`;
    }
    byId("caption").textContent = `${text}.`;
}

function showBlock() {
    const box = byId("block");
    if (view.block < 0 || !view.vectors) {
        return;
    }
    const { x, y, w, h } = rectangle(view.block);
    const { dx, dy, cost, second, rank } = view.vectors;
    const i = view.block;
    Object.assign(box.dataset, { frame: view.frame, x, y, w, h, dx: dx[i], dy: dy[i], cost: cost[i], rank: rank[i] });
    const item = (name, text) => make("span", {}, `${name} `, make("strong", {}, text));
    box.replaceChildren(item("Block", `${w} x ${h} at (${x}, ${y})`), item("vector", `(${dx[i]}, ${dy[i]})`),
        item("cost", whole(cost[i])), item("per pixel", (cost[i] / (w * h)).toFixed(2)),
        item("rank", `${whole(rank[i])} of ${whole(cost.length)}`));
    if (data.parameters["best-reference"]) {
        box.dataset.ref = view.frame + view.vectors.distance[i];
        box.append(item("reference", `frame ${box.dataset.ref}`));
    }
    if (data.parameters.confidence) {
        box.dataset.second = second[i];
        box.append(item("second best match", Number.isFinite(second[i]) ? `cost ${whole(second[i])}` : "none"));
    }
}

function pickBlock(index) {
    if (index !== view.block) {
        view.block = index;
        showBlock();
        drawViewer();
    }
}

/* Moves the upper left corner to (x, y), as far as the picture allows. */
function moveView(x, y) {
    view.x = Math.max(0, Math.min(WIDTH - WIDTH / view.zoom, x));
    view.y = Math.max(0, Math.min(HEIGHT - HEIGHT / view.zoom, y));
}

/* Zooms while (x, y) keeps its place on screen. */
function zoomTo(zoom, x, y) {
    const old = view.zoom;
    view.zoom = Math.max(1, Math.min(32, zoom));
    moveView(x - (x - view.x) * old / view.zoom, y - (y - view.y) * old / view.zoom);
    drawViewer();
}

function zoomBy(factor) {
    const { x, y } = view.block >= 0 ? rectangle(view.block)
        : { x: view.x + WIDTH / view.zoom / 2, y: view.y + HEIGHT / view.zoom / 2 };
    zoomTo(view.zoom * factor, x, y);
}

/* Scrolls a block into view. */
function follow(index) {
    const { x, y, w, h } = rectangle(index);
    const seenX = WIDTH / view.zoom;
    const seenY = HEIGHT / view.zoom;
    const along = (start, seen, at, side) => at < start ? at : at + side > start + seen ? at + side - seen : start;
    moveView(along(view.x, seenX, x, w), along(view.y, seenY, y, h));
}

function stageKey(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const zooms = { "+": 2, "=": 2, "-": 0.5, "0": 0 };
    if (steps[event.key] && view.vectors) {
        const [dx, dy] = view.block < 0 ? [0, 0] : steps[event.key];
        const { x, y, w, h } = rectangle(Math.max(0, view.block));
        const step = (at, side, direction) => direction > 0 ? at + side : at + direction;
        const to = blockAt(Math.max(0, Math.min(WIDTH - 1, step(x, w, dx))), Math.max(0, Math.min(HEIGHT - 1, step(y, h, dy))));
        follow(to);
        pickBlock(to);
    } else if (zooms[event.key] !== undefined) {
        zoomBy(zooms[event.key]);
    } else {
        return;
    }
    event.preventDefault();
}

/* Pointing at a block selects it; dragging moves the picture if it is enlarged. */
function listenToPointer(canvas) {
    let drag = null;
    const place = (event) => {
        const box = canvas.getBoundingClientRect();
        return { x: view.x + (event.clientX - box.left) / screenScale(),
            y: view.y + (event.clientY - box.top) / screenScale() };
    };
    const pick = (event) => {
        const { x, y } = place(event);
        if (view.vectors && x >= 0 && y >= 0 && x < WIDTH && y < HEIGHT) {
            pickBlock(blockAt(x, y));
        }
    };
    canvas.addEventListener("pointerdown", (event) => {
        pick(event);
        if (view.zoom > 1) {
            drag = { ...place(event) };
            canvas.setPointerCapture(event.pointerId);
        }
    });
    canvas.addEventListener("pointermove", (event) => {
        if (!drag) {
            pick(event);
            return;
        }
        const { x, y } = place(event);
        moveView(view.x + drag.x - x, view.y + drag.y - y);
        drawViewer();
    });
    for (const name of ["pointerup", "pointercancel"]) {
        canvas.addEventListener(name, () => { drag = null; });
    }
    canvas.addEventListener("wheel", (event) => {
        if (event.ctrlKey) {
            const { x, y } = place(event);
            event.preventDefault();
            zoomTo(view.zoom * (event.deltaY < 0 ? 1.25 : 0.8), x, y);
        }
    }, { passive: false });
}

function chooseMain(name) {
    view.main = name;
    for (const [other] of PICTURES) {
        const tab = byId(`tab-${other}`);
        tab.setAttribute("aria-selected", String(other === name));
        tab.tabIndex = other === name ? 0 : -1;
    }
    byId("stage-panel").setAttribute("aria-labelledby", `tab-${name}`);
    drawViewer();
}

function chooseOther(name) {
    view.other = name;
    byId("divider-label").hidden = name === "none";
    drawViewer();
}

function makeTabs() {
    const tabs = byId("tabs");
    for (const [name, title] of PICTURES) {
        const tab = make("button", { type: "button", id: `tab-${name}`, role: "tab", "aria-controls": "stage-panel" }, title);
        tab.addEventListener("click", () => chooseMain(name));
        tabs.append(tab);
        byId("other").append(make("option", { value: name }, title));
    }
    byId("other").prepend(make("option", { value: "none" }, "none"));
    tabs.addEventListener("keydown", (event) => {
        const all = [...tabs.children].filter((tab) => !tab.disabled);
        const at = all.indexOf(document.activeElement);
        const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[event.key];
        if (to !== undefined) {
            const tab = all[(to + all.length) % all.length];
            event.preventDefault();
            tab.focus();
            tab.click();
        }
    });
}

/* The keys to the colours of the drawn pictures. */
function makeKeys() {
    const full = data.colours.cost_full;
    const steps = [0, 0.25, 0.5, 0.75, 1];
    const marked = (numbers) => make("span", {}, ramp(180), make("b", {}, ...numbers.map((number) => make("span", {}, plain(number, 2)))));
    const keys = {
        overlay: [wheel(34), "direction of motion"],
        cost: [marked(steps.map((place) => full * place * place)), "gray levels (of 256) per pixel"],
        confidence: [marked(steps), "cost of the best match / cost of the second best"],
    };
    byId("keys").append(...DRAWN.map((name) => make("span", { id: `key-${name}` }, ...keys[name])));
}

function showKeys() {
    const seen = DRAWN.filter((name) => {
        byId(`key-${name}`).hidden = view.main !== name && view.other !== name;
        return !byId(`key-${name}`).hidden;
    });
    byId("keys").hidden = seen.length === 0;
}

function openViewer() {
    const canvas = byId("stage");
    makeTabs();
    makeKeys();
    byId("other").value = view.other;
    byId("other").addEventListener("change", (event) => chooseOther(event.target.value));
    byId("divider").addEventListener("input", (event) => {
        view.divider = event.target.value / 100;
        drawViewer();
    });
    for (const [value, text] of [["0", "automatic"], ["1", "\u00d71"], ["2", "\u00d72"], ["4", "\u00d74"], ["8", "\u00d78"]]) {
        byId("gain").append(make("option", { value }, text));
    }
    byId("gain").addEventListener("change", (event) => {
        view.gain = Number(event.target.value);
        drawViewer();
    });
    byId("zoom-in").addEventListener("click", () => zoomBy(2));
    byId("zoom-out").addEventListener("click", () => zoomBy(0.5));
    byId("fit").addEventListener("click", () => zoomBy(0));
    canvas.addEventListener("keydown", stageKey);
    listenToPointer(canvas);
    chooseMain(view.main);
}
