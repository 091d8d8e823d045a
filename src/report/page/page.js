/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Selects a frame pair and updates every part of the page; handles keys, resizing and the colour
 * scheme. Fields, that is frame pairs, are counted from 0; frames have the numbers of the video.
 */

let current = 0; /* index of the selected field */

const titleOfFrame = (frame) => `${FRAME === "field" ? "Field" : "Frame"} ${frame}`;

function statistic(name, key, value, text) {
    return make("div", {}, make("dt", {}, name), make("dd", { dataset: { statistic: key, value: String(value) } }, text));
}

function showStatistics(i) {
    const f = fields, ref = nearestReference(f.frame[i]);
    byId("statistics").replaceChildren(
        statistic("Reference", "ref", ref, `${FRAME} ${ref}`),
        statistic("Time", "time", f.time[i].toFixed(6), `${f.time[i].toFixed(3)} s`),
        statistic("SAD before", "sad_before", f.sadBefore[i], whole(f.sadBefore[i])),
        statistic("SAD after", "sad_after", f.sadAfter[i], whole(f.sadAfter[i])),
        statistic("PSNR before", "psnr_before", fixed(f.psnrBefore[i], 3), `${fixed(f.psnrBefore[i], 3)} dB`),
        statistic("PSNR after", "psnr_after", fixed(f.psnrAfter[i], 3), `${fixed(f.psnrAfter[i], 3)} dB`),
        statistic("Zero vectors", "zero", f.zero[i], `${f.zeroShare[i].toFixed(1)} %`),
        statistic("Mean length", "length_mean", f.mean[i].toFixed(3), `${f.mean[i].toFixed(2)} px`),
        statistic("Largest length", "length_max", f.largest[i].toFixed(3), `${f.largest[i].toFixed(2)} px`),
        statistic("Mean (dx, dy)", "mean", `${f.dx[i].toFixed(3)},${f.dy[i].toFixed(3)}`,
            `(${f.dx[i].toFixed(2)}, ${f.dy[i].toFixed(2)})`),
        statistic("Highest cost", "cost_max", f.costliest[i], whole(f.costliest[i])));
}

/* Shows the pictures of the frame, or else offers the nearest frame that has some. */
function offerPictures(frame) {
    const own = entryOf(frame);
    const note = byId("nearest");
    byId("viewer").hidden = !own;
    note.hidden = Boolean(own);
    byId("sets").value = own && !own.film ? String(frame) : "";
    if (own) {
        return showPictures(frame).catch((error) => {
            byId("viewer").hidden = true;
            note.hidden = false;
            note.textContent = error.message;
        });
    }
    note.textContent = shown.length === 0 ? "This report contains no pictures."
        : `This report contains no pictures of ${FRAME} ${frame}${data.parameters["from-stream"] ? "" : "; --report-dir keeps those of all"}. `;
    const nearest = nearestShown(frame);
    if (nearest) {
        const button = make("button", { type: "button", id: "go-nearest" }, `Go to ${FRAME} ${nearest.frame}`);
        button.addEventListener("click", () => select(nearest.frame - data.first_field));
        note.append(button);
    }
    return Promise.resolve();
}

function select(index) {
    const i = Math.max(0, Math.min(fields.count - 1, index));
    const frame = fields.frame[i];
    current = i;
    if (useSide(i)) {
        makeCharts(clicked);
    }
    showPlace(i);
    byId("pair-title").textContent = titleOfFrame(frame);
    document.body.dataset.frame = frame;
    const reference = BOTH ? `, reference ${nearestReference(frame)}` : "";
    byId("selected").textContent = `${titleOfFrame(frame)}${reference}: SAD ${whole(fields.sadBefore[i])} before the search, ` +
        `${whole(fields.sadAfter[i])} after; PSNR ${fixed(fields.psnrBefore[i], 3)} dB before, ` +
        `${fixed(fields.psnrAfter[i], 3)} dB after${fields.cut[i] ? "; possible scene cut" : ""}.`;
    showStatistics(i);
    showInCharts(i);
    return offerPictures(frame).then(keepAddress);
}

function scrollToPair() {
    byId("pair").scrollIntoView({ behavior: "auto", block: "start" });
    byId("pair").focus({ preventScroll: true });
}

/* Scrolls to the frame pair, if less than half of its picture is on screen. */
function showPair() {
    const box = byId("film").getBoundingClientRect();
    const seen = Math.min(box.bottom, window.innerHeight) - Math.max(box.top, 0);
    if (seen < Math.min(box.height, window.innerHeight) / 2) {
        scrollToPair();
    }
}

