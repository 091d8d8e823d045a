/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The blocks of the viewer's frame pair, and what the viewer draws of them. Blocks are counted in the
 * order of the output.
 *
 * takeVectors(set)       takes over the blocks of a frame pair
 * blockAt(x, y)          index of the block at a pixel; -1 if the frame pair has no vectors
 * rectangle(index)       position and size of a block (of other vectors, if they are given)
 * drawArrows(context)    draws the motion of the blocks in view; returns how many blocks an arrow stands for
 * mapOf(name)            a canvas with one pixel per cell: a layer that colours blocks
 * ranks()                rank of each block
 * drawOutlines(context)  draws the outlines of the blocks in view
 */

const WIDTH = data.input.width;
const HEIGHT = data.input.height;

/* Every block consists of whole cells. Without a partition blocks have one shape, and cells are blocks. */
const SHOWN = data.parameters.partition ? SHAPES : SHAPES.slice(0, 1);
const CELL_W = Math.min(...SHOWN.map(({ w }) => w));
const CELL_H = Math.min(...SHOWN.map(({ h }) => h));
const CELLS_X = Math.ceil(WIDTH / CELL_W);
const CELLS_Y = Math.ceil(HEIGHT / CELL_H);

function blockAt(x, y) {
    return view.vectors ? view.cells[Math.floor(y / CELL_H) * CELLS_X + Math.floor(x / CELL_W)] : -1;
}

/* The shape of each block, and its index among all blocks of that shape. */
function readPlaces(parts) {
    if (!parts) {
        const count = data.blocks_x * data.blocks_y;
        return { shape: new Uint8Array(count), place: Uint32Array.from({ length: count }, (unused, i) => i) };
    }
    const bytes = bytesOf(parts);
    const numbers = new Numbers(bytes);
    const pairs = [];
    while (numbers.at < bytes.length) {
        pairs.push([numbers.next(), numbers.next()]);
    }
    return { shape: Uint8Array.from(pairs, ([shape]) => shape), place: Uint32Array.from(pairs, ([, place]) => place) };
}

/* Unpacks the lists of src/report/report.h. */
function readVectors(set) {
    const { shape, place } = readPlaces(set.parts);
    const count = shape.length;
    const windowX = data.window_x * data.units;
    const windowY = data.window_y * data.units;
    const columns = 2 * windowX + 1;
    const candidates = columns * (2 * windowY + 1);
    const width = candidates <= 0x100 ? 1 : candidates <= 0x10000 ? 2 : candidates <= 0x1000000 ? 3 : 4;
    const bytes = bytesOf(set.vectors);
    if (bytes.length === 0) {
        return null;
    }
    const found = { shape, place, dx: new Float32Array(count), dy: new Float32Array(count), cost: new Float64Array(count),
        second: new Float64Array(count), away: new Float64Array(count).fill(NaN), distance: new Int32Array(count), rank: null };
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
    if (set.seconds) {
        const seconds = new Numbers(bytesOf(set.seconds));
        found.second.forEach((unused, i) => { found.second[i] = (seconds.next() || Infinity) - 1; });
    }
    if (set.returns) {
        const returns = new Numbers(bytesOf(set.returns));
        found.away.forEach((unused, i) => { found.away[i] = ((returns.next() || NaN) - 1) / data.units; });
    }
    if (set.references) {
        const distances = new Numbers(bytesOf(set.references));
        found.distance.forEach((unused, i) => { found.distance[i] = distances.signed(); });
    }
    return found;
}

/* The places of blocks in the order of falling cost, made when first asked for. */
function ranks() {
    const { cost } = view.vectors;
    if (!view.vectors.rank) {
        const order = Uint32Array.from(cost, (unused, i) => i).sort((a, b) => cost[b] - cost[a] || a - b);
        view.vectors.rank = new Uint32Array(cost.length);
        order.forEach((block, rank) => { view.vectors.rank[block] = rank; });
    }
    return view.vectors.rank;
}

