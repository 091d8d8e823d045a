/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame pairs that have pictures in this page, which are read and decoded when they are needed.
 *
 * shown                        their list, in the order of frames
 * entryOf(frame)               the entry of a frame in it, or undefined
 * nearestShown(frame)          the entry nearest to a frame; the earlier of two; null if there is none
 * loadSet(frame)               the contents of an entry, as a promise
 * loadPicture(frame, name)     a picture of it, as a promise: {image, scale, film}, or null
 * hasPicture(frame, name)      is that picture in the page?
 */

/* Film: one small picture, in colour, and the blocks. Other sets hold all pictures. */
const shown = data.files ? Array.from(fields.frame, (frame) => ({ frame, why: "file", film: false }))
    : [...data.sets.map((set) => ({ ...set, film: false })), ...data.film.sets.map((set) => ({ ...set, film: true }))]
        .sort((a, b) => a.frame - b.frame);
const entries = new Map(shown.map((set) => [set.frame, set]));
const entryOf = (frame) => entries.get(frame);

function nearestShown(frame) {
    return shown.reduce((best, set) => best === null ||
        Math.abs(set.frame - frame) < Math.abs(best.frame - frame) ? set : best, null);
}

/* What is decoded stays for a while, so that playing again is smooth. */
const KEPT = 48;
const kept = new Map(); /* by frame: { set, pictures: by name }, both promises */

function keep(frame) {
    const found = kept.get(frame) || { set: readSet(entryOf(frame)), pictures: new Map() };
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

async function decode(frame, name, film) {
    const image = new Image();
    const set = await loadSet(frame);
    image.src = `data:${film ? data.film.type : data.type};base64,${set[name]}`;
    await image.decode();
    return { image, scale: film ? data.film.scale : data.scale, film };
}

/* The names under which a set may have a picture, the best first. */
const NAMES = { colour: ["colour", "target"], target: ["target", "colour"], reference: ["reference"] };

/* Of several, the first: the nearest one, and the past one if there is one. */
function nearestReference(frame) {
    const { direction, "ref-distance": list } = data.parameters;
    const distance = Number(String(list).split(",")[0]);
    const future = direction === "future" || (direction === "both" && frame < distance);
    return frame + (future ? distance : -distance);
}

async function findPicture(frame, name) {
    const entry = entryOf(frame);
    const set = await loadSet(frame);
    const found = (NAMES[name] || [name]).find((key) => set[key]);
    if (found) {
        return decode(frame, found, entry.film || found === "colour");
    }
    const reference = nearestReference(frame);
    return name === "reference" && entryOf(reference) ? loadPicture(reference, "colour") : null;
}

function loadPicture(frame, name) {
    const { pictures } = keep(frame);
    if (!pictures.has(name)) {
        pictures.set(name, findPicture(frame, name));
    }
    return pictures.get(name);
}

function hasPicture(frame, name) {
    const entry = entryOf(frame);
    return Boolean(entry) && (!entry.film || name === "colour" || name === "target" ||
        (name === "reference" && Boolean(entryOf(nearestReference(frame)))));
}
