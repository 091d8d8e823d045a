# SPDX-License-Identifier: BSD-2-Clause
"""methods_page.py PAGE TABLE CLIP: the page of gpume methods in Chromium shows the rows of the table and pictures that can be
decoded, and fits a phone and a wide screen. The walks are over the costs of the clip."""
import csv
import os
import sys

import chromium

SHAPES = ((1400, 900, False), (400, 800, True))
TEXTS = "return [...document.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))"
PICTURES = """return Promise.all([...document.images].map(image => image.decode().then(
    () => [image.alt, image.naturalWidth, image.naturalHeight])))"""
WIDTH = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"


def hold(what, condition):
    if not condition:
        sys.exit(f"{sys.argv[1]}: {what}")


def check(browser, rows):
    shown = browser.script(TEXTS)
    hold(f"rows {shown}", [row[0] for row in shown] == [row["method"] for row in rows])
    for cells, row in zip(shown, rows):
        blocks = int(row["blocks"])
        wanted = [row["psnr"], f"{float(row['sad_per_pixel']):.4f}", f"{float(row['bits_per_vector']):.3f}",
                  f"{100 * int(row['vectors_equal']) / blocks:.2f}", f"{100 * int(row['as_good']) / blocks:.2f}"]
        hold(f"{cells}, not {wanted}", [cells[1]] + cells[3:7] == wanted)
    pictures = browser.script(PICTURES)
    named = browser.script("return [...document.querySelectorAll('h3')].map((e) => [e.textContent.match(/[(](.*)[)]/)[1],"
                           "/, 0 differ/.test(e.nextElementSibling.textContent)])")
    hold(f"searches {named}", [name for name, _ in named] == [row["method"] for row in rows])
    want = ["vectors", "cost"]
    for name, alike in named[1:-1]:
        want += [] if alike else ["vectors that differ", "loss"]
    hold(f"pictures {pictures}", [alt for alt, _, _ in pictures] == want + ["vectors", "loss"])
    hold("esa differs from the exact search, or no other does", named[1][1] and not all(alike for _, alike in named[2:-1]))
    hold(f"sizes {pictures}", len({tuple(size) for _, *size in pictures}) == 1 and pictures[0][1] >= 320)
    points = browser.script("return document.querySelectorAll('svg circle').length")
    hold(f"{points} points", points == len(rows))  # not none, but exact twice
    hold("names are not spelled out", browser.script("return document.querySelector('dl.searches').innerText.includes('Three-step search (tss)')"))
    hold("is wider than the screen", browser.script(WIDTH))


def check_walks(browser, clip):
    """Over the exact costs of a block, each as far as its search goes, and in steps."""
    with open(clip, "rb") as file:
        head, *frames = file.read().split(b"FRAME\n")
    width, height = (int(word[1:]) for word in head.split()[1:3])
    walk = browser.script("return data.walk")
    target, reference = frames[walk["target"]], frames[walk["reference"]]
    side, reach = walk["block"], walk["window"]
    inside_x, inside_y = width // side * side, height // side * side

    def cost(dx, dy):
        x, y = walk["x"] + dx, walk["y"] + dy
        if x < 0 or y < 0 or x + side > inside_x or y + side > inside_y:
            return None
        return sum(abs(target[(walk["y"] + j) * width + walk["x"] + i] - reference[(y + j) * width + x + i]) for j in range(side) for i in range(side))

    costs = [cost(dx, dy) for dy in range(-reach, reach + 1) for dx in range(-reach, reach + 1)]
    hold("costs of the walks", browser.script("return [...COSTS].map((cost) => Number.isNaN(cost) ? null : cost)") == costs)
    found = {method: (dx, dy) for method, _, dx, dy in walk["found"]}
    drawn = browser.script("return [...document.querySelectorAll('#walk-grid canvas')].map((e) => ({...e.dataset}))")
    hold(f"walks {drawn}", [one["method"] for one in drawn] == ["esa", "tss", "tdls", "ntss", "fss", "ds", "hexbs"])
    for one in drawn:
        place = (int(one["dx"]), int(one["dy"]))
        hold(f"{one} does not end at {found[one['method']]}", place == found[one["method"]] and cost(*place) == int(one["cost"]))
    known = sum(value is not None for value in costs)
    hold(f"places of esa: {drawn[0]}", int(drawn[0]["places"]) == known and int(drawn[0]["cost"]) == min(value for value in costs if value is not None))
    hold("fast searches look everywhere", all(int(one["places"]) < known / 2 for one in drawn[1:]))
    # The best so far never gets worse, here and on surfaces of any shape.
    rises = """const kept = COSTS.slice();
        let rises = 0;
        for (let seed = 0; seed < 200; seed++) {
            if (seed > 0) {
                COSTS.forEach((cost, i) => { COSTS[i] = (Math.imul(i + 1, 2654435761 + 97 * seed) >>> 16) % 1000; });
            }
            for (const walk of Object.values(WALKS)) {
                const one = new Walk();
                walk(one);
                const best = one.points.map((point) => costAt(...point.best));
                rises += best.some((cost, i) => i > 0 && cost > best[i - 1]) ? 1 : 0;
            }
        }
        COSTS.set(kept);
        return rises"""
    hold("the best of a walk gets worse", browser.script(rises) == 0)
    browser.choose("walk-place", "1")
    hold("the first step", browser.script("return [...document.querySelectorAll('#walk-grid canvas')].slice(1).map((e) => e.dataset.count)") == 6 * ["1"])
    browser.click("#walk-play")
    browser.wait("return clock.at === longest() && !clock.playing", "the walks do not end")
    hold("played", browser.script("return [...document.querySelectorAll('#walk-grid canvas')].map((e) => ({...e.dataset}))") == drawn)


def main():
    with open(sys.argv[2], newline="") as file:
        rows = list(csv.DictReader(file))
    browser = chromium.Browser()
    try:
        for width, height, dark in SHAPES:
            browser.shape(width, height, dark)
            browser.command("Page.navigate", url=f"file://{os.path.abspath(sys.argv[1])}")
            browser.wait("return location.protocol === 'file:' && document.readyState === 'complete'", "the page does not open")
            check(browser, rows)
        check_walks(browser, sys.argv[3])
        hold(f"complaints {browser.complaints()}", not browser.said)
    finally:
        browser.close()


main()
