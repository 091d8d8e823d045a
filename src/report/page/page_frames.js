/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame pairs that have pictures in this page, which are read and decoded when they are needed.
 *
 * shown                        their list, in the order of frames
 * entryOf(frame)               the entry of a frame in it, or undefined
 * nearestShown(frame, suits)   the entry nearest to a frame, of those that suit (default: all); the earlier of two; null if
 *                              there is none
 * loadPart(frame, of)          the contents of an entry as a promise: what belongs to its target and to that side
 * loadPicture(frame, name)     a picture of it, as a promise: {image, scale, film}, or null
 * hasPicture(frame, name)      is that picture in the page?
 * planesOf(frame, of)          {target, reference}: luma of that side, sample for sample, as a promise; null if the page
 *                              has none
 */

/* Film: one small picture, in colour, and the blocks. Other sets hold all pictures. */
const shown = data.files ? Array.from(fields.frame, (frame) => ({ frame, why: "file", film: false, exact: data.exact }))
    : [...data.sets.map((set) => ({ ...set, film: false })), ...data.film.sets.map((set) => ({ ...set, film: true }))]
        .sort((a, b) => a.frame - b.frame);
const entries = new Map(shown.map((set) => [set.frame, set]));
const entryOf = (frame) => entries.get(frame);

function nearestShown(frame, suits = () => true) {
    return shown.filter(suits).reduce((best, set) => best === null ||
        Math.abs(set.frame - frame) < Math.abs(best.frame - frame) ? set : best, null);
}

/* What is decoded stays for a while, so that playing again is smooth: at most 48 frames, and of large ones fewer. */
const KEPT = Math.max(10, Math.min(48, Math.floor(4e8 / (8 * data.input.width * data.input.height))));
const kept = new Map(); /* by frame: { set, target, planes: by side, pictures: by side and name }, all promises */

function keep(frame) {
    const found = kept.get(frame) || { set: readSet(entryOf(frame)), planes: [], pictures: new Map() };
    kept.delete(frame);
    kept.set(frame, found);
    if (kept.size > KEPT) {
        kept.delete(kept.keys().next().value); /* the least recently used */
    }
    return found;
}

/* Files beside the page are scripts, which call this. */
const awaited = new Map();
function takeSet(frame, set) {
    awaited.get(frame)(set);
    awaited.delete(frame);
}

function readFile(frame) {
    return new Promise((done, failed) => {
        const script = make("script", { src: `frames/${frame}.js` });
        awaited.set(frame, done);
        script.addEventListener("load", () => script.remove());
        script.addEventListener("error", () => {
            kept.delete(frame); /* it may be there next time */
            failed(new Error(`frames/${frame}.js, which belongs to this page, cannot be read.`));
        });
        document.head.append(script);
    });
}

async function readSet(entry) {
    if (data.files) {
        return readFile(entry.frame);
    }
    return JSON.parse(byId(`${entry.film ? "film" : "set"}-${entry.frame}`).textContent);
}

const loadSet = (frame) => keep(frame).set;

async function loadPart(frame, of = side) {
    const set = await loadSet(frame);
    const { colour, target, luma, future } = set;
    return of === 0 ? set : { colour, target, luma, ...future };
}

async function decode(set, name, film) {
    const image = new Image();
    image.src = `data:${film ? data.film.type : data.type};base64,${set[name]}`;
    await image.decode();
    return { image, scale: film ? data.film.scale : data.scale, film };
}

/* --- luma without loss */

const Samples = data.input.bits > 8 ? Uint16Array : Uint8Array; /* which compute modulo 2^8 or 2^16 */

/* Of a PNG, see src/report/report.h. */
async function readSamples(base64) {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = make("canvas", { width: image.width, height: image.height });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    const all = context.getImageData(0, 0, image.width, image.height).data;
    const found = new Samples(data.input.width * data.input.height);
    for (let i = 0; i < found.length; i++) {
        found[i] = data.input.bits > 8 ? 256 * all[4 * i] + all[4 * (i + found.length)] : all[4 * i];
    }
    return found;
}

