/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The picture viewer of the selected frame pair: one picture, or two on either side of a divider, with
 * zoom, and the block under the pointer.
 *
 * openViewer()           makes the controls
 * showPictures(frame)    loads the pictures of a frame that has some; returns a promise
 * drawViewer()           draws again after a change of size or colours
 * pickBlock(index)       selects a block
 * blockAt(x, y)          index of the block at a pixel
 */

const PICTURES = [
    ["reference", "Reference", "the frame that is searched for matches"],
    ["target", "Target", "the frame whose blocks are matched"],
    ["predicted", "Predicted", "the target, assembled from matching blocks of the reference"],
    ["difference", "Difference", `|target - reference|, gamma ${data.gamma}`],
    ["residual", "Residual", `|target - predicted|, gamma ${data.gamma}`],
    ["overlay", "Overlay", "motion of each block from the reference, opposite to its vector; square-root length scale"],
    ["cost", "Cost map", `cost per pixel, from dark (0) to light (${data.colours.cost_full} of 256 gray levels or more); `
        + "square-root colour scale"],
];

/* Positions and sizes are in pixels of the video, unless they are named screen...: CSS pixels. */
const view = {
    frame: -1,
    images: {},
    vectors: null, /* of the frame pair, see readVectors */
    costs: null,   /* a canvas with one pixel per block */
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
const WIDTH = data.input.width;
const HEIGHT = data.input.height;
const PICTURE_NAMES = ["reference", "target", "predicted", "difference", "residual"];

function blockAt(x, y) {
    return Math.floor(y / BLOCK_H) * data.blocks_x + Math.floor(x / BLOCK_W);
}

/* Unpacks what pack_vectors of src/report/set.c wrote; ranks follow from the costs. */
function readVectors(text) {
    const count = data.blocks_x * data.blocks_y;
    const windowX = data.window_x * data.units;
    const windowY = data.window_y * data.units;
    const columns = 2 * windowX + 1;
    const candidates = columns * (2 * windowY + 1);
    const width = candidates <= 0x100 ? 1 : candidates <= 0x10000 ? 2 : candidates <= 0x1000000 ? 3 : 4;
    const bytes = bytesOf(text);
    if (bytes.length === 0) {
        return null;
    }
    const found = { dx: new Float32Array(count), dy: new Float32Array(count), cost: new Float64Array(count),
        rank: new Uint32Array(count) };
    for (let i = 0; i < count; i++) {
        let index = 0;
        for (let k = width - 1; k >= 0; k--) {
            index = index * 256 + bytes[i * width + k];
        }
        found.dx[i] = (index % columns - windowX) / data.units;
        found.dy[i] = (Math.floor(index / columns) - windowY) / data.units;
    }
    const numbers = new Numbers(bytes, count * width);
    for (let i = 0; i < count; i++) {
        found.cost[i] = numbers.next();
    }
    const order = Uint32Array.from({ length: count }, (unused, i) => i);
    order.sort((a, b) => found.cost[b] - found.cost[a] || a - b);
    order.forEach((block, rank) => { found.rank[block] = rank; });
    return found;
}

function rectangle(index) {
    const x = index % data.blocks_x * BLOCK_W;
    const y = Math.floor(index / data.blocks_x) * BLOCK_H;
    return { x, y, w: Math.min(BLOCK_W, WIDTH - x), h: Math.min(BLOCK_H, HEIGHT - y) };
}

/* As in --overlay: by cost per pixel, so that blocks cut by the edge compare with the others. */
function costCanvas(vectors) {
    const canvas = make("canvas", { width: data.blocks_x, height: data.blocks_y });
    const image = new ImageData(data.blocks_x, data.blocks_y);
    const full = data.colours.cost_full * 2 ** (data.input.bits - 8);
    vectors.cost.forEach((cost, i) => {
        const { w, h } = rectangle(i);
        image.data.set([...heatBytes(Math.sqrt(cost / (w * h * full))), 255], 4 * i);
    });
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
}

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
    view.vectors = readVectors(set.vectors);
    view.costs = view.vectors && costCanvas(view.vectors);
    for (const name of ["overlay", "cost"]) {
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

/* As in --overlay: arrows show how the content moved; their length grows with the square root of the
 * vector's, and the longest vector of the window fits the block. Where blocks are small on screen,
 * each arrow is the mean of group x group blocks. Returns group. */
function drawArrows(context) {
    const scale = screenScale();
    const group = Math.max(1, Math.ceil(11 / (Math.min(BLOCK_W, BLOCK_H) * scale)));
    const { dx, dy } = view.vectors;
    const [width, height] = [group * BLOCK_W, group * BLOCK_H];
    const room = Math.min(width, height) * scale;
    const longest = Math.hypot(data.window_x, data.window_y) || 1;
    const left = Math.max(0, Math.floor(view.x / width));
    const top = Math.max(0, Math.floor(view.y / height));
    const right = Math.min(Math.ceil(data.blocks_x / group), Math.ceil((view.x + WIDTH / view.zoom) / width));
    const bottom = Math.min(Math.ceil(data.blocks_y / group), Math.ceil((view.y + HEIGHT / view.zoom) / height));
    for (let row = top; row < bottom; row++) {
        for (let column = left; column < right; column++) {
            let sumX = 0;
            let sumY = 0;
            let count = 0;
            for (let y = row * group; y < Math.min((row + 1) * group, data.blocks_y); y++) {
                for (let x = column * group; x < Math.min((column + 1) * group, data.blocks_x); x++) {
                    sumX += dx[y * data.blocks_x + x];
                    sumY += dy[y * data.blocks_x + x];
                    count++;
                }
            }
            const x = ((column + 0.5) * width - view.x) * scale;
            const y = ((row + 0.5) * height - view.y) * scale;
            const length = Math.hypot(sumX, sumY) / count;
            const stretch = length > 0 ? -room * Math.sqrt(length / longest) / (length * count) : 0;
            drawArrow(context, x, y, sumX * stretch, sumY * stretch, room);
        }
    }
    return group;
}

/* A dot if shorter than a pixel. A dark outline makes arrows visible on any picture. */
function drawArrow(context, x, y, dx, dy, room) {
    const length = Math.hypot(dx, dy);
    const width = Math.min(2, Math.max(1, room / 10));
    if (length < 1) {
        context.fillStyle = "rgb(0 0 0 / 0.4)";
        context.fillRect(x - 1, y - 1, 2, 2);
        context.fillStyle = "rgb(255 255 255 / 0.7)";
        context.fillRect(x - 0.5, y - 0.5, 1, 1);
        return;
    }
    x -= dx / 2; /* centred on the block */
    y -= dy / 2;
    const head = Math.min(length * 0.6, 3 + 1.5 * width);
    const ex = dx / length;
    const ey = dy / length;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + dx, y + dy);
    context.moveTo(x + dx - head * (ex - 0.6 * ey), y + dy - head * (ey + 0.6 * ex));
    context.lineTo(x + dx, y + dy);
    context.lineTo(x + dx - head * (ex + 0.6 * ey), y + dy - head * (ey - 0.6 * ex));
    context.lineCap = "round";
    context.strokeStyle = "rgb(0 0 0 / 0.75)";
    context.lineWidth = width + 1.6;
    context.stroke();
    context.strokeStyle = direction(dx, dy);
    context.lineWidth = width;
    context.stroke();
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
    const image = view.images[name === "overlay" || name === "cost" ? "target" : name];
    const smooth = screenScale() * data.scale < 3;
    drawPart(context, image, data.scale, data.scale, smooth);
    if (name === "difference" || name === "residual") {
        context.globalCompositeOperation = "lighter";
        for (let i = 1; i < gainOf(view.frame); i++) {
            drawPart(context, image, data.scale, data.scale, smooth);
        }
        context.globalCompositeOperation = "source-over";
    }
    if (name === "cost" && view.costs) {
        context.globalAlpha = data.colours.cost_share;
        drawPart(context, view.costs, BLOCK_W, BLOCK_H, false);
        context.globalAlpha = 1;
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
        text += `. Each arrow is the mean of ${group} x ${group} blocks; zoom in to see every block`;
    }
    byId("caption").textContent = `${text}.`;
}

function showBlock() {
    const box = byId("block");
    if (view.block < 0 || !view.vectors) {
        return;
    }
    const { x, y, w, h } = rectangle(view.block);
    const { dx, dy, cost, rank } = view.vectors;
    const i = view.block;
    Object.assign(box.dataset, { frame: view.frame, x, y, w, h, dx: dx[i], dy: dy[i], cost: cost[i], rank: rank[i] });
    const item = (name, text) => make("span", {}, `${name} `, make("strong", {}, text));
    box.replaceChildren(item("Block", `${w} x ${h} at (${x}, ${y})`), item("vector", `(${dx[i]}, ${dy[i]})`),
        item("cost", whole(cost[i])), item("per pixel", (cost[i] / (w * h)).toFixed(2)),
        item("rank", `${whole(rank[i])} of ${whole(cost.length)}`));
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
        const columns = data.blocks_x;
        const [dx, dy] = view.block < 0 ? [0, 0] : steps[event.key];
        const from = Math.max(0, view.block);
        const x = Math.max(0, Math.min(columns - 1, from % columns + dx));
        const y = Math.max(0, Math.min(data.blocks_y - 1, Math.floor(from / columns) + dy));
        follow(y * columns + x);
        pickBlock(y * columns + x);
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

/* The keys to the colours of the overlay and the cost map. */
function makeKeys() {
    const full = data.colours.cost_full;
    const marks = [0, 0.25, 0.5, 0.75, 1].map((place) => make("span", {}, plain(full * place * place, 1)));
    byId("keys").append(
        make("span", { id: "key-overlay" }, wheel(34), "direction of motion"),
        make("span", { id: "key-cost" }, make("span", {}, ramp(180), make("b", {}, ...marks)), "gray levels (of 256) per pixel"));
}

function showKeys() {
    const seen = ["overlay", "cost"].filter((name) => {
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
