# SPDX-License-Identifier: BSD-2-Clause
"""Opens the pages of runs in headless Chromium, clicks and types its way through them, and compares what they say
with the tables of the same runs.

Usage: report_browser.py CLIP HOSTILE_NAME NO_PICTURES LONG EQUAL FOUND_AGAIN PARTITION CONFIDENCE REFERENCES FOLDER NARROW
       DEEP WIDE FAR AHEAD
"""
import csv
import json
import os
import random
import sys

from chromium import Browser


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got}, not {want}")


def hold(what, condition):
    if not condition:
        sys.exit(what)


class Run:
    """The tables of a run."""

    def __init__(self, name):
        self.page = f"{name}.html"
        self.frames = {row["frame"]: row for row in rows(f"{name}/frames.csv")}
        self.vectors = rows(f"{name}/vectors.csv")
        self.blocks = {(row["frame"], row["x"], row["y"]): row for row in self.vectors}
        with open(f"{name}/summary.json", encoding="utf-8") as file:
            self.summary = json.load(file)


def check_field(browser, run):
    """The open field's figures, and those under the charts."""
    frame = browser.script("return document.body.dataset.frame")
    row = run.frames[frame]
    shown = browser.script("return Object.fromEntries([...document.querySelectorAll('#statistics [data-statistic]')]"
                           ".map(e => [e.dataset.statistic, e.dataset.value]))")
    for key in ("ref", "time", "zero", "sad_before", "sad_after", "psnr_before", "psnr_after"):
        same(f"field {frame}: {key}", shown[key], row[key])
    legend = browser.script("return [...document.querySelectorAll('#charts .u-value')].map(e => e.textContent)")
    same("legend", [text.replace(",", "") for text in legend[:6]],
         [frame, row["sad_before"], row["sad_after"], frame, row["psnr_before"], row["psnr_after"]])
    return frame


def check_cards(browser, run):
    shown = browser.script("return Object.fromEntries([...document.querySelectorAll('#cards [data-statistic]')]"
                           ".map(e => [e.dataset.statistic, Number(e.dataset.value)]))")
    same("frame pairs", shown["Frame pairs"], run.summary["fields"])
    same("mean SAD", shown["Mean SAD after search"], run.summary["means"]["sad_after"])
    same("mean PSNR", shown["Mean PSNR after search"], run.summary["means"]["psnr_after"])
    same("zero vectors", shown["Zero vectors"], run.summary["totals"]["zero"])
    same("vectors at the border", shown["At the window's border"], run.summary["totals"]["border"])
    same("stages", browser.script("return document.querySelectorAll('#stages tbody tr').length"), 9)


def check_keys(browser, run):
    first, last = min(map(int, run.frames)), max(map(int, run.frames))
    for keys, frame in ((["home"], first), (["right"] * 3, first + 3), (["left"], first + 2), (["end"], last),
                        (["right"], last), (["left"], last - 1), (["home", "page down"], first + round(len(run.frames) / 20))):
        browser.press("charts", *keys)
        same(f"keys {keys}", check_field(browser, run), str(frame))
    browser.press("slider", "right")
    same("slider", check_field(browser, run), str(first + round(len(run.frames) / 20) + 1))
    browser.press("charts", "enter")
    hold("Enter does not lead to the field", browser.script(
        "return Math.abs(document.getElementById('pair').getBoundingClientRect().top) < 60"))


def check_charts(browser, run):
    for chart in range(1, 5):
        browser.point(f"#charts figure:nth-child({chart}) .u-over", 0.25 * chart - 0.1, 0.4, click=True)
        frame = int(check_field(browser, run))
        share = (frame - 1) / (len(run.frames) - 1)
        hold(f"chart {chart} opened field {frame}", abs(share - (0.25 * chart - 0.1)) < 0.04)
        hold("a click leaves the picture off the screen", browser.script(
            "const b = document.getElementById('stage').getBoundingClientRect();"
            "return b.top > -1 && b.bottom <= innerHeight + 1 && (b.top + b.bottom) / 2 < innerHeight"))
    words = browser.script("const said = []; const before = CanvasRenderingContext2D.prototype.fillText;"
                           "CanvasRenderingContext2D.prototype.fillText = function (text) { said.push(text); };"
                           "charts.forEach((u) => u.redraw()); return new Promise((done) => setTimeout(() => {"
                           "CanvasRenderingContext2D.prototype.fillText = before; done(said); }, 100))")
    same("axes", sorted(word for word in words if word in ("frame", "SAD", "dB", "pixels", "%")), sorted(4 * ["frame"] + ["SAD", "dB", "pixels", "%"]))
    same("marks", browser.script("return document.getElementById('marks').innerText.trim()").split("\n")[-1].strip().split(" (")[0].split("pair ")[-1],
         "has all pictures in this page")


def check_steps(browser, run):
    """Every frame pair has pictures, and buttons and keys step from one to the next."""
    frames = sorted(map(int, run.frames))
    same("frames with pictures", browser.script("return shown.map((set) => set.frame)"), frames)
    browser.choose("slider", "0")
    for frame in frames[1:4]:
        browser.click("#next")
        same("next", check_field(browser, run), str(frame))
        browser.wait("return document.getElementById('stage').dataset.frame === arguments[0]", "no pictures", str(frame))
    browser.press("stage", ",", ",", ".")
    same("keys", check_field(browser, run), str(frames[2]))
    browser.click("#previous")
    same("previous", check_field(browser, run), str(frames[1]))
    left_out = browser.script("window.leftOut = shown.splice(5, 1)[0]; return leftOut.frame")
    for place, frame in ((4, left_out - 1), (5, left_out + 1), (5, left_out - 1)):
        browser.choose("slider", str(place))
        same("the slider stops at pictures", check_field(browser, run), str(frame))
    browser.script("shown.splice(5, 0, leftOut)")
    sets = browser.script("return data.sets.map((set) => String(set.frame))")
    same("all pictures", len(sets), 8)
    browser.choose("sets", sets[1])
    same("chosen", check_field(browser, run), sets[1])
    browser.wait("return document.getElementById('stage').dataset.frame === arguments[0]", "no pictures", sets[1])
    return sets


