/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the report's data from the page's elements and formats numbers. The page's scripts share one
 * scope, in the order of src/CMakeLists.txt; the comment at the head of each lists what it adds.
 *
 * data    the contents of summary.json, and histogram, costliest, sets (see src/report/page.c)
 * fields  one array per statistic, with one entry per frame pair
 */
"use strict";

function bytesOf(text) {
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) {
        bytes[i] = letters.charCodeAt(i);
    }
    return bytes;
}

/* Reads numbers written by gpume_bytes_number and gpume_bytes_signed; those above 2^53 are rounded. */
class Numbers {
    constructor(bytes, at = 0) {
        this.bytes = bytes;
        this.at = at;
    }

    next() {
        let value = 0;
        let unit = 1;
        for (;;) {
            const digit = this.bytes[this.at++];
            if (digit < 0x80) {
                return value + digit * unit;
            }
            value += (digit - 0x80) * unit;
            unit *= 128;
        }
    }

    signed() {
        const twice = this.next();
        return twice % 2 ? -(twice + 1) / 2 : twice / 2;
    }
}

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
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

const whole = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 0 });
const fixed = (value, digits) => value === null ? "inf" : value.toFixed(digits);
const plain = (value, digits) => value.toLocaleString("en-US", { maximumFractionDigits: digits });

/* 12.3M for 12,300,000. */
function short(value) {
    for (const [unit, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
        if (Math.abs(value) >= unit) {
            return plain(value / unit, 2) + letter;
        }
    }
    return plain(value, 2);
}

function megabytes(bytes) {
    return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e3).toFixed(1)} kB`;
}

/* A new element; children are elements or text. */
function make(name, properties = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
        if (key === "dataset") {
            Object.assign(element.dataset, value);
        } else if (key.startsWith("aria-") || key === "role" || key === "for" || key === "scope") {
            element.setAttribute(key, value);
        } else {
            element[key] = value;
        }
    }
    element.append(...children);
    return element;
}

/* A colour named in page.css, for the current colour scheme. */
function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
