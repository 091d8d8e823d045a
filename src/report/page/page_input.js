/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The viewer's pointer and keys: choosing blocks, zooming, moving the picture and the divider.
 *
 * listenToInput(canvas)   begins
 * moveDivider(share)      moves the divider to a share of the width
 */

/* Moves the upper left corner to (x, y), as far as the picture allows. */
function moveView(x, y) {
    view.x = Math.max(0, Math.min(WIDTH - WIDTH / view.zoom, x));
    view.y = Math.max(0, Math.min(HEIGHT - HEIGHT / view.zoom, y));
}

/* Zooms while (x, y) keeps its place on screen. */
function zoomTo(zoom, x, y) {
    const old = view.zoom;
    view.zoom = Math.max(1, Math.min(32, zoom));
    moveView(x - (x - view.x) * old / view.zoom, y - (y - view.y) * old / view.zoom);
    drawViewer();
}

function zoomBy(factor) {
    const { x, y } = view.block >= 0 ? rectangle(view.block)
        : { x: view.x + WIDTH / view.zoom / 2, y: view.y + HEIGHT / view.zoom / 2 };
    zoomTo(view.zoom * factor, x, y);
}

/* Scrolls a block into view. */
function follow(index) {
    const { x, y, w, h } = rectangle(index);
    const seenX = WIDTH / view.zoom;
    const seenY = HEIGHT / view.zoom;
    const along = (start, seen, at, side) => at < start ? at : at + side > start + seen ? at + side - seen : start;
    moveView(along(view.x, seenX, x, w), along(view.y, seenY, y, h));
}

function stageKey(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const zooms = { "+": 2, "=": 2, "-": 0.5, "0": 0 };
    if (steps[event.key] && view.vectors) {
        const [dx, dy] = view.block < 0 ? [0, 0] : steps[event.key];
        const { x, y, w, h } = rectangle(Math.max(0, view.block));
        const step = (at, side, direction) => direction > 0 ? at + side : at + direction;
        const to = blockAt(Math.max(0, Math.min(WIDTH - 1, step(x, w, dx))), Math.max(0, Math.min(HEIGHT - 1, step(y, h, dy))));
        follow(to);
        pinBlock(to);
    } else if (zooms[event.key] !== undefined) {
        zoomBy(zooms[event.key]);
    } else if (event.key === "Escape" && view.pinned) {
        unpin();
    } else {
        return;
    }
    event.preventDefault();
}

function moveDivider(share) {
    view.divider = Math.max(0, Math.min(1, share));
    byId("divider").value = 100 * view.divider;
    drawViewer();
}

const GRIP = { mouse: 12, touch: 22 }; /* CSS pixels on either side of the divider */
const onDivider = (event, box) => view.other !== "none" &&
    Math.abs(event.clientX - box.left - view.screenWidth * view.divider) <= (GRIP[event.pointerType] || GRIP.mouse);

/* Where the pointer is, in pixels of the video. */
function placeOf(event, box) {
    return { x: view.x + (event.clientX - box.left) / screenScale(), y: view.y + (event.clientY - box.top) / screenScale() };
}

const blockUnder = ({ x, y }) => x >= 0 && y >= 0 && x < WIDTH && y < HEIGHT ? blockAt(x, y) : -1;

/* Two fingers enlarge the picture and move it: what was between them stays there. */
function pinch(factor, before, after) {
    const box = byId("stage").getBoundingClientRect();
    const from = placeOf(before, box);
    view.zoom = Math.max(1, Math.min(32, view.zoom * factor));
    const to = placeOf(after, box);
    moveView(view.x + from.x - to.x, view.y + from.y - to.y);
    drawViewer();
}

/* Pointing at a block shows it and a click or tap keeps it; dragging moves the divider, or the picture if it is enlarged. */
function listenToPointer(canvas) {
    let drag = null; /* { divider } or { x, y }, where it began */
    let from = null; /* the event with which the pointer went down */
    const isPinch = listenToPinch(canvas, pinch);
    canvas.addEventListener("pointerdown", (event) => {
        const box = canvas.getBoundingClientRect();
        drag = onDivider(event, box) ? { divider: true } : placeOf(event, box);
        from = event;
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
        const box = canvas.getBoundingClientRect();
        const place = placeOf(event, box);
        if (isPinch()) {
            return;
        }
        canvas.style.cursor = onDivider(event, box) ? "ew-resize" : view.zoom > 1 && drag ? "grabbing" : "crosshair";
        if (drag && drag.divider) {
            moveDivider((event.clientX - box.left) / view.screenWidth);
        } else if (drag && view.zoom > 1) {
            moveView(view.x + drag.x - place.x, view.y + drag.y - place.y);
            drawViewer();
        } else if (!view.pinned && event.pointerType !== "touch" && blockUnder(place) >= 0) {
            pickBlock(blockUnder(place));
        }
    });
    canvas.addEventListener("pointerup", (event) => {
        const at = blockUnder(placeOf(event, canvas.getBoundingClientRect()));
        if (drag && !drag.divider && !isPinch() && isTap(from, event) && at >= 0) {
            view.pinned && at === view.block ? unpin() : pinBlock(at);
        }
    });
    for (const name of ["pointerup", "pointercancel"]) {
        canvas.addEventListener(name, () => { drag = null; });
    }
}

/* The wheel zooms. Turned back beyond the whole picture, it scrolls the page as usual. */
function listenToWheel(canvas) {
    canvas.addEventListener("wheel", (event) => {
        const closer = event.deltaY < 0;
        if (closer || view.zoom > 1) {
            const { x, y } = placeOf(event, canvas.getBoundingClientRect());
            event.preventDefault();
            zoomTo(view.zoom * (closer ? 1.25 : 0.8), x, y);
        }
    }, { passive: false });
}

function listenToInput(canvas) {
    byId("zoom-in").addEventListener("click", () => zoomBy(2));
    byId("zoom-out").addEventListener("click", () => zoomBy(0.5));
    byId("fit").addEventListener("click", () => zoomBy(0));
    canvas.addEventListener("keydown", stageKey);
    listenToPointer(canvas);
    listenToWheel(canvas);
}
