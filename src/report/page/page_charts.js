/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The charts of all frame pairs, drawn by uPlot.
 *
 * makeCharts(onSelect)  makes them, also again when the colours change; a click calls onSelect(index)
 * showInCharts(index)   marks a frame pair
 * resizeCharts()        fits them to the width of the page
 * resetZoom()           shows all frame pairs
 */

const charts = [];
let logarithmic = false; /* is the SAD axis logarithmic? */
let marked = 0;      /* index of the marked field */
let syncing = false; /* the other charts are following a zoom */

const fromZero = (u, min, max) => [0, max > 0 ? 1.05 * max : 1];

const CHARTS = [
    { title: "SAD", unit: "sum of absolute differences", axis: "SAD", text: short, range: fromZero,
        lines: [["before", "sadBefore", whole], ["after", "sadAfter", whole]] },
    { title: "PSNR", unit: "in dB; gaps where it is infinite", axis: "dB", text: (v) => plain(v, 1),
        lines: [["before", "psnrBefore", (v) => fixed(v, 3)], ["after", "psnrAfter", (v) => fixed(v, 3)]] },
    { title: "Vector length", unit: "in pixels", axis: "pixels", text: (v) => plain(v, 1), range: fromZero,
        lines: [["largest", "largest", (v) => fixed(v, 3)], ["mean", "mean", (v) => fixed(v, 3)]] },
    { title: "Zero vectors", unit: "percentage of blocks", axis: "%", text: (v) => plain(v, 1), range: () => [0, 104],
        lines: [["zero", "zeroShare", (v) => fixed(v, 2)]] },
];

/* Frames with pictures or, if all have some, those with all pictures. */
const ticked = () => shown.length < fields.count ? shown : data.sets;

/* What drawMarks draws, in words. */
function makeMarks() {
    const mark = (kind, text) => make("span", {}, make("span", { className: `mark ${kind}` }), ` ${text}`);
    const { length } = ticked();
    byId("marks").append(mark("selected", "selected frame pair"));
    if (length > 0) {
        byId("marks").append(mark("tick", `${shown.length < fields.count ? "has pictures" : "has all pictures"} in this page (${whole(length)} of ${whole(fields.count)})`));
    }
    if (cutIndexes.length > 0) {
        byId("marks").append(mark("cut", "possible scene cut"));
    }
}

/* Possible scene cuts as dashed lines, frames with pictures as ticks at the bottom, the marked frame
 * as a solid line. */
function drawMarks(u) {
    const { left, top, width, height } = u.bbox;
    const at = (frame) => Math.round(u.valToPos(frame, "x", true));
    const seen = (x) => x >= left - 1 && x <= left + width + 1;
    const ratio = window.devicePixelRatio || 1;
    const context = u.ctx;
    const line = (x, from, to, stroke, dash, lineWidth) => {
        context.beginPath();
        context.strokeStyle = stroke;
        context.lineWidth = lineWidth * ratio;
        context.setLineDash(dash.map((part) => part * ratio));
        context.moveTo(x, from);
        context.lineTo(x, to);
        context.stroke();
    };
    context.save();
    for (const index of cutIndexes) {
        const x = at(fields.frame[index]);
        if (seen(x)) {
            line(x, top, top + height, colour("cut"), [4, 4], 1);
        }
    }
    for (const set of ticked()) {
        const x = at(set.frame);
        if (seen(x)) {
            line(x, top + height - 6 * ratio, top + height, colour("text"), [], 2);
        }
    }
    const x = at(fields.frame[marked]);
    if (seen(x)) {
        line(x, top, top + height, colour("accent"), [], 2);
    }
    context.restore();
}

const cutIndexes = [];
for (let i = 0; i < fields.count; i++) {
    if (fields.cut[i]) {
        cutIndexes.push(i);
    }
}

/* Zooms the other charts like this one. */
function shareZoom(u, key) {
    if (key !== "x" || syncing) {
        return;
    }
    syncing = true;
    const { min, max } = u.scales.x;
    for (const other of charts) {
        if (other !== u) {
            other.setScale("x", { min, max });
        }
    }
    const first = fields.frame[0];
    const last = fields.frame[fields.count - 1];
    byId("unzoom").hidden = min <= first && max >= last;
    syncing = false;
}

function resetZoom() {
    const [min, max] = rangeOfFields(null, fields.frame[0], fields.frame[fields.count - 1]);
    charts[0].setScale("x", { min, max });
}

/* A single frame gets a margin on either side. */
function rangeOfFields(u, min, max) {
    return min === max ? [min - 1, max + 1] : [min, max];
}

function series(name, column, text, place) {
    const stroke = () => colour(place === 0 ? "before" : "after");
    return {
        label: name,
        stroke,
        width: place === 0 ? 1.5 : 2,
        dash: place === 0 ? [6, 3] : undefined,
        points: { show: fields.count < 60, size: 5, fill: stroke },
        value: (u, value, line, index) => index === null || index === undefined || !fields.has[index] ? "" : text(fields[column][index]),
    };
}

