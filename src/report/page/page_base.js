/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the pages of runs and of comparisons share: reads the element "data" and packed numbers, formats numbers, makes
 * elements. The scripts of a page share one scope, in the order of src/CMakeLists.txt; the comment at the head of each
 * lists what it adds.
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

/* "1 px left and 3 px up"; x and y are a motion, in pixels. */
function motionWords(x, y) {
    const parts = [];
    if (x !== 0) {
        parts.push(`${plain(Math.abs(x), 3)} px ${x < 0 ? "left" : "right"}`);
    }
    if (y !== 0) {
        parts.push(`${plain(Math.abs(y), 3)} px ${y < 0 ? "up" : "down"}`);
    }
    return parts.join(" and ");
}

/* What a vector says: the content lay at the block plus the vector in the reference. A reference of null is unknown; noun:
 * "frame" or "field". */
function vectorWords(dx, dy, frame, reference, noun) {
    const later = reference !== null && reference > frame;
    const words = later ? motionWords(dx, dy) : motionWords(-dx, -dy);
    const name = reference === null ? "the reference" : `${noun} ${reference}`;
    if (later) {
        return words ? `moves ${words} until ${name}` : `does not move until ${name}`;
    }
    return words ? `moved ${words} since ${name}` : `did not move since ${name}`;
}
