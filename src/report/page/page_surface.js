/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost surface of the selected block: its cost for every displacement of the window, by the run's metric and
 * without the price of vectors. All costs are exact. They are computed from the samples of the frame pair, if these are
 * in the page. Without, those of the costliest blocks, and of the block that --surface names, are in it. Of other blocks
 * there is no surface.
 *
 * surfaceOf(block)    a promise of it, or of null
 * showSurface()       shows that of the selected block; its place keeps its size
 */

/* The vectors of a stream were not searched for. */
const HAS_SURFACES = data.surfaces.step > 0 && !data.parameters["from-stream"];

const readCosts = (numbers) => Float64Array.from({ length: data.surfaces.columns * data.surfaces.rows }, () => (numbers.next() || NaN) - 1);

/* {frame, x, y, costs} of the block that --surface names, read when first asked for. */
let asked = null;
function askedFor() {
    if (!asked) {
        const bytes = bytesOf(data.surfaces.asked);
        const numbers = new Numbers(bytes);
        asked = [];
        while (numbers.at < bytes.length) {
            asked.push({ frame: numbers.next(), side: BOTH ? numbers.next() : 0 * numbers.next(), x: numbers.next(), y: numbers.next(), costs: readCosts(numbers) });
        }
    }
    return asked;
}

/* Costs in raster order, NaN where there is no candidate. */
function keptCosts(block) {
    const { x, y } = rectangle(block);
    const isHere = (one) => one.frame === view.frame && one.x === x && one.y === y;
    const found = data.costliest.find((one) => isHere(one) && (!BOTH || (one.ref > one.frame) === (view.side === 1)));
    return found && found.surface ? readCosts(new Numbers(bytesOf(found.surface))) : (askedFor().find((one) => isHere(one) && one.side === view.side) || {}).costs;
}

/* Sums of absolute values of a square's Hadamard transform; values: side x side, and overwritten. */
function hadamard(values, side) {
    for (const [stride, step] of [[1, side], [side, 1]]) {
        for (let line = 0; line < side; line++) {
            for (let half = 1; half < side; half *= 2) {
                for (let i = 0; i < side; i++) {
                    if ((i & half) === 0) {
                        const a = line * step + i * stride, b = a + half * stride;
                        [values[a], values[b]] = [values[a] + values[b], values[a] - values[b]];
                    }
                }
            }
        }
    }
    return values.reduce((sum, value) => sum + Math.abs(value), 0);
}

/* By tiles from the block's corner, whose side follows the shape; what lies outside the picture is 0. */
function satd(differences, w, h, shape) {
    const side = shape.w % 8 === 0 && shape.h % 8 === 0 ? 8 : 4;
    let sum = 0;
    for (let top = 0; top < h; top += side) {
        for (let left = 0; left < w; left += side) {
            const tile = Array.from({ length: side * side }, (unused, i) => {
                const x = left + i % side, y = top + Math.floor(i / side);
                return x < w && y < h ? differences[y * w + x] : 0;
            });
            sum += side === 8 ? (hadamard(tile, 8) + 2) >> 2 : (hadamard(tile, 4) + 1) >> 1;
        }
    }
    return sum;
}

const METRIC_SUMS = {
    sad(differences) {
        let sum = 0;
        for (let i = 0; i < differences.length; i++) {
            sum += Math.abs(differences[i]);
        }
        return sum;
    },
    ssd(differences) {
        let sum = 0;
        for (let i = 0; i < differences.length; i++) {
            sum += differences[i] * differences[i];
        }
        return sum;
    },
    satd,
};

/* The cost of every displacement, as gpume_surface of gpume.h defines it. */
function computeCosts(block, { target, reference }) {
    const { x, y, w, h } = rectangle(block);
    const { window_x: reachX, window_y: reachY } = data;
    const shape = SHAPES[view.vectors.shape[block]];
    const inside = data.parameters.edge === "inside";
    const sum = METRIC_SUMS[data.parameters.metric];
    const differences = new Int32Array(w * h);
    const near = Int32Array.from({ length: w + 2 * reachX }, (unused, i) => Math.max(0, Math.min(WIDTH - 1, x + i - reachX)));
    const costs = [];
    for (let dy = -reachY; dy <= reachY; dy++) {
        for (let dx = -reachX; dx <= reachX; dx++) {
            const out = x + dx < 0 || y + dy < 0 || x + dx + w > WIDTH || y + dy + h > HEIGHT;
            for (let row = 0; row < h; row++) {
                const from = (y + row) * WIDTH + x;
                const to = Math.max(0, Math.min(HEIGHT - 1, y + row + dy)) * WIDTH;
                for (let column = 0; column < w; column++) {
                    differences[row * w + column] = target[from + column] -
                        reference[to + near[column + dx + reachX]];
                }
            }
            costs.push(out && inside ? NaN : sum(differences, w, h, shape));
        }
    }
    return costs;
}

