/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which field is open, and what follows from it in all parts; keys; changes of size and colours.
 */

let current = 0; /* index of the open field */

/* The nearest field with pictures, before it where two are as near. */
function nearestSet(frame) {
    return data.sets.reduce((best, set) => best === null ||
        Math.abs(set.frame - frame) < Math.abs(best.frame - frame) ? set : best, null);
}

function figure(name, key, value, text) {
    return make("div", {}, make("dt", {}, name), make("dd", { dataset: { figure: key, value: String(value) } }, text));
}

function sayFigures(i) {
    const f = fields, distance = data.parameters["ref-distance"];
    const ref = f.frame[i] + (data.parameters.direction === "future" ? distance : -distance);
    byId("figures").replaceChildren(
        figure("Reference", "ref", ref, `frame ${ref}`),
        figure("Time", "time", f.time[i].toFixed(6), `${f.time[i].toFixed(3)} s`),
        figure("SAD before", "sad_before", f.sadBefore[i], whole(f.sadBefore[i])),
        figure("SAD after", "sad_after", f.sadAfter[i], whole(f.sadAfter[i])),
        figure("PSNR before", "psnr_before", fixed(f.psnrBefore[i], 3), `${fixed(f.psnrBefore[i], 3)} dB`),
        figure("PSNR after", "psnr_after", fixed(f.psnrAfter[i], 3), `${fixed(f.psnrAfter[i], 3)} dB`),
        figure("Zero vectors", "zero", f.zero[i], `${f.zeroShare[i].toFixed(1)} %`),
        figure("Mean vector", "length_mean", f.mean[i].toFixed(3), `${f.mean[i].toFixed(2)} px`),
        figure("Largest vector", "length_max", f.largest[i].toFixed(3), `${f.largest[i].toFixed(2)} px`),
        figure("Mean (dx, dy)", "mean", `${f.dx[i].toFixed(3)},${f.dy[i].toFixed(3)}`,
            `(${f.dx[i].toFixed(2)}, ${f.dy[i].toFixed(2)})`),
        figure("Costliest block", "cost_max", f.costliest[i], whole(f.costliest[i])));
}

/* Pictures of the field, or of the nearest that has some, after a word. */
function offerPictures(frame) {
    const set = nearestSet(frame);
    const own = set !== null && set.frame === frame;
    const note = byId("nearest");
    byId("viewer").hidden = !own;
    note.hidden = own;
    if (own) {
        byId("sets").value = String(frame);
        return showPictures(frame);
    }
    note.textContent = data.sets.length === 0 ? "This report holds no pictures." : `Field ${frame} has no pictures here. `;
    byId("sets").value = "";
    if (set) {
        const button = make("button", { type: "button", id: "go-nearest" }, `Nearest: field ${set.frame}`);
        button.addEventListener("click", () => select(set.frame - data.first_field));
        note.append(button);
    }
    return Promise.resolve();
}

function select(index) {
    const i = Math.max(0, Math.min(fields.count - 1, index));
    const frame = fields.frame[i];
    current = i;
    byId("slider").value = i;
    byId("slider").setAttribute("aria-valuetext", `field ${frame}`);
    byId("field-title").textContent = `Field ${frame}`;
    document.body.dataset.field = frame;
    byId("field-line").textContent = `Field ${frame}: SAD ${whole(fields.sadBefore[i])} before, ` +
        `${whole(fields.sadAfter[i])} after; PSNR ${fixed(fields.psnrBefore[i], 3)} dB before, ` +
        `${fixed(fields.psnrAfter[i], 3)} dB after${fields.cut[i] ? "; a scene cut's candidate" : ""}.`;
    byId("back").disabled = !data.sets.some((set) => set.frame < frame);
    byId("forth").disabled = !data.sets.some((set) => set.frame > frame);
    sayFigures(i);
    showInCharts(i);
    return offerPictures(frame);
}

