# SPDX-License-Identifier: BSD-2-Clause
"""ladder_page.py PAGE JSON: the page of gpume ladder in Chromium has the tables of the JSON object, a curve for each size and
a point for each rung where its numbers are on the axes, and fits a phone and a wide screen."""
import json
import math
import os
import re
import sys

import chromium

SHAPES = ((1280, 800, False), (1280, 800, True), (390, 800, True))
TEXTS = "return [...document.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))"
WIDTH = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
AXES = "return [...document.querySelectorAll('svg text:not([class])')].map(t => [t.textContent, t.x.baseVal[0].value, t.y.baseVal[0].value])"
POINTS = "return [...document.querySelectorAll('circle.rung')].map(c => [c.cx.baseVal.value, c.cy.baseVal.value])"
STROKES = "return [...document.querySelectorAll('polyline.curve')].map(line => getComputedStyle(line).stroke)"


def hold(what, condition):
    if not condition:
        sys.exit(f"{sys.argv[1]}: {what}")


def line(pairs):
    """Slope and offset of the line through the first and the last of (value, place)."""
    (a, b), (c, d) = pairs[0], pairs[-1]
    slope = (d - b) / (c - a)
    return slope, b - slope * a


def check(browser, data):
    shown = browser.script(TEXTS)
    sizes = ["%dx%d" % (row["width"], row["height"]) for row in data["hull"] + data["rungs"]]
    hold(f"rows {shown}", [row[0] for row in shown] == sizes)
    for cells, row in zip(shown, data["hull"]):
        hold(f"{cells} of {row}", cells[3:] == ["%.2f" % row["psnr_from"], "%.2f" % row["psnr_to"],
                                                "%.1f" % row["crf_from"], "%.1f" % row["crf_to"]])
    axes = browser.script(AXES)
    psnr = line([(float(text[:-3]), y - 4) for text, x, y in axes if text.endswith(" dB")])
    rate = line([(math.log10(float(text.split()[0]) * (1e6 if "M" in text else 1e3)), x)
                 for text, x, y in axes if re.fullmatch(r"[0-9.]+ [kM]bit/s", text)])
    points = browser.script(POINTS)
    hold(f"points {points}", len(points) == len(data["rungs"]))
    for (x, y), rung in zip(points, data["rungs"]):
        hold(f"{rung} is at {x}, {y}", abs(rate[0] * math.log10(rung["bitrate"]) + rate[1] - x) < 0.5
             and abs(psnr[0] * rung["psnr"] + psnr[1] - y) < 0.5)
    strokes = browser.script(STROKES)
    hold(f"colours {strokes}", len(set(strokes)) == len({(p["width"], p["height"]) for p in data["points"]}) == len(strokes))
    hold("is wider than the screen", browser.script(WIDTH))
    return strokes


def main():
    with open(sys.argv[2]) as file:
        data = json.load(file)
    browser = chromium.Browser()
    strokes = []
    try:
        for width, height, dark in SHAPES:
            browser.shape(width, height, dark)
            browser.command("Page.navigate", url=f"file://{os.path.abspath(sys.argv[1])}")
            browser.wait("return location.protocol === 'file:' && document.readyState === 'complete'", "the page does not open")
            strokes.append(check(browser, data))
        hold("has the same colours in light and dark mode", not set(strokes[0]) & set(strokes[1]))
        hold(f"complaints {browser.complaints()}", not browser.said)
    finally:
        browser.close()


main()
