/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Colours and small drawings that more than one part needs.
 *
 * heat(share)          colour of a share of 1, dark to light, told apart by all eyes
 * direction(dx, dy)    colour of a motion's direction, as on overlays
 * sharp(canvas, w, h)  sizes a canvas in CSS pixels, gives its context for drawing in these
 */

/* As gpume_colour_of_heat: growing in lightness. */
const HEAT = [[0x00, 0x00, 0x04], [0x1b, 0x0c, 0x42], [0x4b, 0x0c, 0x6b], [0x78, 0x1c, 0x6d], [0xa5, 0x2c, 0x60],
    [0xcf, 0x44, 0x46], [0xed, 0x69, 0x25], [0xfb, 0x9a, 0x06], [0xf7, 0xd0, 0x3c], [0xfc, 0xff, 0xa4]];

/* As gpume_colour_of_direction: corners of the wheel, and how many of its steps lead to the next. */
const WHEEL = [[255, 0, 0, 15], [255, 255, 0, 6], [0, 255, 0, 4], [0, 255, 255, 11], [0, 0, 255, 13],
    [255, 0, 255, 6], [255, 0, 0, 0]];
const LIGHT_ENOUGH = 120;

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
    let place = dy === 0 && dx > 0 ? 0 : (Math.atan2(-dy, -dx) / Math.PI + 1) / 2 * 54;
    let corner = 0;
    while (corner < 5 && place >= WHEEL[corner][3]) {
        place -= WHEEL[corner++][3];
    }
    const hue = mixed(WHEEL, corner + place / WHEEL[corner][3]);
    const light = 0.30 * hue[0] + 0.59 * hue[1] + 0.11 * hue[2];
    const white = light < LIGHT_ENOUGH ? (LIGHT_ENOUGH - light) / (255 - light) : 0;
    return `rgb(${hue.slice(0, 3).map((value) => Math.round(value + white * (255 - value))).join(" ")})`;
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
