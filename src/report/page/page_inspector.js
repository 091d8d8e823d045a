/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the page says about a block: in words first, then in numbers.
 *
 * showBlock()       shows the selected block
 * pinBlock(index)   selects a block and keeps it while the pointer moves
 * unpin()           lets the selection follow the pointer again
 */

const referenceOf = (block) => data.parameters["best-reference"] ? view.frame + view.vectors.distance[block]
    : nearestReference(view.frame);

const blockMotion = (block) => vectorWords(view.vectors.dx[block], view.vectors.dy[block], view.frame, referenceOf(block), FRAME);

const METRICS = { sad: ["gray level", "mean difference per pixel"], ssd: ["squared gray level", "mean square per pixel"],
    satd: ["", "transformed difference per pixel"] };

/* How good the prediction is, among the blocks of this frame. */
function blockQuality(block, area) {
    const { cost } = view.vectors;
    const [unit, what] = METRICS[data.parameters.metric] || ["", "cost per pixel"];
    const each = cost[block] / area;
    if (cost[block] === 0) {
        return "Its match is exact.";
    }
    const share = 100 * (cost.length - 1 - ranks()[block]) / Math.max(1, cost.length - 1);
    const place = cost.length < 2 ? "" : share >= 99.5 ? `; among the costliest blocks of this ${FRAME}`
        : `; costlier than ${share.toFixed(0)} % of the blocks of this ${FRAME}`;
    return `Its match differs by ${plain(each, 2)}${unit ? ` ${unit}${each === 1 ? "" : "s"}` : ""} (${what})${place}.`;
}

/* Does the vector touch the border of the window? */
function atBorder(block) {
    const { dx, dy } = view.vectors;
    return (data.window_x > 0 && Math.abs(dx[block]) === data.window_x) || (data.window_y > 0 && Math.abs(dy[block]) === data.window_y);
}

function blockWords(block) {
    const { w, h } = rectangle(block);
    const border = atBorder(block) ? " The vector touches the border of the search window: a better match may lie outside." : "";
    return make("p", {}, make("strong", {}, `This block ${blockMotion(block)}.`), ` ${blockQuality(block, w * h)}${border}`);
}

function showBlock() {
    const box = byId("block");
    showSurface();
    if (view.block < 0 || !view.vectors) {
        return;
    }
    const i = view.block;
    const { x, y, w, h } = rectangle(i);
    const { dx, dy, cost, second } = view.vectors;
    const rank = ranks();
    Object.assign(box.dataset, { frame: view.frame, x, y, w, h, dx: dx[i], dy: dy[i], cost: cost[i], rank: rank[i], pinned: view.pinned });
    const item = (name, text) => make("span", {}, `${name} `, make("strong", {}, text));
    const items = [item("block", `${w} x ${h} at (${x}, ${y})`), item("vector", `(${dx[i]}, ${dy[i]})`),
        item("cost", whole(cost[i])), item("per pixel", (cost[i] / (w * h)).toFixed(2)),
        item("rank", `${whole(rank[i])} of ${whole(cost.length)}`)];
    if (data.parameters["best-reference"] || BOTH) {
        box.dataset.ref = referenceOf(i);
        items.push(item("reference", `${FRAME} ${box.dataset.ref}`));
    }
    if (data.parameters.confidence) {
        box.dataset.second = second[i];
        items.push(item("second best match", Number.isFinite(second[i]) ? `cost ${whole(second[i])}` : "none"));
    }
    byId("brief").textContent = `Block ${w} x ${h} at (${x}, ${y}) ${blockMotion(i)}; vector (${dx[i]}, ${dy[i]}), cost ${whole(cost[i])}`;
    if (data.returns) {
        const away = view.vectors.away[i];
        box.dataset.return = away;
        items.push(item("return", Number.isNaN(away) ? "none" : `${plain(away, 2)} px`));
    }
    box.replaceChildren(blockWords(i), make("p", { className: "numbers" }, ...items));
}

function pinBlock(index) {
    view.pinned = true;
    pickBlock(index);
    showBlock();
    keepAddress();
}

function unpin() {
    view.pinned = false;
    showBlock();
    keepAddress();
}