function rectangle(index, vectors = view.vectors) {
    const { w, h, columns } = SHAPES[vectors.shape[index]];
    const x = vectors.place[index] % columns * w;
    const y = Math.floor(vectors.place[index] / columns) * h;
    return { x, y, w: Math.min(w, WIDTH - x), h: Math.min(h, HEIGHT - y) };
}

function makeCells() {
    const cells = new Uint32Array(CELLS_X * CELLS_Y);
    view.vectors.cost.forEach((unused, i) => {
        const { x, y, w, h } = rectangle(i);
        for (let row = y / CELL_H; row * CELL_H < y + h; row++) {
            cells.fill(i, row * CELLS_X + x / CELL_W, row * CELLS_X + Math.ceil((x + w) / CELL_W));
        }
    });
    return cells;
}

/* Colours each block: colourOf gives red, green, blue and opacity. */
function cellCanvas(colourOf) {
    const canvas = make("canvas", { width: CELLS_X, height: CELLS_Y });
    const image = new ImageData(CELLS_X, CELLS_Y);
    view.cells.forEach((block, cell) => image.data.set(colourOf(block), 4 * cell));
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
}

/* Colours each block by a value from 0 to 1. */
const heatCanvas = (valueOf) => cellCanvas((block) => [...heatBytes(valueOf(block)), 255]);

/* As in --overlay: by cost per pixel, so that blocks cut by the edge compare with the others. */
function costHeat(block) {
    const { w, h } = rectangle(block);
    return Math.sqrt(view.vectors.cost[block] / (w * h * data.colours.cost_full * 2 ** (data.input.bits - 8)));
}

/* As in --overlay: by how much the best match is cheaper than the second best one. Without a second match, whose cost is
 * infinite: 1. */
function confidenceHeat(block) {
    const { cost, second } = view.vectors;
    return second[block] > 0 ? 1 - cost[block] / second[block] : 0;
}

/* As in --overlay: only where what is found one way is not found again the other way. */
function returnColour(block) {
    const away = view.vectors.away[block];
    return [...heatBytes(Math.sqrt(away / data.colours.return_full)), away > data.colours.return_small ? 255 : 0];
}

/* By area: the logarithm spreads squares by halves evenly. */
function sizeHeat(block) {
    const areas = SHOWN.map(({ w, h }) => Math.log(w * h));
    const [least, most] = [Math.min(...areas), Math.max(...areas)];
    const { w, h } = SHAPES[view.vectors.shape[block]];
    return most > least ? (Math.log(w * h) - least) / (most - least) : 1;
}

/* 0: its vector leads to whole pixels; 1: to halves; 2: to quarters. */
function fractionOf(block) {
    const odd = (units) => [view.vectors.dx[block], view.vectors.dy[block]].some((value) => value * units % 1 !== 0);
    return odd(2) ? 2 : odd(1) ? 1 : 0;
}
const FRACTIONS = [[60, 66, 72], [220, 90, 60], [252, 222, 120]];

/* Takes over a frame's blocks. The block at the same place stays selected. */
function takeVectors(set) {
    const old = view.vectors && view.block >= 0 ? rectangle(view.block) : { x: -1, y: -1 };
    view.vectors = readVectors(set);
    view.cells = view.vectors && makeCells();
    view.maps = {};
    view.block = old.x >= 0 ? blockAt(old.x, old.y) : -1;
}

/* The map of a layer, drawn when it is first seen. */
function mapOf(name) {
    const makers = { cost: () => heatCanvas(costHeat), confidence: () => heatCanvas(confidenceHeat),
        return: () => cellCanvas(returnColour), flow: () => cellCanvas(flowColour),
        sizes: () => heatCanvas(sizeHeat), fractions: () => cellCanvas((block) => [...FRACTIONS[fractionOf(block)], 255]) };
    if (view.vectors && makers[name] && !view.maps[name]) {
        view.maps[name] = makers[name]();
    }
    return view.maps[name];
}

/* The length that all but 2 % of the run's moving vectors reach at most: the full scale of arrows and flow. It is one for
 * the whole run, so that frames compare, and no single vector can change it. */
