/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page of `gpume compare --report`: both runs' fields side by side, by one slider, with one zoom and one block.
 * page_base.js and page_draw.js come before it.
 */

const pairs = data.pairs;              /* {frame, refs: may be missing, blocks, differ, cheaper, kept}, by rising frame */
const WIDTH = data.width;
const HEIGHT = data.height;
const NAMES = ["A", "B"];
const state = { at: 0, fields: null, full: null, image: null, block: -1, pinned: false, layer: "motion", zoom: 1, x: 0, y: 0, playing: false };
const stages = [byId("stage-0"), byId("stage-1")];

/* Blocks of a frame pair, as src/compare/page.c packs them: places, then for each run vectors and costs. */
function readPair(index) {
    const element = byId(`pair-${index}`);
    const numbers = new Numbers(bytesOf(element.textContent));
    const count = numbers.next();
    const take = (signed) => Float64Array.from({ length: count }, () => signed ? numbers.signed() : numbers.next());
    const places = Array.from({ length: count }, () => ({ x: numbers.next(), y: numbers.next(), w: numbers.next(), h: numbers.next() }));
    const runs = [0, 1].map(() => ({ dx: take(true).map((v) => v / data.units), dy: take(true).map((v) => v / data.units),
        cost: take(false) }));
    return { places, runs };
}

const screenScale = () => state.zoom * stages[0].clientWidth / WIDTH;

/* What the difference of a block is: "equal", "a" or "b" (the cheaper one), or "same" cost by other vectors. */
function verdict(block) {
    const [a, b] = state.fields.runs;
    const moved = a.dx[block] !== b.dx[block] || a.dy[block] !== b.dy[block];
    if (data.costs && a.cost[block] !== b.cost[block]) {
        return a.cost[block] < b.cost[block] ? "a" : "b";
    }
    return moved ? "same" : "equal";
}

const VERDICTS = { equal: () => "rgb(70 78 84)", a: () => "rgb(240 160 48)", b: () => "rgb(90 170 240)", same: () => "rgb(26 154 90)" };

/* The full scale of lengths and costs of a frame pair, one for both runs. */
function scales({ places, runs }) {
    const lengths = [], costs = [];
    for (const run of runs) {
        run.dx.forEach((dx, i) => {
            const { w, h } = places[i];
            lengths.push(Math.hypot(dx, run.dy[i]));
            costs.push(run.cost[i] / (w * h));
        });
    }
    const high = (list) => list.sort((a, b) => a - b)[Math.floor(0.98 * (list.length - 1))];
    return { length: Math.max(1, high(lengths)), cost: Math.max(1, high(costs)) };
}

function blockColour(run, block, full) {
    const { dx, dy, cost } = state.fields.runs[run];
    const { w, h } = state.fields.places[block];
    const strength = Math.min(1, Math.hypot(dx[block], dy[block]) / full.length);
    if (state.layer === "flow") {
        return strength > 0 ? `rgb(${directionBytes(-dx[block], -dy[block]).join(" ")} / ${0.25 + 0.7 * Math.sqrt(strength)})` : null;
    }
    if (state.layer === "cost") {
        return heat(Math.sqrt(cost[block] / (w * h) / full.cost));
    }
    const equal = verdict(block) === "equal";
    if (state.layer === "difference" && !(equal && state.image)) {
        return VERDICTS[verdict(block)]();
    }
    if (state.image) {
        return equal ? "rgb(0 0 0 / 0.5)" : null;
    }
    return equal ? null : "rgb(255 255 255 / 0.13)";
}

/* Where blocks are small on screen, each arrow is the mean of group x group of them. */
function drawMotion(context, { dx, dy }, longest) {
    const scale = screenScale();
    const least = state.fields.places[0];
    const group = Math.max(1, Math.ceil(22 / (Math.min(least.w, least.h) * scale)));
    const groups = new Map();
    state.fields.places.forEach(({ x, y, w, h }, block) => {
        const [wide, high] = [Math.max(w, group * least.w), Math.max(h, group * least.h)];
        const [left, top] = group > 1 ? [Math.floor(x / wide) * wide, Math.floor(y / high) * high] : [x, y];
        const key = `${left},${top},${wide}`;
        const found = groups.get(key) || { x: left + wide / 2, y: top + high / 2, room: Math.min(wide, high) * scale, dx: 0, dy: 0, count: 0 };
        found.dx += dx[block];
        found.dy += dy[block];
        found.count++;
        groups.set(key, found);
    });
    for (const { x, y, room, dx: right, dy: down, count } of groups.values()) {
        const length = Math.hypot(right, down) / count;
        const stretch = length > 0 ? -room * Math.sqrt(Math.min(1, length / longest)) / (length * count) : 0;
        drawArrow(context, (x - state.x) * scale, (y - state.y) * scale, right * stretch, down * stretch, room);
    }
}

