/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The picture viewer of the selected frame pair: one picture, or two on either side of a divider.
 *
 * openViewer()           makes the controls
 * showPictures(frame)    loads the pictures of a frame that has some; returns a promise
 * drawViewer()           draws again after a change of size or colours
 * pickBlock(index)       selects a block
 * chooseMain(name)       shows a picture of the list PICTURES
 */

const PICTURES = [
    ["overlay", "Motion", "how each block moved " + (data.parameters["best-reference"] || BOTH ? "forward in time"
        : "since the reference, which is opposite to its vector")
        + (data.parameters.partition ? "; outlines of the blocks that the partition chose" : "")],
    ["flow", "Flow", `direction of motion as hue, speed as opacity; what is not tinted does not move`],
    ["target", "Target", "the frame whose blocks are matched"],
    ["reference", "Reference", "the frame that is searched for matches"],
    ["predicted", "Predicted", "the target, assembled from matching blocks of the reference"],
    ["difference", "Difference", `|target - reference|, gamma ${data.gamma}`],
    ["residual", "Residual", `|target - predicted|, gamma ${data.gamma}`],
    ["cost", "Cost map", `cost per pixel, from dark (0) to light (${data.colours.cost_full} of 256 gray levels or more); `
        + "square-root colour scale"],
    ["confidence", "Confidence", "by how much the best match is cheaper than the second best one. Light: the vector is sure, "
        + "for all others cost much more; dark: another one costs nearly the same, so the vector may be wrong"],
    ["return", "Return", `how far the vector back from the match leads away from the block; not tinted up to ${data.colours.return_small} pixel. `
        + "Tinted blocks are hidden in one of the frames, or their vector is wrong"],
    ["sizes", "Block sizes", "the blocks that the partition chose, from dark (smallest) to light (largest)"],
    ["fractions", "Fractions", "where vectors lead to whole pixels, halves or quarters"],
].filter(([name]) => ({ confidence: Boolean(data.parameters.confidence), return: data.returns, sizes: Boolean(data.parameters.partition),
    fractions: data.units > 1 })[name] ?? true);
/* Pictures that are drawn from the vectors, over another picture. */
const OVER = { overlay: "colour", flow: "colour", cost: "target", confidence: "target", return: "target", sizes: "target", fractions: "target" };
const DRAWN = Object.keys(OVER).filter((name) => PICTURES.some((picture) => picture[0] === name));

/* Positions and sizes are in pixels of the video, unless they are named screen...: CSS pixels. */
const view = {
    frame: -1,
    side: 0,
    images: {},
    vectors: null, /* of the frame pair, see readVectors */
    cells: null,   /* block of each cell, in raster order */
    maps: {},      /* by the name of the picture: a canvas with one pixel per cell */
    main: "overlay",
    other: "none",
    choice: null,
    divider: 0.5,
    gain: 0, /* of difference and residual; 0: chosen by gainOf */
    zoom: 1,
    x: 0, /* upper left corner of the visible part */
    y: 0,
    screenWidth: 0,
    screenHeight: 0,
    block: -1,
    pinned: false, /* the block stays while the pointer moves */
    trueLength: false, /* of arrows */
};

const titleOf = (name) => PICTURES.find((picture) => picture[0] === name)[1];

/* What is shown instead of a picture that this frame lacks in the page. */
const standIn = (name) => hasPicture(view.frame, OVER[name] || name) ? name : "target";

/* The pictures that the present choice of layers needs. */
async function loadPictures(frame) {
    const names = [view.main, view.other].filter((name) => name !== "none")
        .map((name) => OVER[name] || name).map((name) => hasPicture(frame, name) ? name : "target");
    const found = await Promise.all(names.map((name) => loadPicture(frame, name)));
    return Object.fromEntries(names.map((name, i) => [name, found[i]]));
}