const LONGEST = (() => {
    const lengths = data.histogram.counts.map(([dx, dy, count]) => [Math.hypot(dx, dy), count])
        .filter(([length]) => length > 0).sort((a, b) => a[0] - b[0]);
    let left = 0.98 * lengths.reduce((sum, [, count]) => sum + count, 0);
    const found = lengths.find(([, count]) => (left -= count) <= 0);
    return Math.max(1, found ? found[0] : 0);
})();

/* Opacity of flow by the length of a motion, as a share of LONGEST; what does not move is transparent. */
const flowOpacity = (share) => share > 0 ? 0.25 + 0.65 * Math.sqrt(Math.min(1, share)) : 0;

/* Hue by direction, opacity by length. */
function flowColour(block) {
    const [dx, dy] = forwardVector(block);
    return [...directionBytes(-dx, -dy), Math.round(255 * flowOpacity(Math.hypot(dx, dy) / LONGEST))];
}

/* Is any of the rectangle in view? */
function inView({ x, y, w, h }) {
    return x < view.x + WIDTH / view.zoom && y < view.y + HEIGHT / view.zoom && x + w > view.x && y + h > view.y;
}

/* As in --overlay: where blocks have one of several references each, vectors into later frames are turned around, so
 * that all of them mean motion forward in time. */
function forwardVector(block) {
    const { dx, dy, distance } = view.vectors;
    const sign = distance[block] > 0 || view.side === 1 ? -1 : 1;
    return [sign * dx[block], sign * dy[block]];
}

/* Arrows show how the content moved. Those that are easy to read fit the block, and their length grows with the square
 * root of the vector's; those of true length begin where the content was and end in the middle of the block. Where blocks
 * are small on screen, each arrow is the mean of group x group blocks of one shape. Returns the largest group. */
function drawArrows(context) {
    const scale = screenScale();
    const groupOf = ({ w, h }) => Math.max(1, Math.ceil(26 / (Math.min(w, h) * scale)));
    const groups = new Map();
    for (let block = 0; block < view.vectors.cost.length; block++) {
        const shape = view.vectors.shape[block];
        const size = groupOf(SHAPES[shape]);
        const [w, h] = [size * SHAPES[shape].w, size * SHAPES[shape].h];
        const place = rectangle(block);
        const [x, y] = [Math.floor(place.x / w) * w, Math.floor(place.y / h) * h];
        if (inView({ x, y, w, h })) {
            const key = (shape * HEIGHT + y) * WIDTH + x;
            const group = groups.get(key) || { x: x + w / 2, y: y + h / 2, room: Math.min(w, h) * scale, dx: 0, dy: 0, count: 0 };
            const [dx, dy] = forwardVector(block);
            group.dx += dx;
            group.dy += dy;
            group.count++;
            groups.set(key, group);
        }
    }
    for (const { x, y, room, dx, dy, count } of groups.values()) {
        const length = Math.hypot(dx, dy) / count;
        const clear = room * Math.sqrt(Math.min(1, length / LONGEST));
        const stretch = length > 0 ? -(view.trueLength ? length * scale : clear) / (length * count) : 0;
        const back = view.trueLength ? 0.5 : 0; // drawArrow centres
        drawArrow(context, (x - view.x) * scale - back * dx * stretch, (y - view.y) * scale - back * dy * stretch,
            dx * stretch, dy * stretch, room);
    }
    return Math.max(...SHOWN.map(groupOf));
}

/* The outlines of a partition's blocks. */
function drawOutlines(context) {
    const scale = screenScale();
    context.beginPath();
    for (let block = 0; block < view.vectors.cost.length; block++) {
        const place = rectangle(block);
        if (inView(place)) {
            context.rect((place.x - view.x) * scale, (place.y - view.y) * scale, place.w * scale, place.h * scale);
        }
    }
    for (const [stroke, width] of [["rgb(0 0 0 / 0.35)", 2], ["rgb(255 255 255 / 0.7)", 0.75]]) {
        context.strokeStyle = stroke;
        context.lineWidth = width;
        context.stroke();
    }
}