def check_play(browser, run):
    """Playing shows every frame in turn, and goes on from the last to the first."""
    last = len(run.frames)
    browser.choose("slider", str(last - 4))
    browser.choose("speed", "1")
    browser.script("window.seen = []; new MutationObserver(() => { window.seen.push(Number(document.getElementById('stage').dataset.frame)); })"
                   ".observe(document.getElementById('stage'), { attributeFilter: ['data-frame'] })")
    browser.click("#play")
    browser.wait("return window.seen.length >= 6", "the page does not play")
    browser.press("stage", " ")
    same("playing", browser.dataset("play")["playing"], "false")
    seen = browser.script("return window.seen")
    same("played", seen[:6], [last - 2, last - 1, last, 1, 2, 3])


def check_address(browser, run):
    """The page's address leads to a frame, a block and a layer, and follows what is shown."""
    browser.open(run.page, "#frame=7&block=3,2&layer=flow")
    same("frame", check_field(browser, run), "7")
    same("block", check_block(browser, run, "7"), (24, 16))
    same("layer", browser.script("return document.querySelector('[aria-selected=true]').id"), "tab-flow")
    browser.press("stage", "right")
    same("address", browser.script("return location.hash"), "#frame=7&block=4,2&layer=flow")
    browser.script("location.hash = '#frame=9&block=0,1'")
    browser.wait("return document.body.dataset.frame === '9' && document.getElementById('block').dataset.y === '8'", "the address leads nowhere")
    for odd in ("#frame=99999999999", "#frame=-1&block=1,1", "#frame=x&layer=script", "#block=1000,1000", "#%00=&&=="):
        browser.open(run.page, odd)
        same(f"frame of {odd}", check_field(browser, run), liveliest(run))


def motion_words(dx, dy):
    """What the page should say of a vector into the past."""
    parts = [f"{abs(value)} px {names[value > 0]}" for value, names in ((dx, ("right", "left")), (dy, ("down", "up"))) if value]
    return f"moved {' and '.join(parts)} since" if parts else "did not move since"


def check_words(browser, run):
    browser.choose("slider", "4")
    browser.wait("return document.getElementById('stage').dataset.frame === '5'", "no pictures of frame 5")
    for i, row in enumerate(row for row in run.vectors if row["frame"] == "5"):
        browser.script("pickBlock(arguments[0])", i)
        said = browser.script("return document.querySelector('#block strong').textContent")
        same("words", said, f"This block {motion_words(int(row['dx']), int(row['dy']))} frame 4.")


def picture(browser):
    return browser.script("return document.getElementById('stage').toDataURL()")


def check_tabs(browser):
    seen = set()
    browser.choose("other", "none")
    for name in ("overlay", "flow", "target", "reference", "predicted", "difference", "residual", "cost"):
        browser.click(f"#tab-{name}")
        same(name, browser.script("return document.querySelector('[aria-selected=true]').id"), f"tab-{name}")
        seen.add(picture(browser))
        same(f"keys of {name}", browser.script("return [...document.querySelectorAll('#keys > span')]"
                                               ".filter(e => e.offsetHeight > 0).map(e => e.id)"),
             {"overlay": ["key-overlay"], "flow": ["key-flow"], "cost": ["key-cost"]}.get(name, []))
    same("different pictures", len(seen), 8)
    browser.press("tab-cost", "right")
    same("tab by key", browser.script("return document.activeElement.id"), "tab-overlay")
    alone = picture(browser)
    browser.choose("other", "cost")
    half = picture(browser)
    hold("comparing changes nothing", half != alone)
    browser.press("divider", "right", "right", "right")
    hold("the divider does not move", picture(browser) != half)
    browser.drag("#stage", (float(browser.script("return view.divider")), 0.3), (0.25, 0.6))
    hold("the divider does not follow the pointer", abs(browser.script("return view.divider") - 0.25) < 0.02)
    browser.choose("divider", "100")
    browser.choose("divider", "30")


def pixels(path):
    """Width, and a function from a place to the colour there, of a picture in PPM."""
    with open(path, "rb") as file:
        data = file.read()
    kind, size, peak = data.split(b"\n", 3)[:3]
    same(path, (kind, peak), (b"P6", b"255"))
    width, height = map(int, size.split())
    start = len(data) - 3 * width * height
    return lambda x, y: list(data[start + 3 * (y * width + x):][:3])