async function showPictures(frame) {
    const choice = view.choice = {}; /* the latest; whatever comes from an earlier one is dropped */
    const of = side;
    const [set, images] = await Promise.all([loadPart(frame, of), loadPictures(frame)]);
    if (view.choice !== choice) {
        return;
    }
    view.images = images;
    if (view.frame !== frame || view.side !== of) {
        Object.assign(view, { frame, side: of });
        takeVectors(set);
    }
    for (const [name] of PICTURES) {
        byId(`tab-${name}`).disabled = DRAWN.includes(name) ? !view.vectors : !hasPicture(frame, name);
    }
    showMissing();
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
function drawPicture(context, wanted) {
    const name = standIn(wanted);
    const { image, scale, film } = view.images[OVER[name] || name];
    const smooth = screenScale() * scale < 3;
    const map = mapOf(name);
    context.filter = film && OVER[name] === "target" ? "grayscale(1)" : "none";
    drawPart(context, image, scale, scale, smooth);
    context.filter = "none";
    if (name === "difference" || name === "residual") {
        context.globalCompositeOperation = "lighter";
        for (let i = 1; i < gainOf(view.frame); i++) {
            drawPart(context, image, scale, scale, smooth);
        }
        context.globalCompositeOperation = "source-over";
    }
    if (map) {
        context.globalAlpha = name === "flow" ? 1 : data.colours.cost_share;
        drawPart(context, map, CELL_W, CELL_H, false);
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

/* The line between two pictures, with a handle. */
function drawDivider(context, split) {
    const middle = view.screenHeight / 2;
    context.fillStyle = "rgb(0 0 0 / 0.7)";
    context.fillRect(split - 2, 0, 4, view.screenHeight);
    context.fillStyle = "rgb(255 255 255)";
    context.fillRect(split - 1, 0, 2, view.screenHeight);
    context.beginPath();
    context.arc(split, middle, 13, 0, 2 * Math.PI);
    context.fill();
    context.strokeStyle = "rgb(0 0 0 / 0.7)";
    context.lineWidth = 2;
    context.stroke();
    context.beginPath();
    for (const side of [-1, 1]) {
        context.moveTo(split + 4 * side, middle - 4);
        context.lineTo(split + 8 * side, middle);
        context.lineTo(split + 4 * side, middle + 4);
    }
    context.stroke();
}

/* The names of both pictures, in the corners beside the divider. */
function drawNames(context, split) {
    context.font = "600 13px system-ui, sans-serif";
    context.textBaseline = "top";
    for (const [name, at, align] of [[view.main, split - 14, "right"], [view.other, split + 14, "left"]]) {
        const width = context.measureText(titleOf(standIn(name))).width;
        if (align === "right" ? at > width : at + width < view.screenWidth) {
            context.textAlign = align;
            context.fillStyle = "rgb(0 0 0 / 0.65)";
            context.fillRect(align === "right" ? at - width - 6 : at - 6, 6, width + 12, 22);
            context.fillStyle = "rgb(255 255 255)";
            context.fillText(titleOf(standIn(name)), at, 10);
        }
    }
}

/* The room of the picture, in CSS pixels, when the page fills the screen; places the side where the picture leaves room. */
const SIDE = { width: 312, height: 320 };
function fillScreen() {
    const { classList } = document.querySelector(".sides");
    classList.remove("beside");
    classList.add("without");
    const panel = byId("stage-panel");
    const width = panel.clientWidth;
    const height = window.innerHeight - byId("head").offsetHeight - byId("film").offsetHeight + panel.offsetHeight - 20;
    const scale = Math.min(width / WIDTH, height / HEIGHT);
    const beside = width - scale * WIDTH >= SIDE.width;
    classList.toggle("beside", beside);
    classList.toggle("without", !beside && height - scale * HEIGHT < SIDE.height);
    return [beside ? width - SIDE.width : width, height];
}

function fitStage() {
    const panel = byId("stage-panel");
    const [width, height] = document.fullscreenElement !== null ? fillScreen()
        : [panel.clientWidth, Math.max(320, 0.72 * window.innerHeight)];
    const scale = Math.min(width / WIDTH, Math.max(120, height) / HEIGHT, 24);
    view.screenWidth = Math.max(1, WIDTH * scale);
    view.screenHeight = Math.max(1, HEIGHT * scale);
}

function drawViewer() {
    if (Object.keys(view.images).length === 0) {
        return;
    }
    fitStage();
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
        drawDivider(context, split);
        drawNames(context, split);
    }
    drawBlock(context);
    showKeys();
    canvas.dataset.zoom = view.zoom;
    canvas.style.touchAction = view.zoom > 1 ? "none" : "pan-y";
    showCaption(group);
}

function showCaption(group) {
    const words = (wanted) => {
        const name = standIn(wanted);
        const [, title, text] = PICTURES.find((picture) => picture[0] === name);
        return name === wanted ? `${title}: ${text}`
            : `${title}, because this page does not hold the picture \u201c${titleOf(wanted)}\u201d of this frame`;
    };
    let text = words(view.main);
    if (view.other !== "none") {
        text = `Left: ${text}. Right: ${words(view.other)}`;
    }
    const gain = gainOf(view.frame);
    if (gain > 1 && /difference|residual/.test(`${standIn(view.main)} ${standIn(view.other === "none" ? "target" : view.other)}`)) {
        text += `. Difference and residual are brightened ${gain} times`;
    }
    if (group > 1) {
        const most = data.parameters.partition ? "up to " : "";
        text += `. Each arrow is the mean of ${most}${group} x ${group} blocks; zoom in to see every block`;
    }
    byId("caption").textContent = `${text}.`;
}

function pickBlock(index) {
    if (index !== view.block) {
        view.block = index;
        showBlock();
        drawViewer();
    }
}

function showChoice() {
    const seen = [view.main, view.other];
    byId("divider-label").hidden = view.other === "none";
    byId("arrows-label").hidden = !seen.includes("overlay");
    byId("gain-label").hidden = !seen.includes("difference") && !seen.includes("residual");
    return view.frame < 0 ? Promise.resolve() : showPictures(view.frame);
}

function chooseMain(name) {
    view.main = name;
    for (const [other] of PICTURES) {
        const tab = byId(`tab-${other}`);
        tab.setAttribute("aria-selected", String(other === name));
        tab.tabIndex = other === name ? 0 : -1;
    }
    byId("stage-panel").setAttribute("aria-labelledby", `tab-${name}`);
    return showChoice();
}

function chooseOther(name) {
    view.other = name;
    return showChoice();
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

/* The opacity of flow by length, over a picture's mean gray. */
const FLOW_MARKS = [0, 0.25, 0.5, 0.75, 1];
function flowRamp(width) {
    const canvas = make("canvas", { className: "ramp" });
    const context = resize(canvas, width, 12);
    context.fillStyle = "rgb(128 128 128)";
    context.fillRect(0, 0, width, 12);
    for (let x = 0; x < width; x++) {
        context.globalAlpha = flowOpacity(x / (width - 1));
        context.fillStyle = direction(1, 0);
        context.fillRect(x, 0, 1, 12);
    }
    return canvas;
}

/* The keys to the colours of the drawn pictures. */
function makeKeys() {
    const full = data.colours.cost_full;
    const steps = [0, 0.25, 0.5, 0.75, 1];
    const marked = (numbers, colours = ramp(180)) => make("span", {}, colours, make("b", {}, ...numbers.map((number) => make("span", {}, plain(number, 2)))));
    const keys = {
        overlay: [wheel(34), "direction of motion"],
        flow: [wheel(34), "direction", marked(FLOW_MARKS.map((share) => share * LONGEST), flowRamp(180)), "pixels per frame pair, or more"],
        cost: [marked(steps.map((place) => full * place * place)), "gray levels (of 256) per pixel"],
        confidence: ["unsure", marked(steps.map((place) => 100 * place)), "sure (% cheaper than the second best match)"],
        return: [marked(steps.map((place) => data.colours.return_full * place * place)), "pixels, or more"],
        sizes: [marked(SHOWN.filter(({ w, h }) => w === h).map(({ w }) => w).sort((a, b) => a - b)),
            "side of a square block, in pixels"],
        fractions: ["whole pixel", "half", "quarter"].slice(0, data.units === 4 ? 3 : 2).map((word, kind) => {
            const swatch = make("span", { className: "swatch" });
            swatch.style.background = `rgb(${FRACTIONS[kind].join(" ")})`;
            return make("span", {}, swatch, word);
        }),
    };
    byId("keys").append(...DRAWN.map((name) => make("span", { id: `key-${name}` }, ...keys[name])));
}

/* Says why layers cannot be chosen. Its place stays, so that nothing moves while frames play. */
function showMissing() {
    const missing = PICTURES.filter(([name]) => byId(`tab-${name}`).disabled).map(([, title]) => title);
    const whole = shown.filter((set) => !set.film).length;
    const why = `This page has all pictures of ${whole} of ${fields.count} frame pairs only; --report-dir keeps those of all.`;
    for (const [name] of PICTURES) {
        byId(`tab-${name}`).title = byId(`tab-${name}`).disabled ? why : "";
    }
    byId("missing").textContent = missing.length > 0 ? `No ${missing.join(", ").toLowerCase()} of this ${FRAME}: ${why}` : "\u00a0";
}

function showKeys() {
    for (const name of DRAWN) {
        byId(`key-${name}`).hidden = view.main !== name && view.other !== name;
    }
    byId("key-overlay").hidden ||= !byId("key-flow").hidden; /* which says the direction, too */
    byId("keys").hidden = [...byId("keys").children].every((key) => key.hidden);
}

function openViewer() {
    makeTabs();
    makeKeys();
    byId("other").value = view.other;
    byId("other").addEventListener("change", (event) => chooseOther(event.target.value));
    byId("divider").addEventListener("input", (event) => moveDivider(event.target.value / 100));
    byId("arrows").addEventListener("change", (event) => {
        view.trueLength = event.target.value === "true";
        drawViewer();
    });
    for (const [value, text] of [["0", "automatic"], ["1", "\u00d71"], ["2", "\u00d72"], ["4", "\u00d74"], ["8", "\u00d78"]]) {
        byId("gain").append(make("option", { value }, text));
    }
    byId("gain").addEventListener("change", (event) => {
        view.gain = Number(event.target.value);
        drawViewer();
    });
    byId("missing").hidden = shown.every((set) => !set.film);
    listenToInput(byId("stage"));
    chooseMain(view.main);
}