/* The target frame, without colours where the layer has its own. */
function drawGround(context, canvas) {
    context.fillStyle = "rgb(16 21 26)";
    context.fillRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    if (state.image) {
        const part = [state.x, state.y, WIDTH / state.zoom, HEIGHT / state.zoom].map((value) => value / data.scale);
        context.imageSmoothingEnabled = screenScale() * data.scale < 3;
        context.filter = state.layer === "motion" || state.layer === "flow" ? "none" : "grayscale(1)";
        context.drawImage(state.image, ...part, 0, 0, canvas.clientWidth, canvas.clientHeight);
        context.filter = "none";
    }
}

function drawField(run, full) {
    const canvas = stages[run];
    const context = canvas.getContext("2d");
    const scale = screenScale();
    drawGround(context, canvas);
    context.globalAlpha = state.image && (state.layer === "cost" || state.layer === "difference") ? data.colours.cost_share : 1;
    state.fields.places.forEach(({ x, y, w, h }, block) => {
        const [left, right] = [x, x + w].map((at) => Math.round((at - state.x) * scale));
        const [top, bottom] = [y, y + h].map((at) => Math.round((at - state.y) * scale));
        if (left > canvas.clientWidth || top > canvas.clientHeight || right < 0 || bottom < 0) {
            return;
        }
        const fill = blockColour(run, block, full);
        if (fill) {
            context.fillStyle = fill;
            context.fillRect(left, top, right - left, bottom - top);
        }
    });
    context.globalAlpha = 1;
    if (state.layer === "motion") {
        drawMotion(context, state.fields.runs[run], full.length);
    }
    if (state.block >= 0) {
        const { x, y, w, h } = state.fields.places[state.block];
        context.strokeStyle = "rgb(255 255 255)";
        context.lineWidth = 2;
        context.strokeRect((x - state.x) * scale, (y - state.y) * scale, w * scale, h * scale);
    }
}

function draw() {
    if (!state.fields) {
        return;
    }
    stages.forEach((canvas, run) => {
        const width = canvas.parentElement.clientWidth;
        const side = Math.min(width, 0.7 * window.innerHeight * WIDTH / HEIGHT);
        resize(canvas, side, side * HEIGHT / WIDTH);
        canvas.style.touchAction = state.zoom > 1 ? "none" : "pan-y"; // one finger scrolls, or moves what is enlarged
        drawField(run, state.full);
    });
}

function showBlock() {
    const box = byId("block");
    if (state.block < 0) {
        return;
    }
    const i = state.block;
    const { x, y, w, h } = state.fields.places[i];
    const [a, b] = state.fields.runs;
    const pair = pairs[state.at];
    const what = verdict(i);
    const says = { equal: "Both runs agree on this block.", same: "The vectors differ, and cost the same.",
        a: `A is cheaper by ${whole(b.cost[i] - a.cost[i])}.`, b: `B is cheaper by ${whole(a.cost[i] - b.cost[i])}.` }[what];
    const line = (run) => make("p", { className: "numbers" }, make("span", {}, `${NAMES[run]}: `,
        make("strong", {}, `it ${vectorWords(state.fields.runs[run].dx[i], state.fields.runs[run].dy[i], pair.frame, pair.refs ? pair.refs[run] : null, "frame")}`)),
    make("span", {}, "vector ", make("strong", {}, `(${state.fields.runs[run].dx[i]}, ${state.fields.runs[run].dy[i]})`)),
    data.costs ? make("span", {}, "cost ", make("strong", {}, whole(state.fields.runs[run].cost[i]))) : "");
    Object.assign(box.dataset, { x, y, w, h, dxa: a.dx[i], dya: a.dy[i], costa: a.cost[i], dxb: b.dx[i], dyb: b.dy[i], costb: b.cost[i], verdict: what });
    box.replaceChildren(make("p", {}, make("strong", {}, says), ` ${w} x ${h} pixels at (${x}, ${y}).`), line(0), line(1));
}

