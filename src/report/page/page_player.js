/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps and plays through the frames that have pictures; the page's address, which leads to a frame, a block and a layer.
 *
 * openPlayer(select)   makes the controls; select(index) shows a frame pair and returns a promise
 * showPlace(index)     shows where the frame pair is
 * keepAddress()        puts what is shown into the page's address
 * readAddress()        {index, block, side, layer} of the page's address; what it does not say is null
 */

const player = { playing: false, speed: 0.5, select: null };

const stepFrom = (frame, by) => by > 0 ? shown.find((set) => set.frame > frame)
    : shown.findLast((set) => set.frame < frame);

async function step(by) {
    const next = stepFrom(fields.frame[current], by);
    if (next) {
        await player.select(next.frame - data.first_field);
    }
}

/* Where the slider stops: at the next frame that has pictures, on its way. */
function stopAt(index) {
    const frame = data.first_field + index;
    const stop = index > current ? shown.find((set) => set.frame >= frame) : shown.findLast((set) => set.frame <= frame);
    return stop ? stop.frame - data.first_field : index;
}

/* Milliseconds from one frame to the next, by their times in the video. */
function pause(from, to) {
    const rate = data.input.frames_per_second || 25;
    const apart = fields.time[to] - fields.time[from];
    const seconds = apart > 0 && apart < 10 ? apart : Math.max(1, to - from) / rate;
    return Math.min(3000, 1000 * seconds / player.speed);
}

const sleep = (milliseconds) => new Promise((done) => { setTimeout(done, Math.max(0, milliseconds)); });

/* From the last frame it goes on with the first. */
async function play() {
    while (player.playing) {
        const from = current;
        const next = stepFrom(fields.frame[from], 1) || shown[0];
        const began = performance.now();
        const to = next.frame - data.first_field;
        await Promise.all([loadPictures(next.frame), sleep(to > from ? pause(from, to) : 700)]);
        if (player.playing && current === from) {
            await player.select(to);
        }
        await sleep(performance.now() - began < 5 ? 15 : 0); /* lets the page breathe */
    }
}

function setPlaying(on) {
    const start = on && !player.playing && shown.length > 1;
    player.playing = on && shown.length > 1;
    byId("play").textContent = player.playing ? "Pause" : "Play";
    byId("play").setAttribute("aria-pressed", String(player.playing));
    byId("play").dataset.playing = player.playing;
    if (start) {
        play();
    } else if (!on) {
        keepAddress();
    }
}

function showPlace(index) {
    const frame = fields.frame[index];
    showSide(index);
    byId("slider").value = index;
    byId("slider").setAttribute("aria-valuetext", `frame ${frame}`);
    byId("place").textContent = `${frame} / ${data.last_field}`;
    byId("previous").disabled = !stepFrom(frame, -1);
    byId("next").disabled = !stepFrom(frame, 1);
}

/* Blocks are named by column and row in the grid of the smallest shape. */
function keepAddress() {
    if (player.playing) {
        return;
    }
    const parts = [`frame=${fields.frame[current]}`];
    if (view.pinned && view.block >= 0 && view.frame === fields.frame[current]) {
        const { x, y } = rectangle(view.block);
        parts.push(`block=${x / CELL_W},${y / CELL_H}`);
    }
    if (side === 1) {
        parts.push("reference=after");
    }
    if (view.main !== "overlay") {
        parts.push(`layer=${view.main}`);
    }
    history.replaceState(null, "", `#${parts.join("&")}`);
}

function readAddress() {
    const parts = new Map(location.hash.slice(1).split("&").map((part) => part.split("=")));
    const index = /^[0-9]+$/.test(parts.get("frame")) ? Number(parts.get("frame")) - data.first_field : null;
    const place = (parts.get("block") || "").match(/^([0-9]+),([0-9]+)$/);
    const block = place && { x: place[1] * CELL_W, y: place[2] * CELL_H };
    return {
        index: index !== null && index >= 0 && index < fields.count ? index : null,
        block: block && block.x < WIDTH && block.y < HEIGHT ? block : null,
        side: BOTH && parts.get("reference") === "after" ? 1 : 0,
        layer: PICTURES.some(([name]) => name === parts.get("layer")) ? parts.get("layer") : null,
    };
}

function toggleFull() {
    if (document.fullscreenElement) {
        document.exitFullscreen();
    } else {
        byId("screen").requestFullscreen();
    }
}

/* Keys of the whole section, unless the element that has the focus uses them itself. */
function playerKey(event) {
    const own = event.target.closest("select, button, input:not([type=range])");
    const doing = { " ": () => setPlaying(!player.playing), ",": () => step(-1), ".": () => step(1), f: toggleFull,
        r: () => BOTH && chooseSide(1 - side) }[event.key];
    if (doing && !event.ctrlKey && !event.altKey && !event.metaKey && !(own && event.key === " ")) {
        event.preventDefault();
        doing();
    }
}

/* Shows the other frame pair of the target, if it has one; what follows is on the same side. */
function chooseSide(wanted) {
    wantedSide = wanted;
    return player.select(current);
}

function makeSides() {
    const distance = Number(data.parameters["ref-distance"]);
    const away = distance === 1 ? FRAME : `${distance} ${FRAME}s`;
    byId("toward").append(...["before", "after"].map((word, value) => make("option", { value }, `${away} ${word}`)));
    byId("toward").addEventListener("change", (event) => chooseSide(Number(event.target.value)));
    byId("toward-label").hidden = byId("toward-key").hidden = !BOTH;
    byId("screen").classList.toggle("both", BOTH);
}

function showSide(index) {
    byId("toward").value = String(side);
    [...byId("toward").options].forEach((option, i) => { option.disabled = BOTH && !tables[i].has[index]; });
}

function openPlayer(select) {
    player.select = select;
    makeSides();
    const speeds = [["1", "\u00d71"], ["0.5", "\u00d7\u00bd"], ["0.25", "\u00d7\u00bc"], ["0.1", "\u00d71/10"]];
    byId("speed").append(...speeds.map(([value, text]) => make("option", { value }, text)));
    byId("speed").value = String(player.speed);
    byId("speed").addEventListener("change", (event) => { player.speed = Number(event.target.value); });
    byId("slider").max = fields.count - 1;
    byId("slider").addEventListener("input", (event) => select(stopAt(Number(event.target.value))));
    byId("slider").addEventListener("keydown", (event) => {
        if (event.key === "Enter") {
            scrollToPair();
        }
    });
    byId("play").disabled = shown.length < 2;
    byId("play").addEventListener("click", () => setPlaying(!player.playing));
    byId("previous").addEventListener("click", () => step(-1));
    byId("next").addEventListener("click", () => step(1));
    byId("full").hidden = !document.fullscreenEnabled;
    byId("full").addEventListener("click", toggleFull);
    byId("pair").addEventListener("keydown", playerKey);
    document.addEventListener("fullscreenchange", () => {
        byId("full").textContent = document.fullscreenElement ? "Leave" : "Full screen";
        drawViewer();
    });
}
