/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How each search walks over the exact cost surface of one block, on the page of gpume methods. The walks are those of
 * FFmpeg's libavfilter/motion_estimation.c; one that does not end at the vector that the filter found is left out.
 *
 * data.walk   {x, y, block, window, target, reference, costs, found}: costs of all displacements in raster order,
 *             1 + each, or 0 where there is no candidate; found: [method, title, dx, dy]
 */

const { window: REACH, block: BLOCK } = data.walk;
const SIDE = 2 * REACH + 1;
const COSTS = data.walk.found.length === 0 ? new Float64Array(0) : (() => { /* the window may be too large */
    const numbers = new Numbers(bytesOf(data.walk.costs));
    return Float64Array.from({ length: SIDE * SIDE }, () => (numbers.next() || NaN) - 1);
})();
const LEAST = COSTS.reduce((a, b) => b < a ? b : a, Infinity);
const MOST = COSTS.reduce((a, b) => b > a ? b : a, 0);

const costAt = (x, y) => Math.abs(x) <= REACH && Math.abs(y) <= REACH ? COSTS[(y + REACH) * SIDE + x + REACH] : NaN;

const SQUARE = [[0, -1], [0, 1], [-1, 0], [1, 0], [-1, -1], [-1, 1], [1, -1], [1, 1]];
const DIAMOND = [[-1, 0], [0, -1], [1, 0], [0, 1]];
const LARGE_DIAMOND = [[-2, 0], [-1, -1], [0, -2], [1, -1], [2, 0], [1, 1], [0, 2], [-1, 1]];
const HEXAGON = [[-2, 0], [-1, -2], [-1, 2], [1, -2], [1, 2], [2, 0]];

/* The places that a search has looked at, in their order, and the best of them. */
class Walk {
    constructor() {
        this.points = [];
        this.x = this.y = 0;
        this.cost = costAt(0, 0);
        this.points.push({ x: 0, y: 0, cost: this.cost, best: [0, 0] });
    }

    /* Looks at the places of a pattern, around the best unless told otherwise; true if one is better than the best. */
    look(pattern, step = 1, [x, y] = [this.x, this.y]) {
        const before = this.cost;
        for (const [dx, dy] of pattern) {
            const cost = costAt(x + dx * step, y + dy * step);
            if (Number.isNaN(cost)) {
                continue;
            }
            if (cost < this.cost) {
                [this.x, this.y, this.cost] = [x + dx * step, y + dy * step, cost];
            }
            this.points.push({ x: x + dx * step, y: y + dy * step, cost, best: [this.x, this.y] });
        }
        return this.cost < before;
    }
}

const HALF = Math.floor((REACH + 1) / 2); /* rounded */
const WALKS = {
    tss(walk) {
        for (let step = HALF; step > 0; step >>= 1) {
            walk.look(SQUARE, step);
        }
    },
    tdls(walk) {
        for (let step = HALF; step > 0;) {
            step = walk.look(DIAMOND, step) ? step : step >> 1;
        }
    },
    ntss(walk) {
        walk.look(SQUARE, HALF);
        walk.look(SQUARE, 1, [0, 0]); /* near the beginning, too */
        if (walk.x === 0 && walk.y === 0) {
            return;
        }
        if (Math.abs(walk.x) <= 1 && Math.abs(walk.y) <= 1) {
            walk.look(SQUARE);
            return;
        }
        for (let step = HALF >> 1; step > 0; step >>= 1) {
            walk.look(SQUARE, step);
        }
    },
    fss(walk) {
        for (let step = 2; step > 0;) {
            step = walk.look(SQUARE, step) ? step : step >> 1;
        }
    },
    ds(walk) {
        while (walk.look(LARGE_DIAMOND));
        walk.look(DIAMOND);
    },
    hexbs(walk) {
        while (walk.look(HEXAGON));
        walk.look(DIAMOND);
    },
    esa(walk) {
        walk.look(Array.from({ length: SIDE * SIDE }, (unused, i) => [i % SIDE - REACH, Math.floor(i / SIDE) - REACH]));
    },
};

function walkOf(method) {
    const walk = new Walk();
    if (walk.cost > 0) {
        WALKS[method](walk);
    }
    return walk;
}

/* The walks that end where the filter does, in the order of the table. */
const walks = data.walk.found.filter(([method]) => WALKS[method]).map(([method, title, dx, dy]) => ({ method, title, dx, dy, walk: walkOf(method) }))
    .filter(({ dx, dy, walk }) => walk.x === dx && walk.y === dy);