function pick(block, pinned) {
    if (block >= 0) {
        state.pinned = pinned;
        state.block = block;
        showBlock();
        draw();
    }
}

const blockAt = (x, y) => state.fields ? state.fields.places.findIndex((b) => x >= b.x && y >= b.y && x < b.x + b.w && y < b.y + b.h) : -1;

/* Blocks are named by column and row in the grid of the smallest ones, as in the page of a run. */
function address() {
    const parts = [`frame=${pairs[state.at].frame}`];
    if (state.pinned && state.block >= 0) {
        const { x, y } = state.fields.places[state.block];
        parts.push(`block=${Math.floor(x / data.cell_w)},${Math.floor(y / data.cell_h)}`);
    }
    if (state.layer !== "motion") {
        parts.push(`layer=${state.layer}`);
    }
    history.replaceState(null, "", `#${parts.join("&")}`);
}

async function followAddress() {
    const parts = new Map(location.hash.slice(1).split("&").map((part) => part.split("=")));
    const place = (parts.get("block") || "").match(/^([0-9]+),([0-9]+)$/);
    const layer = parts.get("layer");
    chooseLayer(Object.hasOwn(KEYS, layer) ? layer : "motion");
    await select(Math.max(0, pairs.findIndex((pair) => String(pair.frame) === parts.get("frame"))));
    if (place) {
        pick(blockAt(place[1] * data.cell_w, place[2] * data.cell_h), true);
        address();
    }
}

/* "Frame 5, from frame 4". */
function titleOf({ frame, refs }) {
    if (!refs) {
        return `Frame ${frame}`;
    }
    return `Frame ${frame}, from frame ${refs[0]}${refs[1] === refs[0] ? "" : ` in A, ${refs[1]} in B`}`;
}

function show(index, image) {
    const pair = pairs[index];
    const old = state.block >= 0 && state.fields ? state.fields.places[state.block] : null;
    state.at = index;
    state.image = image;
    state.fields = pair.kept ? readPair(index) : null;
    state.full = state.fields ? scales(state.fields) : null;
    state.block = old ? blockAt(old.x, old.y) : -1;
    byId("pair-title").textContent = titleOf(pair);
    document.body.dataset.frame = pair.frame;
    byId("slider").value = index;
    byId("place").textContent = `${pair.frame} / ${pairs.at(-1).frame}`;
    byId("stages").hidden = !pair.kept;
    byId("missing").hidden = pair.kept;
    byId("missing").textContent = `This page does not hold the blocks of frame ${pair.frame}: only of one frame pair in ${data.step}.`;
    showBlock();
    draw();
    drawChart();
    if (!state.playing) {
        address();
    }
}

async function loadPicture(element) {
    const image = new Image();
    image.src = `data:${data.type};base64,${element.textContent}`;
    await image.decode();
    return image;
}

let wanted = -1; /* the latest choice; pictures of earlier ones are dropped */
async function select(index) {
    const at = wanted = Math.max(0, Math.min(pairs.length - 1, index));
    const element = byId(`picture-${at}`);
    const image = element && await loadPicture(element);
    if (wanted === at) {
        show(at, image);
    }
}

const differing = (pair) => pair.differ > 0;

function nextOf(test) {
    const next = pairs.findIndex((pair, i) => i > state.at && pair.kept && test(pair));
    return next >= 0 ? next : pairs.findIndex((pair) => pair.kept && test(pair));
}

async function play() {
    if (state.playing) {
        await select(nextOf(() => true));
        setTimeout(play, 120);
    }
}

function togglePlay() {
    state.playing = !state.playing;
    byId("play").textContent = state.playing ? "Pause" : "Play";
    byId("play").setAttribute("aria-pressed", String(state.playing));
    state.playing ? play() : address();
}

/* The least of 1, 2, 5, 10, 20... and their tenths that is not below a value. */
function roundUp(value) {
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((digit) => digit * power).find((found) => found >= value * (1 - 1e-9));
}

const CHART = { left: 52, top: 8, height: 140, bottom: 40 }; /* CSS pixels */

