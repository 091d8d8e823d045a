/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data of a run, from the page's elements.
 *
 * data    the contents of summary.json, and histogram, costliest, sets (see src/report/sink.c)
 * fields  one array per statistic, with one entry per target frame; null where it has no frame pair
 * side    with --direction both alone a target has two frame pairs: 0 with the reference before it, 1 with that after it;
 *         in other runs 0. BOTH: are there two? fields are those of this side.
 * useSide(index)  makes the wanted side that of a target, or the other one if the target has no such pair; has it changed?
 * FRAME   what is searched: "frame", or "field" of interlaced video
 */

const FRAME = /(^|,)separatefields$/.test(data.parameters.vf || "") ? "field" : "frame";

const SHAPES = String(data.parameters.block).split(",").map((shape) => {
    const [w, h = w] = shape.split("x").map(Number); // pixels
    return { w, h, columns: Math.ceil(data.input.width / w) };
});

const BOTH = data.sides.length > 1;

/* An infinite PSNR, that of equal frames, is null. */
function readFields(element, { first, count: pairs }) {
    const count = data.last_field - data.first_field + 1;
    const blocks = data.totals.blocks / data.fields; // with a partition, their mean
    const peak = 2 ** data.input.bits - 1;
    const pixels = data.input.width * data.input.height;
    const numbers = new Numbers(bytesOf(byId(element).textContent));
    const names = ["time", "zero", "zeroShare", "sadBefore", "sadAfter", "sseBefore", "sseAfter", "dx",
        "dy", "mean", "largest", "costliest", "cut"];
    const none = () => new Array(count).fill(null);
    const table = { count, has: new Array(count).fill(false), psnrBefore: none(), psnrAfter: none(),
        frame: Array.from({ length: count }, (unused, i) => data.first_field + i) };
    for (const name of names) {
        table[name] = none();
    }
    const psnr = (sse) => sse > 0 ? 10 * Math.log10(peak * peak * pixels / sse) : null;
    let microseconds = 0;
    const start = pairs > 0 ? first - data.first_field : 0;
    for (let i = start; i < start + pairs; i++) {
        microseconds += numbers.signed();
        table.has[i] = true;
        table.time[i] = microseconds / 1e6;
        table.zero[i] = numbers.next();
        table.zeroShare[i] = 100 * table.zero[i] / blocks;
        table.sadBefore[i] = numbers.next();
        table.sadAfter[i] = numbers.next();
        table.sseBefore[i] = numbers.next();
        table.sseAfter[i] = numbers.next();
        table.psnrBefore[i] = psnr(table.sseBefore[i]);
        table.psnrAfter[i] = psnr(table.sseAfter[i]);
        table.dx[i] = numbers.signed() / data.units / blocks;
        table.dy[i] = numbers.signed() / data.units / blocks;
        table.mean[i] = numbers.next() / 1000;
        table.largest[i] = Math.sqrt(numbers.next()) / data.units;
        const last = numbers.next();
        table.costliest[i] = Math.floor(last / 2);
        table.cut[i] = last % 2;
    }
    return table;
}

const tables = data.sides.map((one, i) => readFields(i === 0 ? "fields" : "fields-future", one));
if (BOTH) { // a target has one time
    const times = tables[0].time.map((time, i) => time ?? tables[1].time[i]);
    tables.forEach((table) => { table.time = times; });
}
let wantedSide = 0, side = 0, fields = tables[0];

function useSide(index) {
    const before = side;
    side = BOTH && !tables[wantedSide].has[index] ? 1 - wantedSide : wantedSide;
    fields = tables[side];
    return side !== before;
}
