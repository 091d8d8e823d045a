/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two fingers on a picture, on the pages of runs and of comparisons. One finger reaches the pages as any pointer does.
 *
 * listenToPinch(canvas, change)   calls change(factor, before, after) while two fingers move: how much farther apart they
 *                                 are, and the middle between them, as clientX and clientY. Returns a function: does the
 *                                 present or last gesture have, or did it have, two fingers?
 * isTap(from, event)              has the pointer hardly moved since it went down?
 */

function listenToPinch(canvas, change) {
    const fingers = new Map(); /* by number of the pointer */
    let pinched = false;
    const middle = () => {
        const [a, b] = [...fingers.values()];
        return { clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2,
            apart: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) };
    };
    const noted = ({ clientX, clientY }) => ({ clientX, clientY });
    canvas.addEventListener("pointerdown", (event) => {
        if (event.pointerType === "touch") {
            pinched = pinched && fingers.size > 0;
            fingers.set(event.pointerId, noted(event));
            pinched = pinched || fingers.size > 1;
        } else {
            pinched = false;
        }
    }, true);
    canvas.addEventListener("pointermove", (event) => {
        if (fingers.has(event.pointerId)) {
            const before = fingers.size === 2 && middle();
            fingers.set(event.pointerId, noted(event));
            if (before) {
                const after = middle();
                change(after.apart / Math.max(1, before.apart), before, after);
            }
        }
    }, true);
    for (const name of ["pointerup", "pointercancel"]) {
        canvas.addEventListener(name, (event) => fingers.delete(event.pointerId), true);
    }
    /* Else the browser would scroll with two fingers. */
    canvas.addEventListener("touchmove", (event) => {
        if (event.touches.length > 1) {
            event.preventDefault();
        }
    }, { passive: false });
    return () => pinched;
}

/* Fingers are less steady than mice; CSS pixels. */
const isTap = (from, event) => from !== null &&
    Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) < (event.pointerType === "touch" ? 12 : 5);