/* most: percent. Frames are named at the middle of their bars, at most eight of them. */
function drawAxes(context, width, most) {
    const { left, top, height } = CHART;
    const bar = (width - left) / pairs.length;
    const step = Math.max(1, roundUp(pairs.length / 8));
    context.fillStyle = colour("muted");
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const share of [0, 0.5, 1]) {
        const y = top + (1 - share) * height;
        context.fillRect(left - 5, y - 0.5, 5, 1);
        context.fillText(`${plain(most * share, 3)} %`, left - 8, y);
    }
    context.fillRect(left - 1, top, 1, height);
    context.fillRect(left, top + height, width - left, 1);
    context.textAlign = "center";
    context.textBaseline = "top";
    for (let i = 0; i < pairs.length; i += step) {
        const x = left + (i + 0.5) * bar;
        context.fillRect(x - 0.5, top + height, 1, 5);
        context.fillText(String(pairs[i].frame), Math.min(x, width - 12), top + height + 7);
    }
    context.fillText("frame", left + (width - left) / 2, top + height + 23);
}

function drawChart() {
    const { left, top, height, bottom } = CHART;
    const canvas = byId("chart");
    const width = Math.max(200, byId("chart-title").clientWidth);
    const context = resize(canvas, width, top + height + bottom);
    const bar = (width - left) / pairs.length;
    const most = Math.min(100, roundUp(Math.max(0.1, ...pairs.map((pair) => 100 * pair.differ / pair.blocks))));
    const rise = (count, pair) => height * 100 * count / pair.blocks / most;
    pairs.forEach((pair, i) => {
        const room = Math.max(0.7, bar - (bar > 4 ? 1 : 0));
        const part = (count, from, fill) => {
            context.fillStyle = fill;
            context.fillRect(left + i * bar, top + height - rise(from + count, pair), room, rise(count, pair));
        };
        part(pair.differ, 0, colour("muted"));
        part(pair.cheaper[0], 0, colour("before"));
        part(pair.cheaper[1], pair.cheaper[0], colour("after"));
        if (i === state.at) {
            context.fillStyle = colour("text");
            context.fillRect(left + i * bar + bar / 2 - 1, top, 2, height);
        }
    });
    drawAxes(context, width, most);
    const key = (name, text) => make("span", { className: "key" }, make("span", { className: `swatch swatch-${name}` }), text);
    byId("legend").replaceChildren(key("a", "A has the lower cost"), " ",
        key("b", "B has the lower cost"), " ", key("all", data.costs ? "vectors differ, costs are equal" : "vectors differ"));
}

const KEYS = {
    motion: "Arrows: how each block moved since the reference. Blocks with equal results are darker.",
    flow: "Hue: direction of motion. Opacity: its length.",
    cost: "Cost per pixel, from dark (low) to light; one scale for both runs.",
    difference: "Gray: equal. Orange: A has the lower cost. Blue: B has it. Green: different vectors of equal cost.",
};

function chooseLayer(layer) {
    state.layer = layer;
    byId("layer").value = layer;
    byId("key").textContent = KEYS[layer];
    draw();
}

function moveTo(x, y) {
    state.x = Math.max(0, Math.min(WIDTH - WIDTH / state.zoom, x));
    state.y = Math.max(0, Math.min(HEIGHT - HEIGHT / state.zoom, y));
}

function listen(canvas) {
    let drag = null;
    let from = null;
    const place = (event) => {
        const box = canvas.getBoundingClientRect();
        return { x: state.x + (event.clientX - box.left) / screenScale(), y: state.y + (event.clientY - box.top) / screenScale() };
    };
    const isPinch = listenToPinch(canvas, (factor, before, after) => {
        const { x, y } = place(before);
        state.zoom = Math.max(1, Math.min(32, state.zoom * factor));
        const to = place(after);
        moveTo(state.x + x - to.x, state.y + y - to.y);
        draw();
    });
    canvas.addEventListener("pointerdown", (event) => {
        drag = place(event);
        from = event;
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
        const { x, y } = place(event);
        if (isPinch()) {
            return;
        }
        if (drag && state.zoom > 1) {
            moveTo(state.x + drag.x - x, state.y + drag.y - y);
            draw();
        } else if (!state.pinned && event.pointerType !== "touch") {
            pick(blockAt(x, y), false);
        }
    });
    canvas.addEventListener("pointerup", (event) => {
        const { x, y } = place(event);
        const at = blockAt(x, y);
        if (drag && !isPinch() && isTap(from, event)) {
            pick(at, !(state.pinned && at === state.block));
            address();
        }
        drag = null;
    });
    canvas.addEventListener("wheel", (event) => {
        const zoom = Math.max(1, Math.min(32, state.zoom * (event.deltaY < 0 ? 1.25 : 0.8)));
        if (zoom !== state.zoom) {
            const { x, y } = place(event);
            const old = state.zoom;
            event.preventDefault();
            state.zoom = zoom;
            moveTo(x - (x - state.x) * old / zoom, y - (y - state.y) * old / zoom);
            draw();
        }
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        if (step && state.fields) {
            const { x, y, w, h } = state.fields.places[Math.max(0, state.block)];
            event.preventDefault();
            pick(state.block < 0 ? 0 : blockAt(step[0] > 0 ? x + w : x + step[0], step[1] > 0 ? y + h : y + step[1]), true);
            address();
        }
    });
}

