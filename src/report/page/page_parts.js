/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts that do not depend on the selected frame pair: header, summary, histogram, stages,
 * gallery of the costliest blocks, details of the run.
 *
 * makeParts(onSelect)  makes them; a click on a block of the gallery calls onSelect(index, block)
 * drawHistogram()      draws it again after a change of size or colours
 */

function makeHead() {
    const { input, parameters } = data;
    const file = (name) => name === "-" ? "standard input" : name.replace(/^.*\//, "") || name;
    const name = input.reference ? `${file(input.reference)} to ${file(input.name)}` : file(input.name);
    const video = input.frames_per_second && !input.reference; // still pictures have no frame rate
    const rate = video ? `, ${plain(input.frames_per_second, 3)} ${FRAME}s per second` : "";
    const filter = parameters.prefilter ? `, prefilter ${parameters.prefilter}` : "";
    const distance = String(parameters["ref-distance"]), { direction } = parameters;
    const side = { past: "before", future: "after", both: "before and after" }[direction];
    const reference = distance !== "1" || direction !== "past"
        ? `, reference${parameters["best-reference"] ? "s" : ""} ${distance.replaceAll(",", ", ")} ` +
            `${FRAME}${distance === "1" ? "" : "s"} ${side} the target` : "";
    const shapes = SHAPES.map(({ w, h }) => `${w} x ${h}`);
    const blocks = parameters.partition ? `blocks from ${shapes[0]} to ${shapes.at(-1)}, chosen by cost` : `${shapes[0]} blocks`;
    document.title = `${name} - gpume report`;
    /* Long names may break after punctuation. */
    byId("title").append(...name.split(/(?<=[_.-])/).flatMap((part) => [part, make("wbr")]));
    const found = parameters["from-stream"] ? "vectors of the coded stream" :
        `search window \u00b1${data.window_x} x \u00b1${data.window_y} pixels${filter}${reference}; ${data.engine.device}`;
    const whose = FRAME === "field" ? "fields of " : "";
    byId("subtitle").textContent = `${whose}${input.width} x ${input.height} pixels, ${input.bits} bits${rate}; ${blocks}, ${found}`;
}

function card(name, value, text, note) {
    return make("div", {}, make("dt", {}, name), make("dd", { dataset: { statistic: name, value: String(value) } },
        make("strong", {}, text), note ? make("span", {}, note) : ""));
}

/* A wider window may find better matches for these. */
function borderCard() {
    const { share, try_window } = data.border;
    return card("At the window's border", data.totals.border, `${(100 * share).toFixed(1)} %`,
        try_window ? `of the vectors; try -w ${try_window}` : "of the vectors");
}

function makeCards() {
    const { input, means, totals, stages } = data;
    const each = (sum) => plain(sum / (input.width * input.height), 3);
    const after = data.parameters["from-stream"] ? "with these vectors" : "after search";
    const seconds = stages.whole.seconds;
    const left = means.sad_before > 0 ? `${(100 * means.sad_after / means.sad_before).toFixed(1)} %` : "-";
    byId("cards").append(
        card("Frame pairs", data.fields, whole(data.fields), `target ${FRAME}s ${data.first_field} to ${data.last_field}`),
        card(`Mean SAD ${after}`, means.sad_after, each(means.sad_after),
            `per pixel, of ${2 ** input.bits - 1}; ${left} of ${each(means.sad_before)} before`),
        card(`Mean PSNR ${after}`, means.psnr_after, `${fixed(means.psnr_after, 3)} dB`,
            `${fixed(means.psnr_before, 3)} dB before`),
        card("Zero vectors", totals.zero, `${(100 * totals.zero / totals.blocks).toFixed(1)} %`,
            `of ${short(totals.blocks)} blocks`),
        ...(data.border ? [borderCard()] : []),
        card("Time", seconds, `${seconds.toFixed(3)} s`, `${plain(data.fields / seconds, 1)} frame pairs per second`));
    if (data.checked !== undefined) {
        byId("cards").append(card("Check", data.matched, data.matched === data.checked ? "passed" : "FAILED",
            `${whole(data.matched)} of ${whole(data.checked)} vectors equal`));
    }
}

/* Counts by "x,y" of the bin; cell, left and top are where the histogram is drawn, in CSS pixels. */
const bins = { counts: new Map(), x: 0, y: 0, largest: 0, total: 0, cell: 0, left: 0, top: 0, at: null };

function readHistogram() {
    const { bin, counts } = data.histogram;
    bins.x = Math.ceil((data.window_x - (bin - 1) / 2) / bin);
    bins.y = Math.ceil((data.window_y - (bin - 1) / 2) / bin);
    for (const [dx, dy, count] of counts) {
        bins.counts.set(`${dx / bin},${dy / bin}`, count);
        bins.largest = Math.max(bins.largest, count);
        bins.total += count;
    }
}

const shade = (count) => bins.largest > 1 ? Math.log(count) / Math.log(bins.largest) : 1;

function drawHistogram() {
    const canvas = byId("histogram");
    const room = Math.min(canvas.parentElement.clientWidth, 440);
    const columns = 2 * bins.x + 1;
    const rows = 2 * bins.y + 1;
    const margin = 40;
    bins.cell = Math.min((room - margin - 12) / Math.max(columns, rows), 44);
    bins.left = margin;
    bins.top = 8;
    const width = columns * bins.cell;
    const height = rows * bins.cell;
    const context = resize(canvas, Math.max(160, width + margin + 12), height + 44);
    context.fillStyle = colour("empty");
    context.fillRect(bins.left, bins.top, width, height);
    const side = bins.cell > 14 ? bins.cell - 1 : bins.cell + 0.3; /* gaps between large cells only */
    for (const [key, count] of bins.counts) {
        const [x, y] = key.split(",").map(Number);
        context.fillStyle = heat(shade(count));
        context.fillRect(bins.left + (x + bins.x) * bins.cell, bins.top + (y + bins.y) * bins.cell, side, side);
    }
    context.fillStyle = colour("muted");
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    const ticks = (window) => window > 0 ? [-window, 0, window] : [0];
    for (const dx of ticks(data.window_x)) {
        context.textAlign = "center";
        context.fillText(String(dx), bins.left + (dx / data.histogram.bin + bins.x + 0.5) * bins.cell, bins.top + height + 10);
    }
    for (const dy of ticks(data.window_y)) {
        context.textAlign = "right";
        context.fillText(String(dy), bins.left - 6, bins.top + (dy / data.histogram.bin + bins.y + 0.5) * bins.cell);
    }
    context.textAlign = "center";
    context.fillText("dx", bins.left + width / 2, bins.top + height + 27);
    context.textAlign = "left";
    context.fillText("dy", 2, bins.top + height / 2);
    if (bins.at) {
        for (const [stroke, lineWidth] of [["rgb(0 0 0)", 5], ["rgb(255 255 255)", 2]]) {
            context.strokeStyle = stroke;
            context.lineWidth = lineWidth;
            context.strokeRect(bins.left + (bins.at[0] + bins.x) * bins.cell - 1,
                bins.top + (bins.at[1] + bins.y) * bins.cell - 1, bins.cell + 2, bins.cell + 2);
        }
    }
}

function pickBin(x, y) {
    const side = data.histogram.bin;
    const half = (side - 1) / 2;
    bins.at = [Math.max(-bins.x, Math.min(bins.x, x)), Math.max(-bins.y, Math.min(bins.y, y))];
    const count = bins.counts.get(bins.at.join(",")) || 0;
    const range = (at) => side === 1 ? String(at) : `${at * side - half} to ${at * side + half}`;
    const box = byId("bin");
    Object.assign(box.dataset, { dx: bins.at[0] * side, dy: bins.at[1] * side, count });
    box.textContent = `dx ${range(bins.at[0])}, dy ${range(bins.at[1])}: ${whole(count)} vectors, ` +
        `${(100 * count / bins.total).toFixed(3)} %`;
    drawHistogram();
}

function makeHistogram() {
    const canvas = byId("histogram");
    readHistogram();
    const point = (event) => {
        const box = canvas.getBoundingClientRect();
        const x = Math.floor((event.clientX - box.left - bins.left) / bins.cell) - bins.x;
        const y = Math.floor((event.clientY - box.top - bins.top) / bins.cell) - bins.y;
        if (Math.abs(x) <= bins.x && Math.abs(y) <= bins.y) {
            pickBin(x, y);
        }
    };
    canvas.addEventListener("pointermove", point);
    canvas.addEventListener("pointerdown", point);
    canvas.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        if (step) {
            const [x, y] = bins.at || [0, 0];
            event.preventDefault();
            pickBin(bins.at ? x + step[0] : 0, bins.at ? y + step[1] : 0);
        }
    });
    byId("histogram-hint").append(BOTH ? " Vectors of both references." : "");
    byId("scale").append("1 ", ramp(120), ` ${whole(bins.largest)} vectors`);
    drawHistogram();
}

