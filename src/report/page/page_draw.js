/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Colours and small drawings that several parts share. The colours are those of --overlay.
 *
 * heat(value)            CSS colour of a value from 0 (dark) to 1 (light)
 * direction(dx, dy)      CSS colour of a direction of motion
 * ramp(width)            a canvas with the colours of heat() from left to right
 * wheel(side)            a canvas with the colours of direction() in a ring
 * drawArrow(context, ...) an arrow in the colour of its direction
 * resize(canvas, w, h)   sets a canvas to w x h CSS pixels; returns a context that draws in CSS pixels
 */

/* Tables of src/draw/legend.h, three bytes per colour. */
const HEAT = bytesOf(data.colours.heat);
const DIRECTIONS = bytesOf(data.colours.directions);

function heatBytes(value) {
    const i = Math.round(Math.max(0, Math.min(1, value)) * (HEAT.length / 3 - 1));
    return HEAT.subarray(3 * i, 3 * i + 3);
}

function heat(value) {
    return `rgb(${heatBytes(value).join(" ")})`;
}

function directionBytes(dx, dy) {
    const count = DIRECTIONS.length / 3;
    const i = Math.round((Math.atan2(dy, dx) / (2 * Math.PI) + 1) * count) % count;
    return DIRECTIONS.subarray(3 * i, 3 * i + 3);
}

function direction(dx, dy) {
    return `rgb(${directionBytes(dx, dy).join(" ")})`;
}

function resize(canvas, width, height) {
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    context.setTransform(canvas.width / width, 0, 0, canvas.height / height, 0, 0);
    return context;
}

/* A canvas with the given gray samples. */
function grayCanvas(bytes, width, height) {
    const canvas = make("canvas", { width, height });
    const image = new ImageData(width, height);
    for (let i = 0; i < bytes.length; i++) {
        image.data.fill(bytes[i], 4 * i, 4 * i + 3);
        image.data[4 * i + 3] = 255;
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
}

function ramp(width) {
    const canvas = make("canvas", { className: "ramp" });
    const context = resize(canvas, width, 12);
    for (let x = 0; x < width; x++) {
        context.fillStyle = heat(x / (width - 1));
        context.fillRect(x, 0, 1.5, 12);
    }
    return canvas;
}

function wheel(side) {
    const canvas = make("canvas");
    const context = resize(canvas, side, side);
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

/* A dot if shorter than a pixel. A dark outline makes arrows visible on any picture. */
function drawArrow(context, x, y, dx, dy, room) {
    const length = Math.hypot(dx, dy);
    const width = Math.min(2, Math.max(1, room / 10));
    if (length < 1) {
        context.fillStyle = "rgb(0 0 0 / 0.4)";
        context.fillRect(x - 1, y - 1, 2, 2);
        context.fillStyle = "rgb(255 255 255 / 0.7)";
        context.fillRect(x - 0.5, y - 0.5, 1, 1);
        return;
    }
    x -= dx / 2; /* centred on the block */
    y -= dy / 2;
    const head = Math.min(length * 0.6, 3 + 1.5 * width);
    const ex = dx / length;
    const ey = dy / length;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + dx, y + dy);
    context.moveTo(x + dx - head * (ex - 0.6 * ey), y + dy - head * (ey + 0.6 * ex));
    context.lineTo(x + dx, y + dy);
    context.lineTo(x + dx - head * (ex + 0.6 * ey), y + dy - head * (ey - 0.6 * ex));
    context.lineCap = "round";
    context.strokeStyle = "rgb(0 0 0 / 0.75)";
    context.lineWidth = width + 1.6;
    context.stroke();
    context.strokeStyle = direction(dx, dy);
    context.lineWidth = width;
    context.stroke();
}