function card(name, text, note) {
    return make("div", {}, make("dt", {}, name), make("dd", {}, make("strong", {}, text), note ? make("span", {}, note) : ""));
}

function costCard(a, b) {
    const rise = a > 0 ? 100 * (b / a - 1) : Infinity;
    return a === b ? card("Sum of costs", "equal")
        : card("Sum of costs", `${rise > 0 ? "+" : "\u2212"}${Math.abs(rise).toFixed(3)}\u00a0%`, "B relative to A");
}

function makeHead() {
    const [a, b] = data.names;
    const share = (part) => `${(100 * part / data.blocks).toFixed(2)}\u00a0%`;
    /* Rounded down, as the command does: 100 % only if all are equal. */
    const equal = Math.floor(1e4 * data.vectors_equal / data.blocks) / 100;
    document.title = `${a} and ${b} - gpume comparison`;
    byId("title").textContent = `${a} and ${b}`;
    byId("subtitle").textContent = `${whole(pairs.length)} frame pairs in both; ${WIDTH} x ${HEIGHT} pixels`;
    NAMES.forEach((name, i) => { byId(`name-${i}`).append(make("strong", {}, `${name}: ${data.names[i]}`)); });
    byId("cards").append(card("Equal vectors", `${equal.toFixed(2)}\u00a0%`, `${whole(data.vectors_equal)} of ${whole(data.blocks)} blocks`));
    if (data.costs) {
        byId("cards").append(card("A is cheaper", share(data.cheaper[0]), `${whole(data.cheaper[0])} blocks`),
            card("B is cheaper", share(data.cheaper[1]), `${whole(data.cheaper[1])} blocks`),
            costCard(...data.cost_sums));
    }
    if (data.only[0] + data.only[1] > 0) {
        byId("cards").append(card("Not compared", whole(data.only[0] + data.only[1]), "frame pairs that one run lacks"));
    }
    const rows = data.settings.map(({ name, values }) => make("tr", {}, make("th", { scope: "row" }, name),
        ...values.map((value) => make("td", {}, value === null ? "-" : value))));
    byId("run").append(rows.length > 0 ? make("table", {}, make("caption", {}, "Settings that differ"),
        make("thead", {}, make("tr", {}, make("td"), ...NAMES.map((name) => make("th", { scope: "col" }, name)))), make("tbody", {}, ...rows))
        : make("p", {}, "No settings differ, or those of a run are unknown."));
    const kept = pairs.filter((pair) => pair.kept).length;
    byId("foot").textContent = `Made by gpume ${data.gpume}. ${megabytes(Number(byId("bytes").textContent))}; blocks of ${whole(kept)} of ` +
        `${whole(pairs.length)} frame pairs.${data.scale ? "" : " With --video, they lie over the frames."}`;
}

function start() {
    makeHead();
    stages.forEach(listen);
    byId("slider").max = pairs.length - 1;
    byId("slider").addEventListener("input", (event) => select(Number(event.target.value)));
    byId("previous").addEventListener("click", () => select(state.at - 1));
    byId("next").addEventListener("click", () => select(state.at + 1));
    byId("play").addEventListener("click", togglePlay);
    byId("worse").disabled = nextOf(differing) < 0;
    byId("worse").addEventListener("click", () => select(nextOf(differing)));
    byId("layer").addEventListener("change", (event) => { chooseLayer(event.target.value); address(); });
    byId("chart").addEventListener("click", (event) => {
        const box = byId("chart").getBoundingClientRect();
        select(Math.floor((event.clientX - box.left - CHART.left) / (box.width - CHART.left) * pairs.length));
    });
    window.addEventListener("resize", () => { draw(); drawChart(); });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawChart);
    window.addEventListener("hashchange", followAddress);
    followAddress().then(() => { document.body.dataset.ready = "yes"; });
}

start();