function show() {
    byId("field-part").scrollIntoView({ behavior: "auto", block: "start" });
    byId("field-part").focus({ preventScroll: true });
}

function key(event) {
    const far = Math.max(1, Math.round(fields.count / 20));
    const to = { ArrowLeft: current - 1, ArrowRight: current + 1, PageUp: current - far, PageDown: current + far,
        Home: 0, End: fields.count - 1 }[event.key];
    if (to !== undefined) {
        event.preventDefault();
        select(to);
    } else if (event.key === "Enter") {
        event.preventDefault();
        show();
    }
}

function makeCuts() {
    const box = byId("cuts");
    const text = "Scene cuts' candidates, dashed in the charts: fields whose SAD after the search is twice that of the " +
        "field before or more, half of its SAD before the search or more, and 4 steps of 8-bit gray a pixel or more. ";
    const most = 60;
    box.append(make("p", { className: "hint" }, text + (cutIndexes.length ? `${whole(cutIndexes.length)}:` : "None.")));
    const list = make("p", { className: "chips" });
    for (const index of cutIndexes.slice(0, most)) {
        const button = make("button", { type: "button", dataset: { cut: fields.frame[index] } }, String(fields.frame[index]));
        button.addEventListener("click", () => select(index));
        list.append(button, " ");
    }
    if (cutIndexes.length > most) {
        list.append(`and ${whole(cutIndexes.length - most)} more`);
    }
    box.append(list);
}

function makeSets() {
    const words = { even: "", worst: ", large residual", cut: ", scene cut?" };
    data.sets.sort((a, b) => a.frame - b.frame);
    byId("sets").append(...data.sets.map((set) => make("option", { value: String(set.frame) }, `field ${set.frame}${words[set.why]}`)));
    byId("sets").disabled = data.sets.length === 0;
    byId("sets").addEventListener("change", (event) => select(Number(event.target.value) - data.first_field));
    byId("back").addEventListener("click", () => {
        const before = data.sets.filter((set) => set.frame < fields.frame[current]);
        select(before[before.length - 1].frame - data.first_field);
    });
    byId("forth").addEventListener("click", () => {
        select(data.sets.find((set) => set.frame > fields.frame[current]).frame - data.first_field);
    });
}

/* A block of the gallery: its field, and the block itself where the field has pictures. */
async function selectBlock(index, block) {
    await select(index);
    if (view.frame === block.frame && !byId("viewer").hidden) {
        pickBlock(block.y / BLOCK * data.blocks_x + block.x / BLOCK);
    }
    show();
}

function start() {
    const clicked = (index) => { select(index); };
    makeSets();
    makeParts(selectBlock);
    makeCuts();
    logarithmic = hasPeaks();
    byId("logarithmic").checked = logarithmic;
    byId("logarithmic").addEventListener("change", (event) => {
        logarithmic = event.target.checked;
        makeCharts(clicked);
    });
    makeCharts(clicked);
    openViewer();
    byId("slider").max = fields.count - 1;
    byId("slider").addEventListener("input", (event) => select(Number(event.target.value)));
    byId("slider").addEventListener("keydown", (event) => {
        if (event.key === "Enter") {
            show();
        }
    });
    byId("charts").addEventListener("keydown", key);
    byId("unzoom").addEventListener("click", showAllFields);
    window.addEventListener("resize", () => {
        resizeCharts();
        drawHistogram();
        drawViewer();
    });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        makeCharts(clicked);
        drawHistogram();
        drawViewer();
    });
    /* A field that was hard, but no cut, which nothing could have predicted, says most. */
    const sse = (set) => fields.sseAfter[set.frame - data.first_field];
    const hardest = data.sets.filter((set) => set.why !== "cut")
        .reduce((best, set) => best === null || sse(set) > sse(best) ? set : best, null);
    select(hardest ? hardest.frame - data.first_field : 0).then(() => { document.body.dataset.ready = "yes"; });
}

start();