def check_colours(browser, run):
    """Cost map and arrows have the colours of --overlay, block by block."""
    browser.choose("slider", "0")
    browser.choose("other", "none")
    browser.click("#tab-cost")
    browser.script("view.block = -1; view.pinned = false; drawViewer()")  # no outline
    browser.wait("return document.getElementById('stage').dataset.frame === '1'", "no pictures of field 1")
    cost, arrows = (pixels(f"{run.page[:-5]}.{style}.ppm") for style in ("cost", "arrows"))
    blocks = [row for row in run.vectors if row["frame"] == "1"]
    places = [[int(row["x"]) + int(row["w"]) // 2, int(row["y"]) + int(row["h"]) // 2] for row in blocks]
    shown = browser.script(
        "const c = document.getElementById('stage'); const k = c.width / arguments[1];"
        "const copy = document.createElement('canvas'); copy.width = c.width; copy.height = c.height;"
        "const all = copy.getContext('2d', { willReadFrequently: true }); all.drawImage(c, 0, 0);"
        "return arguments[0].map(([x, y]) => [...all.getImageData((x + 0.5) * k, (y + 0.5) * k, 1, 1).data].slice(0, 3))",
        places, 100)
    for (x, y), found in zip(places, shown):
        hold(f"cost map at ({x}, {y}): {found}, not {cost(x, y)}",
             all(abs(a - b) <= 3 for a, b in zip(found, cost(x, y))))
    hold("costs have one colour", len({tuple(colour) for colour in shown}) > 20)
    moving = [(row, place) for row, place in zip(blocks, places) if abs(int(row["dx"])) + abs(int(row["dy"])) > 4]
    hold("hardly any arrows", len(moving) > 20)
    for row, (x, y) in moving:
        found = browser.script("return direction(arguments[0], arguments[1]).match(/[0-9]+/g).map(Number)",
                               -int(row["dx"]), -int(row["dy"]))
        want = arrows(16 * x, 16 * y)
        hold(f"arrow at ({x}, {y}): {found}, not {want}", all(abs(a - b) <= 4 for a, b in zip(found, want)))


def check_block(browser, run, frame):
    block = browser.dataset("block")
    row = run.blocks[(frame, block["x"], block["y"])]
    for key in ("frame", "w", "h", "dx", "dy", "cost", "rank"):
        same(f"block ({block['x']}, {block['y']}) of field {frame}: {key}", block[key], row[key])
    text = browser.script("return document.getElementById('block').textContent")
    hold(f"'{text}' does not say the vector", f"({row['dx']}, {row['dy']})" in text)
    return int(block["x"]), int(block["y"])


def check_blocks(browser, run):
    frame = browser.script("return document.body.dataset.frame")
    browser.wait(f"return document.getElementById('stage').dataset.frame === '{frame}'", f"no pictures of field {frame}")
    for x, y in ((0.01, 0.01), (0.5, 0.5), (0.33, 0.71), (0.99, 0.99)):
        browser.point("#stage", x, y)
        place = check_block(browser, run, frame)
        same("block under the mouse", place, (int(100 * x) // 8 * 8, int(76 * y) // 8 * 8))
    browser.press("stage", "left", "left", "up")
    same("block by keys", check_block(browser, run, frame), (80, 64))
    browser.press("stage", "+", "+", "left")
    same("zoom", browser.dataset("stage")["zoom"], "4")
    same("block by keys", check_block(browser, run, frame), (72, 64))
    browser.point("#stage", 0.5, 0.5)
    check_block(browser, run, frame)
    browser.press("stage", "0")
    same("zoom", browser.dataset("stage")["zoom"], "1")
    browser.click("#zoom-in")
    same("zoom", browser.dataset("stage")["zoom"], "2")
    browser.wheel("#stage", 0.5, 0.5, -100)
    same("wheel", browser.dataset("stage")["zoom"], "2.5")
    browser.drag("#stage", (0.5, 0.5), (0.6, 0.6))
    browser.wheel("#stage", 0.5, 0.5, 100)
    same("wheel", browser.dataset("stage")["zoom"], "2")
    browser.click("#fit")


def check_partition(browser, run):
    """Every block that the partition chose is shown with its place, size and vector, and outlined."""
    browser.choose("slider", "0")
    browser.choose("other", "none")
    browser.click("#tab-overlay")
    browser.wait("return document.getElementById('stage').dataset.frame === '1'", "no pictures of frame 1")
    blocks = [row for row in run.vectors if row["frame"] == "1"]
    hold("blocks have one size", len({(row["w"], row["h"]) for row in blocks}) > 2)
    hold("vectors have no fractions", any("." in row["dx"] for row in blocks))
    for row in blocks:
        x, y = (int(row[at]) + int(row[side]) - 1 for at, side in (("x", "w"), ("y", "h")))
        browser.script("pickBlock(blockAt(arguments[0], arguments[1]))", x, y)
        check_block(browser, run, "1")
        same("block at its last pixel", browser.dataset("block")["x"], row["x"])
    for layer in ("sizes", "fractions"):
        browser.click(f"#tab-{layer}")
        hold(f"the key of {layer} is hidden", not browser.script("return document.getElementById(arguments[0]).hidden", f"key-{layer}"))
    for i, row in enumerate(blocks):
        digits = [abs(float(row[axis])) % 1 for axis in ("dx", "dy")]
        want = 2 if any(digit in (0.25, 0.75) for digit in digits) else 1 if 0.5 in digits else 0
        same(f"fraction of block {i}", browser.script("return fractionOf(arguments[0])", i), want)
    sizes = browser.script("return [...view.vectors.cost.keys()].map((block) => [sizeHeat(block), rectangle(block).w * rectangle(block).h])")
    whole = sorted((heat, area) for heat, area in sizes if area in (32 * 32, 32 * 16, 16 * 16, 16 * 8, 8 * 8))
    hold("larger blocks are not lighter", len({heat for heat, area in whole}) > 2 and max(whole)[1] >= 256)
    outlines = browser.script(
        "const boxes = []; drawOutlines({ beginPath() {}, stroke() {}, rect(...box) { boxes.push(box); } });"
        "return boxes.map((box) => box.map((side) => Math.round(side / screenScale())))")
    same("outlines", outlines, [[int(row[key]) for key in ("x", "y", "w", "h")] for row in blocks])


def check_confidence(browser, run):
    """The layer of confidence has heat by best cost / second cost, and the block says the second cost."""
    browser.choose("slider", "0")
    browser.click("#tab-confidence")
    browser.wait("return document.getElementById('stage').dataset.frame === '1'", "no pictures of frame 1")
    blocks = [row for row in run.vectors if row["frame"] == "1"]
    heats = browser.script("return [...view.vectors.cost.keys()].map((block) => confidenceHeat(block))")
    for i, row in enumerate(blocks):
        second = float(row["second"] or "inf")
        want = 1 - int(row["cost"]) / second if second > 0 else 0
        hold(f"confidence of block {i}: {heats[i]}, not {want}", abs(heats[i] - want) < 1e-9)
        browser.script("pickBlock(arguments[0])", i)
        same("second cost", browser.dataset("block")["second"], row["second"] or "Infinity")
    said = browser.script("return document.getElementById('key-confidence').innerText.split(/\\s+/)")
    same("key of confidence", said[:6] + said[-5:], ["unsure", "0", "25", "50", "75", "100", "than", "the", "second", "best", "match)"])


def check_flow_key(browser, run):
    """The key of flow says the length of each opacity, in pixels."""
    browser.open(run.page, "#layer=flow")
    lengths = sorted((int(row["dx"]) ** 2 + int(row["dy"]) ** 2) ** 0.5 for row in run.vectors if (row["dx"], row["dy"]) != ("0", "0"))
    longest = max(1, lengths[-(-98 * len(lengths) // 100) - 1])
    marks = browser.script("return [...document.querySelectorAll('#key-flow b span')].map((e) => Number(e.textContent))")
    hold(f"marks {marks}, longest {longest}", len(marks) == 5 and all(abs(mark - share * longest) < 0.006
                                                                      for mark, share in zip(marks, (0, 0.25, 0.5, 0.75, 1))))
    opacity = browser.script("const all = byId('key-flow').querySelectorAll('canvas')[1];"
                             "const line = all.getContext('2d').getImageData(0, 5, all.width, 1).data;"
                             "return [0, 0.1, 0.5, 1].map((x) => [...line.slice(4 * Math.floor(x * (all.width - 1))).slice(0, 4)])")
    colour = browser.script("return [...directionBytes(1, 0)]")
    for share, found in zip((0, 0.1, 0.5, 1), opacity):
        want = [128 + browser.script("return flowOpacity(arguments[0])", share) * (part - 128) for part in colour]
        hold(f"key of flow at {share}: {found}, not {want}", all(abs(a - b) < 6 for a, b in zip(found, want)))


def check_missing(browser, run):
    """Layers that a frame lacks are named, with --report-dir, and what follows does not move."""
    sets = browser.script("return data.sets.map((set) => set.frame)")
    places = set()
    for frame in (sets[0], next(frame for frame in range(1, 40) if frame not in sets)):
        browser.open(run.page, f"#frame={frame}")
        off = browser.script("return PICTURES.map(([name]) => name).filter((name) => byId(`tab-${name}`).disabled)")
        said = browser.script("return byId('missing').textContent.trim()")
        places.add(browser.script("return byId('keys').getBoundingClientRect().top"))
        if frame in sets:
            same("missing layers", (off, said), ([], ""))
            continue
        same("missing layers", off, ["predicted", "difference", "residual"])
        hold(said, said.startswith("No predicted, difference, residual of this frame: ") and f"{len(sets)} of {len(run.frames)}" in said
             and "--report-dir" in said)
        same("why a tab is off", browser.script("return byId('tab-residual').title"), said.split(": ")[1])
    same("places below", len(places), 1)


def check_references(browser, run):
    """Blocks say which frame they refer to, and all arrows show motion forward in time."""
    browser.choose("slider", "4")
    browser.click("#tab-overlay")
    browser.wait("return document.getElementById('stage').dataset.frame === '4'", "no pictures of frame 4")
    blocks = [row for row in run.vectors if row["frame"] == "4"]
    hold("references lie on one side", len({int(row["ref"]) > 4 for row in blocks}) == 2)
    forward = browser.script("return [...view.vectors.cost.keys()].map(forwardVector)")
    for i, row in enumerate(blocks):
        sign = -1 if int(row["ref"]) > 4 else 1
        same(f"motion of block {i}", forward[i], [sign * int(row["dx"]), sign * int(row["dy"])])
        browser.script("pickBlock(arguments[0])", i)
        same("reference", browser.dataset("block")["ref"], row["ref"])


def check_return(browser, run):
    """The layer of return tints the blocks that do not lead back, and the block says how far."""
    browser.open(run.page, "#frame=4&layer=return")
    blocks = [row for row in run.vectors if row["frame"] == "4"]
    tinted = browser.script("return [...view.vectors.cost.keys()].map((block) => returnColour(block)[3] > 0)")
    same("tinted blocks", tinted, [bool(row["return"]) and float(row["return"]) > 1 for row in blocks])
    hold("all blocks lead back, or none", len(set(tinted)) == 2)
    for i, row in enumerate(blocks[:20]):
        browser.script("pickBlock(arguments[0])", i)
        same("return", browser.dataset("block")["return"], row["return"] or "NaN")
    same("key", browser.script("return [...document.querySelectorAll('#key-return b span')].map((e) => e.textContent)"), ["0", "1", "4", "9", "16"])


def check_histogram(browser, run):
    counts = {}
    for row in run.vectors:
        place = (row["dx"], row["dy"])
        counts[place] = counts.get(place, 0) + 1
    for keys in (["right"], ["right"], ["up", "up"], ["left"] * 9):
        browser.press("histogram", *keys)
        shown = browser.dataset("bin")
        same("bin", int(shown["count"]), counts.get((shown["dx"], shown["dy"]), 0))
    browser.point("#histogram", 0.6, 0.4)
    shown = browser.dataset("bin")
    same("bin", int(shown["count"]), counts.get((shown["dx"], shown["dy"]), 0))


def check_gallery(browser, run, sets):
    if not browser.script("return document.getElementById('more').hidden"):
        browser.click("#more")
    blocks = browser.script("return [...document.querySelectorAll('#gallery button')].map(e => ({...e.dataset}))")
    hold("gallery is empty", len(blocks) > 0)
    same("costliest", int(blocks[0]["cost"]), max(int(row["cost"]) for row in run.vectors))
    for i, block in enumerate(blocks):
        row = run.blocks[(block["frame"], block["x"], block["y"])]
        for key in ("dx", "dy", "cost", "rank"):
            same(f"gallery {key}", block[key], row[key])
        if block["frame"] in sets:
            browser.click(f"#gallery li:nth-child({i + 1}) button")
            browser.wait("return document.getElementById('block').dataset.cost === arguments[0]",
                         "the gallery's block is not shown", block["cost"])
            same("field of the gallery", check_field(browser, run), block["frame"])
            return


def check_folder(browser, run):
    """The page loads the pictures of every frame from the files beside it, and says which one it misses."""
    page = run.page[:-5] + "/index.html"
    browser.open(page)
    check_field(browser, run)
    for frame in sorted(map(int, run.frames)):
        browser.choose("slider", str(frame - 1))
        browser.wait("return document.getElementById('stage').dataset.frame === arguments[0]", "no pictures", str(frame))
        browser.click("#tab-residual")
        hold("no residual", not browser.script("return document.getElementById('tab-residual').disabled"))
    same("address", browser.script("return location.hash"), f"#frame={len(run.frames)}&layer=residual")
    browser.open(page)
    os.rename(page.replace("index.html", "frames/4.js"), "4.js")
    browser.choose("slider", "3")
    browser.wait("return !document.getElementById('nearest').hidden", "a missing file is not noticed")
    said = browser.script("return document.getElementById('nearest').textContent")
    hold(said, said.startswith("frames/4.js"))
    same("complaint", [text for text in browser.complaints() if "ERR_FILE_NOT_FOUND" not in text], [])
    browser.said.clear()
    os.rename("4.js", page.replace("index.html", "frames/4.js"))
    browser.choose("slider", "4")
    browser.choose("slider", "3")
    browser.wait("return document.getElementById('stage').dataset.frame === '4' && !document.getElementById('viewer').hidden", "no pictures")


def check_compared(browser, run, other):
    """The page of a comparison says of every block what the tables of both runs say."""
    frames = sorted(map(int, run.frames))
    browser.shape(1200, 900)
    browser.open("compared.html", f"#frame={frames[1]}&block=1,2&layer=difference")
    same("frame", browser.script("return document.body.dataset.frame"), str(frames[1]))
    same("block", (browser.dataset("block")["x"], browser.dataset("block")["y"]), ("8", "16"))
    seen = set()
    for frame in frames[:3]:
        browser.choose("slider", str(frames.index(frame)))
        for i, row in enumerate(row for row in run.vectors if row["frame"] == str(frame)):
            browser.script("pick(arguments[0], true)", i)
            shown = browser.dataset("block")
            b = other.blocks[(row["frame"], row["x"], row["y"])]
            for key, value in (("x", row["x"]), ("dxa", row["dx"]), ("dya", row["dy"]), ("costa", row["cost"]),
                               ("dxb", b["dx"]), ("dyb", b["dy"]), ("costb", b["cost"])):
                same(f"{key} of block {i} of frame {frame}", shown[key], value)
            equal = (row["dx"], row["dy"]) == (b["dx"], b["dy"])
            want = "a" if int(row["cost"]) < int(b["cost"]) else "b" if int(row["cost"]) > int(b["cost"]) else "equal" if equal else "same"
            same("verdict", shown["verdict"], want)
            seen.add(want)
    hold(f"hardly any differences: {seen}", len(seen) > 1)
    words = browser.script("const said = []; const before = CanvasRenderingContext2D.prototype.fillText;"
                           "CanvasRenderingContext2D.prototype.fillText = function (text) { said.push(text); };"
                           "drawChart(); CanvasRenderingContext2D.prototype.fillText = before; return said")
    hold(f"axes: {words}", {"0 %", "frame", str(frames[0])} <= set(words) and len(words) > 6)
    width = browser.script("return byId('chart').getBoundingClientRect().width")
    bar = (width - 52) / len(frames)
    browser.point("#chart", (52 + 10.5 * bar) / width, 0.5, click=True)
    browser.wait("return document.body.dataset.frame === arguments[0]", "a click on a bar does not select it", str(frames[10]))
    browser.script("location.hash = '#frame=1&block=2,1&layer=flow'")
    browser.wait("return document.body.dataset.frame === '1' && document.getElementById('block').dataset.x === '16'", "the address leads nowhere")
    check_layers(browser)
    hold("a picture without a video", browser.script("return state.image === undefined || state.image === null"))
    browser.open("seen.html")
    same("size of the picture", browser.script("return [state.image.width * data.scale, state.image.height * data.scale]"), [100, 76])
    check_layers(browser)


def check_layers(browser):
    pictures = set()
    for layer in ("motion", "flow", "cost", "difference"):
        browser.choose("layer", layer)
        pictures.add(browser.script("return document.getElementById('stage-0').toDataURL()"))
    same("layers", len(pictures), 4)
    browser.wheel("#stage-1", 0.5, 0.5, -100)
    same("zoom", browser.script("return state.zoom"), 1.25)
    browser.click("#worse")
    browser.click("#play")
    browser.wait("return state.at === 0", "the comparison does not play")
    browser.click("#play")


SMALL_TARGETS = """return [...document.querySelectorAll('button, select, input, label:has(input[type=checkbox])')]
    .filter((e) => e.offsetHeight > 0 && e.type !== 'checkbox')
    .filter((e) => e.offsetHeight < 44 || e.offsetWidth < 44).map((e) => `${e.tagName} ${e.id} ${e.offsetWidth} x ${e.offsetHeight}`)"""


def check_help(browser):
    said = browser.script("return document.body.innerText")
    for word in ("wheel", "Keys", "Point at", "Click a chart"):
        hold(f"'{word}' on a touch screen", word not in said)
    hold("no word of fingers", "Two fingers zoom" in said and "Tap a block" in said)
    same("targets smaller than a finger", browser.script(SMALL_TARGETS), [])
    hold("wider than the phone", browser.script("return document.documentElement.scrollWidth <= 390"))


def check_touch(browser, run):
    """On a phone a tap chooses a block, two fingers zoom, and nothing speaks of mice and keys."""
    browser.fingers(True)
    browser.shape(390, 844)
    browser.open(run.page)
    check_help(browser)
    frame = browser.script("return document.body.dataset.frame")
    browser.touch("#stage", [(0.5, 0.5)])
    same("tapped", (check_block(browser, run, frame), browser.dataset("block")["pinned"]), ((48, 32), "true"))
    browser.touch("#stage", [(0.4, 0.5), (0.6, 0.5)], [(0.3, 0.5), (0.7, 0.5)], [(0.2, 0.5), (0.8, 0.5)])
    zoom = float(browser.dataset("stage")["zoom"])
    hold(f"two fingers: zoom {zoom}", 2.5 < zoom < 3.5)
    middle = browser.script("return [view.x + WIDTH / view.zoom / 2, view.y + HEIGHT / view.zoom / 2]")
    hold(f"what was between the fingers has moved: {middle}", abs(middle[0] - 50) < 3 and abs(middle[1] - 38) < 3)
    same("block after a pinch", (check_block(browser, run, frame), browser.dataset("block")["pinned"]), ((48, 32), "true"))
    browser.touch("#stage", [(0.5, 0.5)], [(0.7, 0.5)])
    hold("one finger does not move the picture", browser.script("return view.x + WIDTH / view.zoom / 2") < middle[0] - 3)
    same("block after a drag", check_block(browser, run, frame), (48, 32))
    browser.touch("#stage", [(0.2, 0.5), (0.8, 0.5)], [(0.45, 0.5), (0.55, 0.5)])
    same("zoom", browser.dataset("stage")["zoom"], "1")
    browser.touch("#histogram", [(0.6, 0.4)])
    hold("no bin", "dx" in browser.dataset("bin"))
    browser.open("compared.html")
    check_help(browser)
    browser.touch("#stage-1", [(0.5, 0.5)])
    same("tapped", [browser.dataset("block")[key] for key in "xy"], ["48", "32"])
    browser.touch("#stage-0", [(0.4, 0.5), (0.6, 0.5)], [(0.3, 0.5), (0.7, 0.5)])
    hold("two fingers do not zoom", 1.5 < browser.script("return state.zoom") < 2.5)
    same("block after a pinch", browser.dataset("block")["x"], "48")
    browser.fingers(False)


def check_full_screen(browser, run):
    """The picture of 100 x 76 pixels takes the screen, whatever its shape, less the rows of layers and controls."""
    for width, height, rows_of_controls in ((1280, 800, 140), (1920, 1080, 140), (390, 844, None)):
        browser.shape(width, height)
        browser.open(run.page)
        before = browser.script("return document.getElementById('stage').clientHeight")
        browser.click("#full")
        browser.wait("return document.fullscreenElement !== null", "no full screen")
        browser.rest_of_frame()
        found = browser.script("const e = document.getElementById('stage'); return [e.clientWidth, e.clientHeight]")
        if rows_of_controls:
            hold("more than the screen", browser.script("return document.getElementById('screen').scrollHeight <= window.innerHeight"))
            hold(f"{found} of {width} x {height}", found[1] >= height - rows_of_controls)
        else:
            hold(f"{found} of {width} x {height}", found[0] >= width - 20)
        hold("the picture does not grow", found[1] >= before)
        browser.point("#stage", 0.3, 0.3)
        hold("no word of the block", browser.script("return document.getElementById('brief').textContent.includes('at (24, 16)')"))
        browser.click("#full")
        browser.wait("return document.fullscreenElement === null", "full screen does not end")
    browser.shape(1200, 800)


def samples_of(clip):
    """Luma of the frames of a gray Y4M of 8 bits, as rows of bytes."""
    with open(clip, "rb") as file:
        head, *frames = file.read().split(b"FRAME\n")
    width, height = (int(word[1:]) for word in head.split()[1:3])
    return [[frame[y * width:(y + 1) * width] for y in range(height)] for frame in frames]


def sad_surface(target, reference, x, y, side, window):
    """Every cost, from first principles."""
    bottom, right = len(target), len(target[0])
    near = lambda at, count: max(0, min(count - 1, at))
    block = [(row, column) for row in range(y, min(y + side, bottom)) for column in range(x, min(x + side, right))]
    return [sum(abs(target[row][column] - reference[near(row + dy, bottom)][near(column + dx, right)]) for row, column in block)
            for dy in range(-window, window + 1) for dx in range(-window, window + 1)]


def surface_of(browser, frame, x, y):
    """What the page shows of a block."""
    browser.script("pinBlock(blockAt(arguments[0], arguments[1]))", x, y)
    browser.script("return showSurface()")
    return browser.dataset("surface"), browser.script("return shownSurface && [...shownSurface.costs]")


def check_surface(browser, run):
    """Those of pairs with all pictures and of the costliest blocks are exact; of others there is none."""
    browser.open(run.page)
    frame = browser.script("return document.body.dataset.frame")
    frames = samples_of(f"{run.page[:-5]}.y4m")
    for x, y in ((0, 0), (48, 40), (96, 72), (56, 16)):
        shown, costs = surface_of(browser, frame, x, y)
        want = sad_surface(frames[int(frame)], frames[int(frame) - 1], x, y, 8, 5)
        same(f"costs of ({x}, {y})", costs, want)
        same("surface", (shown["exact"], shown["least"], shown["most"], shown["columns"]), ("true", str(min(want)), str(max(want)), "11"))
        same("the ring", costs[browser.script("const [x, y] = cellOf(view.vectors.dx[view.block], view.vectors.dy[view.block]);"
                                              "return y * data.surfaces.columns + x")], min(costs))
    words = browser.script("const said = []; const before = CanvasRenderingContext2D.prototype.fillText;"
                           "CanvasRenderingContext2D.prototype.fillText = function (text) { said.push(text); };"
                           "drawSurface(shownSurface, view.block); CanvasRenderingContext2D.prototype.fillText = before; return said")
    hold(f"axes and scale: {words}", {"dx, pixels", "dy, pixels", "-5", "0", "5", "cost", str(min(costs))} <= {word.replace(",", "") if word[0].isdigit() else word for word in words})
    browser.click("#gallery button")
    browser.wait("return document.getElementById('surface').dataset.exact === 'true'", "no surface")
    same("least", browser.dataset("surface")["least"], browser.dataset("block")["cost"])
    kept = browser.script("return data.costliest.map((one) => `${one.frame},${one.x},${one.y}`)")
    whole = browser.script("return data.sets.map((set) => String(set.frame))")
    other = next(name for name in map(str, sorted(map(int, run.frames))) if name not in whole and f"{name},48,40" not in kept)
    browser.choose("slider", str(int(other) - 1))
    browser.wait("return document.getElementById('stage').dataset.frame === arguments[0]", "no pictures", other)
    shown, costs = surface_of(browser, other, 48, 40)
    same("a surface without data", (shown["exact"], costs), ("false", None))
    said = browser.script("return document.getElementById('surface-note').textContent")
    hold(said, "--surface 48,40" in said)
    browser.click("#go-exact")
    nearest = min(map(int, whole), key=lambda name: (abs(name - int(other)), name))
    same("the nearest frame with surfaces", browser.script("return document.body.dataset.frame"), str(nearest))


def check_layout(browser, run):
    """Pointing at blocks and costs moves nothing."""
    browser.open(run.page)
    place = "return JSON.stringify([...document.querySelectorAll('#surface, #surface-map, #surface-note, #keys, #statistics, #cards')].map((e) => e.getBoundingClientRect().top + scrollY))"
    before = browser.script(place)
    for x, y in ((0.1, 0.1), (0.5, 0.5), (0.9, 0.4), (0.6, 0.99)):
        browser.point("#stage", x, y)
        same(f"places after pointing at ({x}, {y})", browser.script(place), before)
    browser.point("#surface-map", 0.5, 0.3)
    said = browser.script("return document.getElementById('surface-read').textContent")
    hold(f"'{said}' is no cost", said.startswith("(") and ": cost " in said)
    same("places after pointing at the surface", browser.script(place), before)


def check_exact(browser, run, page, clip=None):
    """Of every pair with all pictures the page has the frames sample for sample, predicts as the run does, and the least cost of
    any block is that in the table."""
    browser.open(page)
    pairs = browser.script("return shown.filter((set) => set.exact).map((set) => set.frame)")
    hold(f"{page}: hardly any exact pairs", len(pairs) > 2)
    chance = random.Random(7)
    frames = samples_of(clip) if clip else None
    chance.shuffle(pairs)  # so that chains are followed from any frame
    for frame in pairs:
        row = run.frames[str(frame)]
        browser.script("return select(arguments[0] - data.first_field)", frame)
        sums = browser.script(
            "return Promise.all([planesOf(arguments[0]), loadSet(arguments[0])]).then(([{ target, reference }, set]) => {"
            "const apart = (a, b) => a.reduce((sum, value, i) => sum + Math.abs(value - b[i]), 0);"
            "return [apart(target, reference), apart(target, predict(reference, readVectors(set)))]; })", frame)
        same(f"{page}: SAD of {frame}", sums, [int(row["sad_before"]), int(row["sad_after"])])
        if frames:
            planes = browser.script("return planesOf(arguments[0]).then(({ target, reference }) => [[...target], [...reference]])", frame)
            same(f"{page}: samples of {frame}", planes, [list(b"".join(frames[int(name)])) for name in (row["frame"], row["ref"])])
        blocks = [block for block in run.vectors if block["frame"] == str(frame)]
        for block in chance.sample(blocks, 5):
            browser.script("pickBlock(blockAt(arguments[0], arguments[1])); return showSurface()", int(block["x"]), int(block["y"]))
            shown, costs = browser.dataset("surface"), browser.script("return [...shownSurface.costs]")
            same(f"{page}: surface of {block}", (shown["exact"], shown["least"]), ("true", block["cost"]))
            same("the ring", costs[browser.script("const [x, y] = cellOf(view.vectors.dx[view.block], view.vectors.dy[view.block]);"
                                                  "return y * data.surfaces.columns + x")], int(block["cost"]))


def check_both(browser, page, folder):
    """A target has a frame pair on either side: vectors, costs, returns, statistics and surfaces of both are in the page, the
    reference can be changed by list and by key, and nothing moves then."""
    tables = {}
    for row in rows(f"{folder}/returns.csv"):
        tables.setdefault((int(row["frame"]), int(row["ref"]) > int(row["frame"])), []).append(row)
    figures = {(row["frame"], row["ref"]): row for row in rows(f"{folder}/frames.csv")}
    chance = random.Random(3)
    browser.shape(1280, 800)
    browser.open(page, "#layer=return")
    hold("no choice of the reference", not browser.script("return byId('toward-label').hidden"))
    first, last = min(tables)[0], max(tables)[0]
    wanted = [first, last] + chance.sample(range(first + 1, last), 5)
    places = set()
    for frame, after in ((frame, after) for frame in wanted for after in (False, True)):
        browser.choose("slider", str(frame - first))
        browser.choose("toward", str(int(after)))
        shown = after if (frame, after) in tables else not after
        blocks = tables[frame, shown]
        browser.wait("return view.frame === arguments[0] && view.side === arguments[1]", "the other side is not shown", frame, int(shown))
        row = figures[str(frame), blocks[0]["ref"]]
        said = {key: value["value"] for key, value in browser.script(
            "return Object.fromEntries([...document.querySelectorAll('#statistics [data-statistic]')].map((e) => [e.dataset.statistic, {...e.dataset}]))").items()}
        same(f"statistics of {frame}", {key: said[key] for key in ("ref", "time", "sad_before", "sad_after", "psnr_after", "zero")},
             {key: row[key] for key in ("ref", "time", "sad_before", "sad_after", "psnr_after", "zero")})
        same("side", browser.script("return byId('toward').value"), str(int(shown)))
        same("a side that is not there", browser.script("return [...byId('toward').options].map((one) => one.disabled)"),
             [(frame, False) not in tables, (frame, True) not in tables])
        away = browser.script("return [...view.vectors.away].map((value) => Number.isNaN(value) ? '' : String(value))")
        same(f"returns of {frame}, {shown}", away, [block["return"] for block in blocks])
        forward = browser.script("return [...view.vectors.cost.keys()].map(forwardVector)")
        sign = -1 if shown else 1
        same("motion forward in time", forward, [[sign * int(block["dx"]), sign * int(block["dy"])] for block in blocks])
        for block in chance.sample(blocks, 4):
            browser.script("pickBlock(blockAt(arguments[0], arguments[1])); return showSurface()", int(block["x"]), int(block["y"]))
            found = browser.dataset("block")
            same("block", [found[key] for key in ("ref", "dx", "dy", "cost", "rank")], [block[key] for key in ("ref", "dx", "dy", "cost", "rank")])
            same("surface", browser.dataset("surface")["least"], block["cost"])
        places.add(browser.script("return JSON.stringify([...document.querySelectorAll('#stage, #toward, #keys, #surface, #charts, #gallery')]"
                                  ".map((e) => e.getBoundingClientRect().top + scrollY))"))
    same(f"places after changing the reference: {places}", len(places), 1)
    same("names given twice", browser.script("const all = [...document.querySelectorAll('[id]')].map((e) => e.id);"
                                             "return all.filter((id, i) => all.indexOf(id) < i)"), [])
    browser.click("#full")
    browser.wait("return document.fullscreenElement !== null", "no full screen")
    browser.choose("other", "flow")
    hold("wider than the screen", browser.script("return byId('screen').scrollWidth <= innerWidth && byId('toward').offsetWidth > 0"))
    browser.choose("other", "none")
    browser.click("#full")
    browser.wait("return document.fullscreenElement === null", "full screen does not end")
    same("key of return", browser.script("return byId('key-return').hidden"), False)
    browser.choose("slider", str(wanted[2] - first))
    browser.choose("toward", "0")
    browser.press("stage", "r")
    browser.wait("return view.side === 1", "r does not change the reference")
    same("address", browser.script("return location.hash"), f"#frame={wanted[2]}&reference=after&layer=return")
    browser.open(page, f"#frame={wanted[2]}&reference=after&block=1,2")
    same("side of the address", browser.script("return [view.side, Number(byId('block').dataset.ref) > view.frame]"), [1, True])
    said = browser.script("return document.querySelector('#block strong').textContent")
    hold(said, "until frame" in said)
    browser.click("#gallery button")
    browser.wait("return byId('block').dataset.cost === byId('gallery').querySelector('button').dataset.cost", "the gallery's block is not shown")


def check_computed(browser, run, pixel):
    """The page computes the costs that --surface writes."""
    browser.open(run.page)
    frame = browser.script("return document.body.dataset.frame")
    table = [row for row in rows(f"{run.page[:-5]}/surface_{pixel[0]}_{pixel[1]}.csv") if row["frame"] == frame and row["cost"]]
    costs = browser.script("return planesOf(view.frame).then((planes) => computeCosts(blockAt(arguments[0], arguments[1]), planes))", *pixel)
    x, y = (run.summary["parameters"]["window"].split("x") * 2)[:2]
    wide = 2 * int(x) + 1
    found = {(i % wide - int(x), i // wide - int(y)): cost for i, cost in enumerate(costs) if cost is not None}
    same(f"costs of {run.page}", found, {(int(row["dx"]), int(row["dy"])): int(row["cost"]) for row in table})
    hold(f"hardly any costs of {run.page}", len(set(found.values())) > 20)
    browser.script("pinBlock(blockAt(arguments[0], arguments[1]))", 8, 8)
    same("the least cell", browser.script("return surfaceOf(view.block).then(({ costs, columns }) => { const [x, y] = cellOf(view.vectors.dx[view.block],"
                                          "view.vectors.dy[view.block]); return costs[y * columns + x]; })"), int(browser.dataset("block")["cost"]))


def check_asked(browser, run):
    """The surface of the block that --surface names is exact in every frame, and that in its table."""
    table = rows("trust/surface_60_30.csv")
    for frame in sorted(run.frames, key=int)[:3]:
        costs = [int(row["cost"]) for row in table if row["frame"] == frame]
        browser.open(run.page, f"#frame={frame}&block=7,3")
        browser.wait("return document.getElementById('surface').dataset.exact === 'true'", "no surface")
        shown = browser.dataset("surface")
        same("surface", (shown["least"], shown["most"]), (str(min(costs)), str(max(costs))))
        same("costs", browser.script("return [...keptCosts(view.block)]"), costs)


def liveliest(run):
    """The frame in which the search gains most; the first of equal ones."""
    return max(run.frames.values(), key=lambda row: (int(row["sad_before"]) - int(row["sad_after"]), -int(row["frame"])))["frame"]


def check_clip(browser, run, width, height, dark):
    browser.shape(width, height, dark)
    browser.open(run.page)
    hold(f"wider than {width} pixels",
         browser.script("return document.documentElement.scrollWidth <= arguments[0]", width))
    same("first frame", check_field(browser, run), liveliest(run))
    same("first layer", browser.script("return document.querySelector('[aria-selected=true]').id"), "tab-overlay")
    hold("the picture has no colour", browser.script(
        "const c = document.getElementById('stage'); const all = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        "let found = 0; for (let i = 0; i < all.length; i += 4) { found += Math.abs(all[i] - all[i + 2]) > 40; } return found > 50"))
    check_cards(browser, run)
    check_keys(browser, run)
    check_charts(browser, run)
    sets = check_steps(browser, run)
    check_play(browser, run)
    check_words(browser, run)
    check_colours(browser, run)
    browser.choose("sets", sets[1])
    check_tabs(browser)
    check_blocks(browser, run)
    check_histogram(browser, run)
    check_gallery(browser, run, sets)
    light = browser.script("return getComputedStyle(document.body).backgroundColor")
    browser.shape(width, height, not dark)
    hold("light and dark are one",
         browser.script("return getComputedStyle(document.body).backgroundColor") != light)
    browser.shape(height, width, dark)
    check_field(browser, run)


def main():
    clip, evil, none, long, equal, found, parts, trust, several, folder, narrow, deep, wide, far, ahead = map(Run, sys.argv[1:16])
    browser = Browser()
    try:
        for width, height, dark in ((390, 844, False), (1600, 1000, True)):
            check_clip(browser, clip, width, height, dark)
        browser.open(evil.page)
        hold("a name became markup", "owned" not in browser.script("return document.title").split("<")[0])
        hold("the name is not shown",
             "document.title='owned'<!--" in browser.script("return document.getElementById('title').textContent"))
        check_field(browser, evil)
        browser.open(none.page)
        check_field(browser, none)
        hold("pictures in a page without",
             "no pictures" in browser.script("return document.getElementById('nearest').textContent"))
        hold("a layer of confidence without --confidence",
             browser.script("return document.getElementById('tab-confidence') === null"))
        for run, check in ((parts, check_partition), (trust, check_confidence), (several, check_references)):
            browser.open(run.page)
            check(browser, run)
        check_return(browser, several)
        check_address(browser, clip)
        check_folder(browser, folder)
        check_compared(browser, clip, narrow)
        check_touch(browser, clip)
        check_flow_key(browser, clip)
        check_missing(browser, clip)
        check_full_screen(browser, clip)
        check_surface(browser, clip)
        check_exact(browser, clip, clip.page, "clip.y4m")
        check_exact(browser, folder, "folder/index.html", "clip.y4m")
        for run in (far, ahead, deep):
            check_exact(browser, run, run.page)
        check_both(browser, "both.html", "both")
        check_both(browser, "apart/index.html", "apart")
        check_layout(browser, clip)
        for run, pixel in ((trust, (60, 30)), (deep, (40, 75)), (wide, (99, 2))):
            check_computed(browser, run, pixel)
        check_asked(browser, trust)
        if os.path.exists("stream.html"):
            browser.open("stream.html", "#block=1,1")
            hold("a cost surface where nothing was searched", browser.script("return document.getElementById('surface').hidden"))
        seconds = browser.open(long.page)
        check_keys(browser, long)
        print(f"10,000 fields open in {seconds:.2f} s")
        for run, words in ((equal, "PSNR is infinite for every frame pair"), (found, "PSNR after the search is infinite for every frame pair"),
                           (clip, None)):
            browser.open(run.page)
            check_field(browser, run)
            said = browser.script("return [...document.querySelectorAll('#charts .nothing')].map(e =>"
                                  "[e.closest('figure').querySelector('strong').textContent, e.textContent])")
            hold(f"{run.page}: instead of a chart: {said}",
                 said == [] if words is None else len(said) == 1 and said[0][0] == "PSNR" and said[0][1].startswith(words))
        same("the browser complains", browser.complaints(), [])
    finally:
        browser.close()


main()