/* Without luma the target is the reference, from which it differs by the change, or the reference of an earlier one. */
async function findTarget(frame) {
    const set = await loadSet(frame);
    const before = frame - Number(data.parameters["ref-distance"]);
    if (set.luma) {
        return readSamples(set.luma);
    }
    if (data.parameters.direction === "future") {
        return (await planesOf(before, 0)).reference;
    }
    const [reference, change] = await Promise.all([targetOf(before), readSamples(set.change)]);
    return reference.map((value, i) => value - change[i]);
}

function targetOf(frame) {
    const entry = keep(frame);
    entry.target = entry.target || findTarget(frame);
    return entry.target;
}

async function findPlanes(frame, of) {
    const set = await loadPart(frame, of);
    if (!set.change) {
        return null;
    }
    const [target, change] = await Promise.all([targetOf(frame), readSamples(set.change)]);
    return { target, reference: target.map((value, i) => value + change[i]) };
}

function planesOf(frame, of = side) {
    const { planes } = keep(frame);
    planes[of] = planes[of] || findPlanes(frame, of);
    return planes[of];
}

/* The prediction by whole-pixel vectors. */
function predict(reference, vectors) {
    const found = new Samples(reference.length);
    const near = (at, count) => Math.max(0, Math.min(count - 1, at));
    for (let block = 0; block < vectors.cost.length; block++) {
        const { x, y, w, h } = rectangle(block, vectors);
        for (let row = y; row < y + h; row++) {
            const from = near(row + vectors.dy[block], HEIGHT) * WIDTH;
            for (let column = x; column < x + w; column++) {
                found[row * WIDTH + column] = reference[from + near(column + vectors.dx[block], WIDTH)];
            }
        }
    }
    return found;
}

/* Draws a picture of luma: one of samples, or of the differences between two. */
async function makePicture(frame, name, of) {
    const { target, reference } = await planesOf(frame, of);
    const first = name === "reference" ? reference : target;
    const predicted = name === "predicted" || name === "residual" ? predict(reference, readVectors(await loadPart(frame, of))) : null;
    const minus = name === "difference" ? reference : name === "residual" ? predicted : null;
    const from = name === "predicted" ? predicted : first;
    const peak = 2 ** data.input.bits - 1;
    const grays = Uint8Array.from({ length: peak + 1 }, (unused, value) =>
        minus ? Math.round(255 * (value / peak) ** (1 / data.gamma)) : value >> (data.input.bits - 8));
    return grayCanvas(Uint8Array.from(from, (value, i) => grays[Math.min(peak, minus ? Math.abs(value - minus[i]) : value)]), WIDTH, HEIGHT);
}

/* --- pictures */

/* The names under which a set may have a picture, the best first. */
const NAMES = { colour: ["colour", "target"], target: ["target", "colour"], reference: ["reference"] };

/* Of several, the first: the nearest one, and the past one if there is one. */
function nearestReference(frame, of = side) {
    const { direction, "ref-distance": list } = data.parameters;
    const distance = Number(String(list).split(",")[0]);
    const future = direction === "future" || (BOTH ? of === 1 : direction === "both" && frame < distance);
    return frame + (future ? distance : -distance);
}

async function findPicture(frame, name, of) {
    const entry = entryOf(frame);
    const set = await loadPart(frame, of);
    const found = (NAMES[name] || [name]).find((key) => set[key]);
    if (set.change && !(name === "colour" && found)) {
        return { image: await makePicture(frame, name === "colour" ? "target" : name, of), scale: 1, film: false };
    }
    if (found) {
        return decode(set, found, entry.film || found === "colour");
    }
    const reference = nearestReference(frame, of);
    return name === "reference" && entryOf(reference) ? loadPicture(reference, "colour") : null;
}

function loadPicture(frame, name) {
    const { pictures } = keep(frame);
    const key = `${side} ${name}`;
    if (!pictures.has(key)) {
        pictures.set(key, findPicture(frame, name, side));
    }
    return pictures.get(key);
}

function hasPicture(frame, name) {
    const entry = entryOf(frame);
    return Boolean(entry) && (!entry.film || name === "colour" || name === "target" ||
        (name === "reference" && Boolean(entryOf(nearestReference(frame)))));
}