function makeStages() {
    const outer = ["decode", "engine", "write", "whole"]; // all others are parts of the engine
    const table = byId("stages");
    table.parentElement.hidden = Boolean(data.parameters["from-stream"]); // nothing is searched
    table.append(make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Stage"),
        make("th", { scope: "col" }, "Seconds"), make("th", { scope: "col" }, "Share of total"))));
    const body = make("tbody");
    for (const [name, stage] of Object.entries(data.stages)) {
        const bar = make("span", { className: "bar" });
        bar.style.width = `${Math.max(0.3, Math.min(100, 100 * stage.busy))}%`;
        body.append(make("tr", { className: outer.includes(name) ? "" : "inner", dataset: { stage: name } },
            make("th", { scope: "row" }, name === "whole" ? "total" : name), make("td", { className: "number" }, stage.seconds.toFixed(3)),
            make("td", {}, make("span", { className: "track" }, bar), make("span", { className: "number" },
                `${(100 * stage.busy).toFixed(1)} %`))));
    }
    table.append(body);
}

/* Crops around a block, which is outlined. */
function crops(block) {
    const { scale, columns, rows } = data.pieces;
    const row = make("span", { className: "crops" });
    for (const name of ["target", "predicted", "residual"]) {
        const canvas = make("canvas", { role: "img", "aria-label": name });
        const context = resize(canvas, 88, Math.max(4, Math.round(88 * rows / columns)));
        canvas.style.height = "auto"; /* keeps the shape when the width shrinks */
        const unit = 88 / columns;
        context.imageSmoothingEnabled = false;
        context.drawImage(grayCanvas(bytesOf(block[name]), columns, rows), 0, 0, 88, 88 * rows / columns);
        context.strokeStyle = "rgb(0 0 0 / 0.7)";
        const box = [(block.x - block.left) / scale * unit, (block.y - block.top) / scale * unit,
            block.w / scale * unit, block.h / scale * unit];
        context.lineWidth = 3;
        context.strokeRect(...box);
        context.strokeStyle = "rgb(255 200 60)";
        context.lineWidth = 1.25;
        context.strokeRect(...box);
        row.append(canvas);
    }
    return row;
}