const CANVAS = 240; /* CSS pixels */
const CELL = CANVAS / SIDE;
let ground = null; /* the surface, one pixel per displacement */

function makeGround() {
    const canvas = make("canvas", { width: SIDE, height: SIDE });
    const image = new ImageData(SIDE, SIDE);
    COSTS.forEach((cost, i) => image.data.set(Number.isNaN(cost) ? [128, 128, 128, 255]
        : [...heatBytes(MOST > LEAST ? Math.sqrt((cost - LEAST) / (MOST - LEAST)) : 0), 255], 4 * i));
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
}

const middle = (at) => (at + REACH + 0.5) * CELL;

/* Both colours are seen on dark and on light costs. */
function stroke(context, width, path) {
    for (const [style, more] of [["rgb(0 0 0)", 2], ["rgb(120 220 255)", 0]]) {
        context.beginPath();
        path();
        context.strokeStyle = style;
        context.lineWidth = width + more;
        context.stroke();
    }
}

/* The first `count` places: dots, the way of the best, and a ring around it. */
function drawWalk({ canvas, words, walk }, count) {
    const seen = walk.points.slice(0, Math.max(1, count));
    const context = resize(canvas, CANVAS, CANVAS);
    context.imageSmoothingEnabled = false;
    context.drawImage(ground, 0, 0, CANVAS, CANVAS);
    const size = Math.max(1, Math.min(4, 0.22 * CELL));
    for (const { x, y } of seen) {
        context.fillStyle = "rgb(0 0 0)";
        context.fillRect(middle(x) - size - 1, middle(y) - size - 1, 2 * size + 2, 2 * size + 2);
        context.fillStyle = "rgb(255 255 255)";
        context.fillRect(middle(x) - size, middle(y) - size, 2 * size, 2 * size);
    }
    stroke(context, 2, () => seen.forEach(({ best }, i) => i ? context.lineTo(...best.map(middle)) : context.moveTo(...best.map(middle))));
    const [x, y] = seen.at(-1).best;
    stroke(context, 2, () => context.arc(middle(x), middle(y), Math.max(6, 0.7 * CELL), 0, 2 * Math.PI));
    const cost = costAt(x, y);
    const places = new Set(seen.map((point) => `${point.x},${point.y}`)).size;
    words.textContent = `${whole(places)} of ${whole(COSTS.filter((one) => !Number.isNaN(one)).length)} places; (${x}, ${y}) costs ${whole(cost)}` +
        (cost === LEAST ? ", the least" : `, ${whole(cost - LEAST)} above the least`);
    Object.assign(canvas.dataset, { count: seen.length, dx: x, dy: y, cost, places });
}

const clock = { at: 0, playing: false };
const longest = () => Math.max(...walks.filter(({ method }) => method !== "esa").map(({ walk }) => walk.points.length));

/* esa looks at so many places that it takes several at a time. */
function drawAll() {
    for (const one of walks) {
        const { length } = one.walk.points;
        drawWalk(one, one.method === "esa" ? Math.round(length * clock.at / longest()) : Math.min(length, clock.at));
    }
    byId("walk-place").value = clock.at;
}

function tick() {
    if (!clock.playing) {
        return;
    }
    clock.at = Math.min(longest(), clock.at + 1);
    drawAll();
    if (clock.at === longest()) {
        setWalking(false);
    } else {
        setTimeout(tick, 160);
    }
}

function setWalking(on) {
    clock.playing = on;
    byId("walk-play").textContent = on ? "Pause" : "Play";
    if (on) {
        clock.at = clock.at === longest() ? 0 : clock.at;
        tick();
    }
}

function startWalks() {
    if (walks.length === 0) {
        return;
    }
    ground = makeGround();
    byId("walks").hidden = false;
    byId("walk-grid").append(...walks.map((one) => {
        one.canvas = make("canvas", { role: "img", "aria-label": `places that ${one.method} looks at`, dataset: { method: one.method } });
        one.words = make("p", {});
        return make("figure", {}, make("figcaption", {}, make("strong", {}, one.title)), one.canvas, one.words);
    }));
    byId("walk-place").max = longest();
    clock.at = longest(); /* whole walks, until Play */
    drawAll();
    byId("walk-play").addEventListener("click", () => setWalking(!clock.playing));
    byId("walk-place").addEventListener("input", (event) => {
        setWalking(false);
        clock.at = Number(event.target.value);
        drawAll();
    });
}

startWalks();