function chartKey(event) {
    const far = Math.max(1, Math.round(fields.count / 20));
    const to = { ArrowLeft: current - 1, ArrowRight: current + 1, PageUp: current - far, PageDown: current + far,
        Home: 0, End: fields.count - 1 }[event.key];
    if (to !== undefined) {
        event.preventDefault();
        select(to);
    } else if (event.key === "Enter") {
        event.preventDefault();
        scrollToPair();
    }
}

function makeCuts() {
    const box = byId("cuts");
    const found = cutIndexes.length;
    const most = 60;
    box.append(make("p", { className: "hint" },
        (found ? `${whole(found)} possible scene cut${found > 1 ? "s" : ""} (dashed). ` : "No scene cut detected. ") +
        "Criterion: the SAD after the search is at least twice that of the previous frame pair, at least half the SAD " +
        "before the search, and on average at least 4 of 256 gray levels per pixel."));
    const list = make("p", { className: "chips" });
    for (const index of cutIndexes.slice(0, most)) {
        const button = make("button", { type: "button", dataset: { cut: fields.frame[index] } }, String(fields.frame[index]));
        button.addEventListener("click", () => select(index).then(showPair));
        list.append(button, " ");
    }
    if (found > most) {
        list.append(`and ${whole(found - most)} more`);
    }
    box.append(list);
}

/* The frames with all pictures, and why they were chosen. */
function makeSets() {
    const reasons = { even: "", worst: ", large residual", cut: ", possible scene cut" };
    const all = shown.filter((set) => !set.film);
    byId("sets").append(make("option", { value: "" }, "\u2026"));
    byId("sets").append(...all.map((set) => make("option", { value: String(set.frame) }, `frame ${set.frame}${reasons[set.why]}`)));
    byId("sets-label").hidden = all.length === shown.length;
    byId("sets").addEventListener("change", (event) => {
        if (event.target.value) {
            select(Number(event.target.value) - data.first_field);
        }
    });
}

/* Selects the frame of a costly block, and the block itself if the frame has pictures. */
async function selectBlock(index, block) {
    wantedSide = BOTH && block.ref > block.frame ? 1 : 0;
    await select(index);
    if (view.frame === block.frame && !byId("viewer").hidden) {
        pinBlock(blockAt(block.x, block.y));
    }
    scrollToPair();
}

/* The frame pair to begin with: of those with pictures the one in which the search gains most, which moves; at a cut
 * vectors mean little. The first, if nothing moves. */
function liveliestShown() {
    const gainOfPair = ({ frame }) => {
        const i = frame - data.first_field;
        return fields.cut[i] ? 0 : fields.sadBefore[i] - fields.sadAfter[i];
    };
    return shown.reduce((best, set) => gainOfPair(set) > gainOfPair(best) ? set : best);
}

/* Goes where the page's address leads; without a frame in it, to the liveliest one. */
async function followAddress() {
    const { index, block, layer, side: of } = readAddress();
    wantedSide = of;
    if (layer) {
        chooseMain(layer);
    }
    await select(index !== null ? index : shown.length > 0 ? liveliestShown().frame - data.first_field : 0);
    if (block && view.frame === fields.frame[current]) {
        pinBlock(blockAt(block.x, block.y));
        follow(view.block);
        drawViewer();
    }
}

function listenToPage() {
    byId("charts").addEventListener("keydown", chartKey);
    byId("unzoom").addEventListener("click", resetZoom);
    window.addEventListener("hashchange", followAddress);
    window.addEventListener("resize", () => {
        resizeCharts();
        drawHistogram();
        drawViewer();
    });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        makeCharts(clicked);
        drawHistogram();
        drawViewer();
        showSurface();
    });
}

const clicked = (index) => select(index).then(showPair);

function start() {
    makeSets();
    makeMarks();
    makeParts(selectBlock);
    makeCuts();
    logarithmic = hasPeaks();
    byId("logarithmic").checked = logarithmic;
    byId("logarithmic").addEventListener("change", (event) => {
        logarithmic = event.target.checked;
        makeCharts(clicked);
    });
    makeCharts(clicked);
    byId("block").classList.toggle("longer", BOTH || data.returns || Boolean(data.parameters.confidence));
    openViewer();
    openSurface();
    openPlayer(select);
    listenToPage();
    followAddress().then(() => { document.body.dataset.ready = "yes"; });
}

start();
