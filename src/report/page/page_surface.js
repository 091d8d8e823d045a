/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost surface of the selected block: its cost for every displacement of the window. Those of the
 * costliest blocks, and of the block that --surface names, are in the page, by the run's metric; others are
 * estimated from the page's pictures when the block is chosen.
 *
 * surfaceOf(block)          the surface, or null; estimates only with pinned blocks
 * surfaceFigure(surface)    an element that shows it
 */

const readCosts = (numbers) => Float64Array.from({ length: data.surfaces.columns * data.surfaces.rows }, () => (numbers.next() || NaN) - 1);

/* {frame, x, y, costs} of the block that --surface names, read when first asked for. */
let asked = null;
function askedFor() {
    if (!asked) {
        const bytes = bytesOf(data.surfaces.asked);
        const numbers = new Numbers(bytes);
        asked = [];
        while (numbers.at < bytes.length) {
            asked.push({ frame: numbers.next(), x: numbers.next(), y: numbers.next(), costs: readCosts(numbers) });
        }
    }
    return asked;
}

/* {costs, columns, rows, left, top, step, exact}: costs in raster order, NaN where there is no candidate; (left, top) is
 * the displacement of the first one, and step the way to the next, in pixels. */
function exactSurface(block) {
    const { step, columns, rows } = data.surfaces;
    const { x, y } = rectangle(block);
    const isHere = (one) => one.frame === view.frame && one.x === x && one.y === y;
    const found = data.costliest.find(isHere);
    const costs = found && found.surface ? readCosts(new Numbers(bytesOf(found.surface))) : (askedFor().find(isHere) || {}).costs;
    return costs ? { costs, columns, rows, left: -data.window_x, top: -data.window_y, step: step / data.units, exact: true } : null;
}

/* The luma of a part of a picture, in pixels of the video; beyond the edge the nearest pixel is repeated. */
function lumaOf({ image, scale }, left, top, width, height) {
    const canvas = make("canvas", { width: Math.min(WIDTH, width + 2 * scale), height: Math.min(HEIGHT, height + 2 * scale) });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const x = Math.max(0, Math.min(WIDTH - canvas.width, left));
    const y = Math.max(0, Math.min(HEIGHT - canvas.height, top));
    context.imageSmoothingEnabled = scale > 1;
    context.drawImage(image, x / scale, y / scale, canvas.width / scale, canvas.height / scale, 0, 0, canvas.width, canvas.height);
    const all = context.getImageData(0, 0, canvas.width, canvas.height).data;
    const luma = new Float32Array(width * height);
    const near = (at, count) => Math.max(0, Math.min(count - 1, at));
    for (let row = 0; row < height; row++) {
        for (let column = 0; column < width; column++) {
            const at = 4 * (near(top + row - y, canvas.height) * canvas.width + near(left + column - x, canvas.width));
            luma[row * width + column] = 0.299 * all[at] + 0.587 * all[at + 1] + 0.114 * all[at + 2];
        }
    }
    return luma;
}

const WORK = 3e7; /* comparisons of pixels that do not make the page wait */

function estimate(block, target, reference) {
    const { x, y, w, h } = rectangle(block);
    const { window_x: reachX, window_y: reachY } = data;
    const step = Math.max(1, Math.ceil(Math.sqrt((2 * reachX + 1) * (2 * reachY + 1) * w * h / WORK)));
    const [columns, rows] = [Math.floor(2 * reachX / step) + 1, Math.floor(2 * reachY / step) + 1];
    const wide = w + 2 * reachX;
    const from = lumaOf(target, x, y, w, h);
    const to = lumaOf(reference, x - reachX, y - reachY, wide, h + 2 * reachY);
    const square = data.parameters.metric === "ssd";
    const costs = new Float64Array(columns * rows);
    for (let i = 0; i < costs.length; i++) {
        const at = Math.floor(i / columns) * step * wide + i % columns * step;
        for (let row = 0; row < h; row++) {
            for (let column = 0; column < w; column++) {
                const difference = Math.abs(from[row * w + column] - to[at + row * wide + column]);
                costs[i] += square ? difference * difference : difference;
            }
        }
    }
    return { costs, columns, rows, left: -reachX, top: -reachY, step, exact: false };
}

