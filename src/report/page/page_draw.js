/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Colours and small drawings that more than one part needs.
 *
 * heat(share)        colour of a share of 1: dark blue to yellow, told apart by all eyes
 * direction(dx, dy)  colour of a vector's direction
 * sharp(canvas, w, h)  sizes a canvas in CSS pixels, gives its context for drawing in these
 */

/* Even in lightness from one to the next, blue to yellow: no red beside green. */
const HEAT = [[0, 32, 77], [0, 51, 111], [57, 72, 107], [87, 92, 109], [112, 113, 115], [138, 135, 121],
    [166, 157, 117], [196, 181, 108], [228, 207, 91], [255, 234, 70]];

/* Right, down, left, up; between them mixtures. */
const DIRECTIONS = [[240, 165, 0], [0, 170, 125], [95, 185, 240], [225, 120, 180]];

function mixed(stops, place) {
    const first = Math.min(Math.floor(place), stops.length - 1);
    const second = Math.min(first + 1, stops.length - 1);
    const share = place - first;
    return stops[first].map((value, i) => Math.round(value + (stops[second][i] - value) * share));
}

function heatParts(share) {
    return mixed(HEAT, Math.max(0, Math.min(1, share)) * (HEAT.length - 1));
}

function heat(share) {
    return `rgb(${heatParts(share).join(" ")})`;
}

function direction(dx, dy) {
    const turn = (Math.atan2(dy, dx) / (2 * Math.PI) + 1) % 1;
    return `rgb(${mixed([...DIRECTIONS, DIRECTIONS[0]], 4 * turn).join(" ")})`;
}

function sharp(canvas, width, height) {
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    context.setTransform(canvas.width / width, 0, 0, canvas.height / height, 0, 0);
    return context;
}

/* A canvas of gray samples, to be drawn from. */
function grayCanvas(bytes, width, height) {
    const canvas = make("canvas", { width, height });
    const image = new ImageData(width, height);
    for (let i = 0; i < bytes.length; i++) {
        image.data.set([bytes[i], bytes[i], bytes[i], 255], 4 * i);
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
}