function makeGallery(onSelect) {
    const list = byId("gallery");
    if (data.costliest.length === 0) {
        list.replaceWith(make("p", {}, "Every block has cost 0: the prediction is exact."));
        return;
    }
    for (const block of data.costliest) {
        const size = data.parameters.partition ? `${block.w} x ${block.h} pixels ` : "";
        const details = [`${(block.cost / (block.w * block.h)).toFixed(1)} per pixel`,
            `frame ${block.frame}${BOTH ? ` (reference ${block.ref})` : ""}, ${size}at (${block.x}, ${block.y})`, `vector (${block.dx}, ${block.dy})`];
        const text = make("span", { className: "words" }, make("strong", {}, `Cost ${whole(block.cost)}`),
            ...details.map((detail) => make("span", {}, detail)));
        const button = make("button", { type: "button", dataset: { frame: block.frame, x: block.x, y: block.y,
            dx: block.dx, dy: block.dy, cost: block.cost, rank: block.rank } }, crops(block), text);
        button.addEventListener("click", () => onSelect(block.frame - data.first_field, block));
        list.append(make("li", { hidden: list.children.length >= 8 }, button));
    }
    const more = byId("more");
    more.hidden = list.children.length <= 8;
    more.textContent = `Show all ${list.children.length}`;
    more.addEventListener("click", () => {
        const first = list.querySelector("li[hidden] button");
        for (const item of list.children) {
            item.hidden = false;
        }
        more.hidden = true;
        first.focus();
    });
}

function rows(object) {
    return Object.entries(object).filter(([, value]) => value !== null && value !== "" && typeof value !== "object")
        .map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, name.replaceAll("_", " ")),
            make("td", {}, String(value))));
}

function makeRun() {
    const parts = { Input: data.input, Parameters: data.parameters, Engine: data.engine, Totals: data.totals,
        Pruning: data.elimination };
    for (const [title, object] of Object.entries(parts)) {
        byId("run").append(make("table", {}, make("caption", {}, title), make("tbody", {}, ...rows(object))));
    }
    const bytes = Number(byId("bytes").textContent);
    const scale = data.scale > 1 ? `, at ${data.scale === 2 ? "half" : `1/${data.scale}`} resolution` : "";
    const pairs = BOTH ? `${FRAME}s` : "frame pairs";
    const what = data.files ? `all pictures of every frame pair in the folder \u201cframes\u201d${scale}`
        : `motion of ${whole(shown.length)} of ${whole(fields.count)} ${pairs}, and all pictures of ${whole(data.sets.length)}${scale}`;
    byId("foot").textContent = `Made by gpume ${data.gpume}. ${megabytes(bytes)}; ${what}.`;
}

function makeParts(onSelect) {
    makeHead();
    makeCards();
    makeHistogram();
    makeStages();
    makeGallery(onSelect);
    makeRun();
}