/* Each cell is the least cost of step x step displacements, as in the surfaces of the page. */
function poolCosts(costs) {
    const { step, columns, rows } = data.surfaces;
    const wide = 2 * data.window_x + 1;
    const cells = new Float64Array(columns * rows).fill(NaN);
    costs.forEach((cost, i) => {
        const cell = Math.floor(Math.floor(i / wide) / step) * columns + Math.floor(i % wide / step);
        cells[cell] = cells[cell] <= cost ? cells[cell] : Number.isNaN(cost) ? cells[cell] : cost;
    });
    return cells;
}

const WORK = 4e8; /* comparisons of pixels that do not make the page wait for long */

/* A browser that protects against fingerprints may change samples: then the costs are not those of the run. */
async function computedCosts(block) {
    const { w, h } = rectangle(block);
    const work = (2 * data.window_x + 1) * (2 * data.window_y + 1) * w * h;
    const { vectors, frame } = view;
    if (work > WORK || !METRIC_SUMS[data.parameters.metric]) {
        return null;
    }
    const planes = await planesOf(frame, view.side).catch(() => null); /* a browser may not decode so large a picture */
    if (!planes || view.vectors !== vectors) {
        return null;
    }
    const costs = computeCosts(block, planes);
    const { dx, dy, cost } = vectors;
    const found = costs[(dy[block] + data.window_y) * (2 * data.window_x + 1) + dx[block] + data.window_x];
    const priced = data.parameters.lambda !== undefined;
    return found === cost[block] || (priced && found <= cost[block]) ? poolCosts(costs) : null;
}

/* {costs, columns, rows, left, top, step}: (left, top) is the displacement of the first one, and step the way to the
 * next cell, in pixels. */
async function surfaceOf(block) {
    const { step, columns, rows } = data.surfaces;
    const costs = HAS_SURFACES && (await computedCosts(block) || keptCosts(block));
    return costs ? { costs, columns, rows, left: -data.window_x, top: -data.window_y, step: step / data.units } : null;
}

/* The drawing, in CSS pixels: a square of SIDE with its axes, and a scale below. */
const SURFACE = { side: 208, left: 46, top: 6, width: 282, height: 306, scale: 268 };
const cellSide = () => SURFACE.side / Math.max(data.surfaces.columns, data.surfaces.rows);

/* The cell of a displacement. */
function cellOf(dx, dy) {
    const { step } = data.surfaces;
    const along = (at, window) => Math.floor(Math.round((at + window) * data.units) / step);
    return [along(dx, data.window_x), along(dy, data.window_y)];
}

function drawAxes(context, shown) {
    const { left, top } = SURFACE;
    const side = cellSide();
    const [width, height] = [data.surfaces.columns * side, data.surfaces.rows * side];
    const ticks = (window) => window === 0 ? [0] : window < 4 ? [-window, 0, window]
        : [-window, -Math.round(window / 2), 0, Math.round(window / 2), window];
    context.strokeStyle = context.fillStyle = colour("muted");
    context.lineWidth = 1;
    context.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const dx of ticks(data.window_x)) {
        const x = left + (cellOf(dx, 0)[0] + 0.5) * side;
        context.fillRect(x - 0.5, top + height, 1, 5);
        context.fillText(String(dx), x, top + height + 7);
    }
    context.fillText("dx, pixels", left + width / 2, top + height + 22);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const dy of ticks(data.window_y)) {
        const y = top + (cellOf(0, dy)[1] + 0.5) * side;
        context.fillRect(left - 5, y - 0.5, 5, 1);
        context.fillText(String(dy), left - 7, y);
    }
    context.save();
    context.translate(8, top + height / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText("dy, pixels", 0, 0);
    context.restore();
    if (shown) {
        context.textBaseline = "top";
        for (const [align, share] of [["left", 0], ["center", 0.5], ["right", 1]]) { // of a square-root scale
            context.textAlign = align;
            context.fillText(whole(shown.least + share * share * (shown.most - shown.least)), left + share * SURFACE.side, SURFACE.scale + 14);
        }
        context.textAlign = "right";
        context.fillText("cost", left - 7, SURFACE.scale - 1);
        for (let x = 0; x < SURFACE.side; x++) {
            context.fillStyle = heat(x / (SURFACE.side - 1));
            context.fillRect(left + x, SURFACE.scale, 1.5, 10);
        }
    }
}

/* A ring that is seen on any colour. */
function drawRing(context, [column, row], radius) {
    const side = cellSide();
    for (const [stroke, width] of [["rgb(0 0 0)", 4], ["rgb(255 255 255)", 1.75]]) {
        context.beginPath();
        context.arc(SURFACE.left + (column + 0.5) * side, SURFACE.top + (row + 0.5) * side, radius, 0, 2 * Math.PI);
        context.strokeStyle = stroke;
        context.lineWidth = width;
        context.stroke();
    }
}