async function surfaceOf(block) {
    const found = exactSurface(block);
    const reference = referenceOf(block);
    if (found || !view.pinned || data.parameters.prefilter || (!hasPicture(view.frame, "reference") && !entryOf(reference))) {
        return found;
    }
    const { frame } = view;
    const nearest = reference === nearestReference(frame);
    const pictures = await Promise.all([loadPicture(frame, "target"),
        nearest && hasPicture(frame, "reference") ? loadPicture(frame, "reference") : loadPicture(reference, "target")]);
    return frame === view.frame && block === view.block && pictures[1] ? estimate(block, ...pictures) : null;
}

/* Where a displacement lies on the canvas. */
const SURFACE_SIDE = 252;
const cellSide = ({ columns, rows }) => SURFACE_SIDE / Math.max(columns, rows);

function drawSurface(canvas, surface, block, range) {
    const { costs, columns, rows, left, top, step } = surface;
    const side = cellSide(surface);
    const small = make("canvas", { width: columns, height: rows });
    const image = new ImageData(columns, rows);
    const [least, most] = range;
    costs.forEach((cost, i) => image.data.set(Number.isNaN(cost) ? [128, 128, 128, 60]
        : [...heatBytes(most > least ? Math.sqrt((cost - least) / (most - least)) : 0), 255], 4 * i));
    small.getContext("2d").putImageData(image, 0, 0);
    const context = resize(canvas, columns * side, rows * side);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, 0, 0, columns * side, rows * side);
    const at = (dx, dy) => [((dx - left) / step + 0.5) * side, ((dy - top) / step + 0.5) * side];
    const ring = (place, radius, dash) => {
        for (const [stroke, width] of [["rgb(0 0 0)", 4], ["rgb(255 255 255)", 1.75]]) {
            context.beginPath();
            context.setLineDash(dash);
            context.arc(...place, radius, 0, 2 * Math.PI);
            context.strokeStyle = stroke;
            context.lineWidth = width;
            context.stroke();
        }
    };
    ring(at(0, 0), 3, []);
    ring(at(view.vectors.dx[block], view.vectors.dy[block]), 8, []);
}

function surfaceFigure(surface) {
    const block = view.block;
    const { costs, columns, rows, left, top, step, exact } = surface;
    const known = costs.filter((cost) => !Number.isNaN(cost));
    const range = [known.reduce((a, b) => Math.min(a, b), Infinity), known.reduce((a, b) => Math.max(a, b), 0)];
    const canvas = make("canvas", { role: "img", "aria-label": "cost of every displacement of the window" });
    const words = make("p", { className: "hint" });
    const price = data.parameters.lambda === undefined ? "" : ", without the price of vectors";
    const { x, y } = rectangle(block);
    const source = exact ? [`The costs are those of the search${price}.`]
        : ["Estimated from this page\u2019s compressed pictures" + (data.parameters.metric === "satd" ? " by absolute differences" : "") +
            ", so the least cost may lie beside the vector. For exact costs, run gpume with ",
        make("span", { className: "option" }, `--surface ${x},${y}`), "."];
    const explain = () => words.replaceChildren(`Every displacement of the window, from dark (cost ${whole(range[0])}) to light ` +
        `(${whole(range[1])}). Large ring: the vector; small ring: no motion. `, ...source);
    explain();
    canvas.addEventListener("pointermove", (event) => {
        const box = canvas.getBoundingClientRect();
        const side = cellSide(surface);
        const [column, row] = [Math.floor((event.clientX - box.left) / side), Math.floor((event.clientY - box.top) / side)];
        const cost = costs[row * columns + column];
        if (column >= 0 && row >= 0 && column < columns && row < rows) {
            words.textContent = `(${plain(left + column * step, 3)}, ${plain(top + row * step, 3)}): ` +
                (Number.isNaN(cost) ? "no candidate" : `${exact ? "" : "about "}${whole(cost)}`);
        }
    });
    canvas.addEventListener("pointerleave", explain);
    drawSurface(canvas, surface, block, range);
    const [least, most] = range.map(Math.round);
    return make("figure", { className: "surface", dataset: { exact, least, most, columns, rows } },
        make("figcaption", {}, make("strong", {}, "Cost surface")), canvas, words);
}

let surfaceAsked = null; /* the latest question; answers to earlier ones are dropped */
async function showSurface() {
    const asked = surfaceAsked = {};
    const surface = view.block >= 0 && view.vectors && !player.playing ? await surfaceOf(view.block) : null;
    if (asked === surfaceAsked) {
        byId("surface").replaceChildren(...surface ? [surfaceFigure(surface)] : []);
    }
}