/* Would the SAD of a few frame pairs, such as cuts, flatten the rest of the curve? */
function hasPeaks() {
    const sorted = Float64Array.from(fields.sadBefore.filter((value) => value !== null)).sort();
    return sorted[sorted.length - 1] > 8 * sorted[Math.floor(0.9 * (sorted.length - 1))] && sorted[0] > 0;
}

/* On a logarithmic axis 0 is drawn as 1; the legend still reads 0. */
function columnsOf(chart) {
    const rest = chart.lines.map((line) => fields[line[1]]);
    return [fields.frame, ...(chart.title === "SAD" && logarithmic
        ? rest.map((column) => column.map((value) => value === null ? null : Math.max(1, value))) : rest)];
}

function powersOfTen(u, axis, min, max) {
    const all = [];
    for (let power = Math.ceil(Math.log10(min)); 10 ** power <= max; power++) {
        all.push(10 ** power);
    }
    return all;
}

/* Axis steps for frame numbers: integers only. */
const WHOLE_STEPS = [];
for (let power = 1; power < 1e12; power *= 10) {
    WHOLE_STEPS.push(power, 2 * power, 5 * power);
}

const chartHeight = (width) => width < 500 ? 190 : 220;

function chartOptions(chart, width) {
    const axis = { stroke: () => colour("muted"), grid: { stroke: () => colour("line"), width: 1 },
        ticks: { stroke: () => colour("line"), width: 1 }, font: "12px system-ui, sans-serif",
        labelFont: "12px system-ui, sans-serif", labelSize: 18, labelGap: 2 };
    const single = chart.lines.length === 1;
    const powers = chart.title === "SAD" && logarithmic;
    return {
        width,
        height: chartHeight(width),
        cursor: { sync: { key: "fields" }, y: false, drag: { x: true, y: false, dist: 8 }, points: { size: 7 } },
        select: { show: true },
        scales: { x: { time: false, range: rangeOfFields },
            y: powers ? { distr: 3 } : { range: chart.range } },
        axes: [{ ...axis, size: 30, incrs: WHOLE_STEPS, label: FRAME }, { ...axis, size: 52, label: chart.axis, ...(powers ? { splits: powersOfTen, filter: (u, at) => at } : {}),
            values: (u, ticks) => ticks.map((tick) => tick === null ? "" : chart.text(tick)) }],
        series: [{ label: "frame", value: (u, value) => value === null ? "" : String(value) },
            ...chart.lines.map(([name, column, text], i) => series(name, column, text, single ? 1 : i))],
        hooks: { draw: [drawMarks], setScale: [shareZoom], ready: [(u) => showInChart(u)] },
        legend: { live: true },
    };
}

/* Selects on a click, but not at the end of a drag. */
function listen(u, onSelect) {
    let from = 0;
    u.over.addEventListener("pointerdown", (event) => { from = event.clientX; });
    u.over.addEventListener("click", (event) => {
        if (Math.abs(event.clientX - from) < 8) {
            onSelect(u.posToIdx(event.clientX - u.over.getBoundingClientRect().left));
        }
    });
    u.over.addEventListener("mouseleave", () => showInCharts(marked));
}

function chartWidth() {
    const box = byId("charts");
    const columns = getComputedStyle(box).gridTemplateColumns.split(" ").length; // as page.css decides
    return Math.max(220, Math.floor((box.clientWidth - (columns - 1) * 24) / columns));
}

/* Explains lines that have no finite value to draw. */
function explainGaps(chart) {
    const names = chart.lines.filter(([, column]) => !fields[column].some((value) => value !== null))
        .map(([name]) => name);
    if (names.length === 0) {
        return "";
    }
    return names.length === chart.lines.length
        ? `${chart.title} is infinite for every frame pair: the frames are identical.`
        : `${chart.title} ${names[0]} the search is infinite for every frame pair: the prediction is exact.`;
}

function makeCharts(onSelect) {
    const box = byId("charts");
    for (const u of charts.splice(0)) {
        u.destroy();
    }
    box.replaceChildren();
    for (const chart of CHARTS) {
        const place = make("div", { className: "plot" });
        box.append(make("figure", {}, make("figcaption", {}, make("strong", {}, chart.title), ` ${chart.unit}`), place));
        const u = new uPlot(chartOptions(chart, chartWidth()), columnsOf(chart), place);
        const words = explainGaps(chart);
        if (words) {
            u.over.append(make("p", { className: "nothing" }, words));
        }
        listen(u, onSelect);
        charts.push(u);
    }
}

function resizeCharts() {
    const width = chartWidth();
    for (const u of charts) {
        u.setSize({ width, height: chartHeight(width) });
    }
}

function showInChart(u) {
    const left = u.valToPos(fields.frame[marked], "x");
    u.setCursor({ left, top: left < 0 ? -10 : 10 }, false, false);
    u.redraw(false, false);
}

function showInCharts(index) {
    marked = index;
    for (const u of charts) {
        showInChart(u);
    }
}
