/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data of a run, from the page's elements.
 *
 * data    the contents of summary.json, and histogram, costliest, sets (see src/report/page.c)
 * fields  one array per statistic, with one entry per frame pair
 * FRAME   what is searched: "frame", or "field" of interlaced video
 */

const FRAME = /(^|,)separatefields$/.test(data.parameters.vf || "") ? "field" : "frame";

const SHAPES = String(data.parameters.block).split(",").map((shape) => {
    const [w, h = w] = shape.split("x").map(Number); // pixels
    return { w, h, columns: Math.ceil(data.input.width / w) };
});

/* An infinite PSNR, that of equal frames, is null. */
function readFields() {
    const count = data.fields;
    const blocks = data.totals.blocks / count; // with a partition, their mean
    const peak = 2 ** data.input.bits - 1;
    const pixels = data.input.width * data.input.height;
    const numbers = new Numbers(bytesOf(byId("fields").textContent));
    const names = ["frame", "time", "zero", "zeroShare", "sadBefore", "sadAfter", "sseBefore", "sseAfter", "dx",
        "dy", "mean", "largest", "costliest", "cut"];
    const table = { count, psnrBefore: new Array(count), psnrAfter: new Array(count) };
    for (const name of names) {
        table[name] = new Float64Array(count);
    }
    const psnr = (sse) => sse > 0 ? 10 * Math.log10(peak * peak * pixels / sse) : null;
    let microseconds = 0;
    for (let i = 0; i < count; i++) {
        microseconds += numbers.signed();
        table.frame[i] = data.first_field + i;
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

const fields = readFields();
