/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Colours and small drawings that more than one part needs.
 *
 * heat(share)          colour of a share of 1, dark to light, told apart by all eyes
 * direction(dx, dy)    colour of a motion's direction, as on overlays
 * ramp(width)          a canvas with all heats from left to right
 * wheel(side)          a canvas with a ring of all directions
 * sharp(canvas, w, h)  sizes a canvas in CSS pixels, gives its context for drawing in these
 */

/* Tables of src/draw/colours.h, three bytes a colour. */
const HEAT = bytesOf(data.colours.heat);
const DIRECTIONS = bytesOf(data.colours.directions);

function heatParts(share) {
    const i = Math.round(Math.max(0, Math.min(1, share)) * (HEAT.length / 3 - 1));
    return HEAT.subarray(3 * i, 3 * i + 3);
}

function heat(share) {
    return `rgb(${heatParts(share).join(" ")})`;
}

function direction(dx, dy) {
    const count = DIRECTIONS.length / 3;
    const i = Math.round((Math.atan2(dy, dx) / (2 * Math.PI) + 1) * count) % count;
    return `rgb(${DIRECTIONS.subarray(3 * i, 3 * i + 3).join(" ")})`;
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

function ramp(width) {
    const canvas = make("canvas", { className: "ramp" });
    const context = sharp(canvas, width, 12);
    for (let x = 0; x < width; x++) {
        context.fillStyle = heat(x / (width - 1));
        context.fillRect(x, 0, 1.5, 12);
    }
    return canvas;
}

function wheel(side) {
    const canvas = make("canvas");
    const context = sharp(canvas, side, side);
    context.lineWidth = 0.28 * side;
    for (let i = 0; i < 180; i++) {
        const angle = i * Math.PI / 90;
        context.beginPath();
        context.strokeStyle = direction(Math.cos(angle), Math.sin(angle));
        context.arc(side / 2, side / 2, 0.36 * side, angle - 0.03, angle + 0.03);
        context.stroke();
    }
    return canvas;
}