function drawSurface(surface, block) {
    const canvas = byId("surface-map");
    const context = resize(canvas, SURFACE.width, SURFACE.height);
    const side = cellSide();
    context.fillStyle = colour("empty");
    context.fillRect(SURFACE.left, SURFACE.top, data.surfaces.columns * side, data.surfaces.rows * side);
    if (surface) {
        const { costs, columns, rows, least, most } = surface;
        const small = make("canvas", { width: columns, height: rows });
        const image = new ImageData(columns, rows);
        costs.forEach((cost, i) => image.data.set(Number.isNaN(cost) ? [128, 128, 128, 60]
            : [...heatBytes(most > least ? Math.sqrt((cost - least) / (most - least)) : 0), 255], 4 * i));
        small.getContext("2d").putImageData(image, 0, 0);
        context.imageSmoothingEnabled = false;
        context.drawImage(small, SURFACE.left, SURFACE.top, columns * side, rows * side);
        drawRing(context, cellOf(0, 0), 3);
        drawRing(context, cellOf(view.vectors.dx[block], view.vectors.dy[block]), 8);
    }
    drawAxes(context, surface);
}

/* What the surface shows, or why there is none. */
function surfaceWords(surface, block) {
    const price = data.parameters.lambda === undefined ? "" : " Costs are without the price of vectors.";
    if (surface) {
        return [`Large ring: the vector; small ring: no motion. Gray: no candidate.${price}`];
    }
    if (block < 0) {
        return ["What every displacement of the window costs, of the block that you choose."];
    }
    const { x, y } = rectangle(block);
    const words = ["This page does not hold the costs of this block. Run gpume with ",
        make("span", { className: "option" }, `--surface ${x},${y}`), " for them"];
    const exact = nearestShown(view.frame, (set) => set.exact);
    if (exact && exact.frame !== view.frame) {
        const button = make("button", { type: "button", id: "go-exact" }, `${FRAME} ${exact.frame}`);
        button.addEventListener("click", () => player.select(exact.frame - data.first_field));
        words.push(", or see any block of ", button);
    }
    return [...words, "."];
}

/* Says the cost under the pointer, in a line of its own. */
function readSurface(event) {
    const box = byId("surface-map").getBoundingClientRect();
    const side = cellSide();
    const column = Math.floor((event.clientX - box.left - SURFACE.left) / side);
    const row = Math.floor((event.clientY - box.top - SURFACE.top) / side);
    const surface = shownSurface;
    if (!surface || column < 0 || row < 0 || column >= surface.columns || row >= surface.rows) {
        byId("surface-read").textContent = "\u00a0";
        return;
    }
    const cost = surface.costs[row * surface.columns + column];
    const at = (start, k, window) => {
        const first = start + k * surface.step;
        const last = Math.min(window, first + (data.surfaces.step - 1) / data.units);
        return last > first ? `${plain(first, 2)} to ${plain(last, 2)}` : plain(first, 2);
    };
    byId("surface-read").textContent = `(${at(surface.left, column, data.window_x)}, ${at(surface.top, row, data.window_y)}): ` +
        (Number.isNaN(cost) ? "no candidate" : `cost ${whole(cost)}`);
}

let shownSurface = null;
let surfaceAsked = null; /* the latest question; answers to earlier ones are dropped */
async function showSurface() {
    if (!HAS_SURFACES) {
        return;
    }
    const question = surfaceAsked = {};
    const block = view.vectors ? view.block : -1;
    const { frame } = view;
    const found = block >= 0 && !player.playing ? await surfaceOf(block) : null;
    if (question !== surfaceAsked || frame !== view.frame) {
        return;
    }
    const known = found ? found.costs.filter((cost) => !Number.isNaN(cost)) : [];
    shownSurface = found && { ...found, least: known.reduce((a, b) => Math.min(a, b)), most: known.reduce((a, b) => Math.max(a, b)) };
    const figure = byId("surface");
    for (const key of ["least", "most", "columns", "rows"]) {
        figure.dataset[key] = shownSurface ? shownSurface[key] : "";
    }
    figure.dataset.exact = Boolean(shownSurface);
    drawSurface(shownSurface, block);
    byId("surface-note").replaceChildren(...surfaceWords(shownSurface, block));
}

function openSurface() {
    const canvas = byId("surface-map");
    byId("surface").hidden = !HAS_SURFACES;
    canvas.addEventListener("pointermove", readSurface);
    canvas.addEventListener("pointerdown", readSurface);
    canvas.addEventListener("pointerleave", () => { byId("surface-read").textContent = "\u00a0"; });
    showSurface();
}
