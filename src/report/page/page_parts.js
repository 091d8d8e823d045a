/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the page that stand still: head, closing figures, histogram, stages, gallery, run.
 *
 * makeParts(onSelect)  once; onSelect(index) where a block of the gallery is chosen
 * drawHistogram()      again, after a change of size or colours
 */

function makeHead() {
    const { input, parameters } = data;
    const file = (name) => name === "-" ? "standard input" : name.replace(/^.*\//, "") || name;
    const name = input.reference ? `${file(input.reference)} to ${file(input.name)}` : file(input.name);
    const moves = input.frames_per_second && !input.reference; // stills have no rate
    const rate = moves ? `, ${plain(input.frames_per_second, 3)} frames a second` : "";
    const filter = parameters.prefilter ? `, searched through ${parameters.prefilter}` : "";
    const distance = parameters["ref-distance"], future = parameters.direction === "future";
    const before = distance > 1 || future
        ? `, reference ${distance} frame${distance > 1 ? "s" : ""} ${future ? "ahead" : "before"}` : "";
    document.title = `${name} - gpume report`;
    /* A long name may break behind its signs. */
    byId("title").append(...name.split(/(?<=[_.-])/).flatMap((part) => [part, make("wbr")]));
    byId("subtitle").textContent = `${input.width} x ${input.height} pixels, ${input.bits} bits${rate}; blocks of ` +
        `${parameters.block}, window ${parameters.window}${filter}${before}; ${data.engine.device}`;
}

function card(name, value, text, note) {
    return make("div", {}, make("dt", {}, name), make("dd", { dataset: { figure: name, value: String(value) } },
        make("strong", {}, text), note ? make("span", {}, note) : ""));
}

function makeCards() {
    const { means, totals, stages } = data;
    const seconds = stages.whole.seconds;
    const left = means.sad_before > 0 ? `${(100 * means.sad_after / means.sad_before).toFixed(1)} %` : "-";
    byId("cards").append(
        card("Fields", data.fields, whole(data.fields), `frames ${data.first_field} to ${data.last_field}`),
        card("Mean SAD after", means.sad_after, short(means.sad_after),
            `of ${short(means.sad_before)} before: ${left}`),
        card("Mean PSNR after", means.psnr_after, `${fixed(means.psnr_after, 3)} dB`,
            `${fixed(means.psnr_before, 3)} dB before`),
        card("Zero vectors", totals.zero, `${(100 * totals.zero / totals.blocks).toFixed(1)} %`,
            `of ${short(totals.blocks)} blocks`),
        card("Time", seconds, `${seconds.toFixed(3)} s`, `${plain(data.fields / seconds, 1)} fields a second`));
    if (data.checked !== undefined) {
        byId("cards").append(card("Checked", data.matched, data.matched === data.checked ? "all equal" : "differences",
            `${whole(data.matched)} of ${whole(data.checked)} vectors`));
    }
}

/* Bins by place, and where they are drawn, in screen pixels. */
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
    const context = sharp(canvas, Math.max(160, width + margin + 12), height + 44);
    context.fillStyle = colour("empty");
    context.fillRect(bins.left, bins.top, width, height);
    const side = bins.cell > 14 ? bins.cell - 1 : bins.cell + 0.3; /* gaps, or none at all */
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
    canvas.addEventListener("pointermove", (event) => {
        const box = canvas.getBoundingClientRect();
        const x = Math.floor((event.clientX - box.left - bins.left) / bins.cell) - bins.x;
        const y = Math.floor((event.clientY - box.top - bins.top) / bins.cell) - bins.y;
        if (Math.abs(x) <= bins.x && Math.abs(y) <= bins.y) {
            pickBin(x, y);
        }
    });
    canvas.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        if (step) {
            const [x, y] = bins.at || [0, 0];
            event.preventDefault();
            pickBin(bins.at ? x + step[0] : 0, bins.at ? y + step[1] : 0);
        }
    });
    byId("scale").append("1 ", ramp(120), ` ${whole(bins.largest)} vectors`);
    drawHistogram();
}

function makeStages() {
    const inner = ["upload", "match", "reduce", "rank", "readback"];
    const table = byId("stages");
    table.append(make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Stage"),
        make("th", { scope: "col" }, "Seconds"), make("th", { scope: "col" }, "Share of the whole"))));
    const body = make("tbody");
    for (const [name, stage] of Object.entries(data.stages)) {
        const bar = make("span", { className: "bar" });
        bar.style.width = `${Math.max(0.3, Math.min(100, 100 * stage.busy))}%`;
        body.append(make("tr", { className: inner.includes(name) ? "inner" : "", dataset: { stage: name } },
            make("th", { scope: "row" }, name), make("td", { className: "number" }, stage.seconds.toFixed(3)),
            make("td", {}, make("span", { className: "track" }, bar), make("span", { className: "number" },
                `${(100 * stage.busy).toFixed(1)} %`))));
    }
    table.append(body);
}

function pieces(block) {
    const { scale, columns, rows } = data.pieces;
    const row = make("span", { className: "pieces" });
    for (const name of ["target", "predicted", "residual"]) {
        const canvas = make("canvas", { role: "img", "aria-label": name });
        const context = sharp(canvas, 88, Math.max(4, Math.round(88 * rows / columns)));
        canvas.style.height = "auto"; /* as wide as there is room */
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
        list.replaceWith(make("p", {}, "No block has any cost: every one was found again as it is."));
        return;
    }
    for (const block of data.costliest) {
        const text = make("span", { className: "words" },
            make("strong", {}, `Cost ${whole(block.cost)}`), `${(block.cost / (block.w * block.h)).toFixed(1)} a pixel`,
            `frame ${block.frame}, at (${block.x}, ${block.y})`, `vector (${block.dx}, ${block.dy})`);
        for (const child of [...text.childNodes].slice(1)) {
            child.replaceWith(make("span", {}, child.textContent));
        }
        const button = make("button", { type: "button", dataset: { frame: block.frame, x: block.x, y: block.y,
            dx: block.dx, dy: block.dy, cost: block.cost, rank: block.rank } }, pieces(block), text);
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

function rows(object, titles = {}) {
    return Object.entries(object).filter(([, value]) => value !== null && value !== "" && typeof value !== "object")
        .map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, titles[name] || name.replaceAll("_", " ")),
            make("td", {}, String(value))));
}

function makeRun() {
    const parts = { Input: data.input, Parameters: data.parameters, Engine: data.engine, Totals: data.totals,
        Elimination: data.elimination };
    for (const [title, object] of Object.entries(parts)) {
        byId("run").append(make("table", {}, make("caption", {}, title), make("tbody", {}, ...rows(object))));
    }
    const bytes = Number(byId("bytes").textContent);
    const size = byId("foot");
    size.dataset.bytes = bytes;
    size.textContent = `gpume ${data.gpume}. This file has ${megabytes(bytes)}; ${data.sets.length} of ` +
        `${whole(data.fields)} fields have pictures` + (data.scale > 1 ? `, of 1/${data.scale} of their size a side.` : ".");
}

function makeParts(onSelect) {
    makeHead();
    makeCards();
    makeHistogram();
    makeStages();
    makeGallery(onSelect);
    makeRun();
}
