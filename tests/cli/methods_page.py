# SPDX-License-Identifier: BSD-2-Clause
"""methods_page.py PAGE TABLE: the page of gpume methods in Chromium shows the rows of the table and pictures that can be
decoded, and fits a phone and a wide screen."""
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
    hold(f"pictures {pictures}", [alt for alt, _, _ in pictures] == ["vectors", "cost"] + (len(rows) - 1) * ["vectors", "loss"])
    hold(f"sizes {pictures}", len({tuple(size) for _, *size in pictures}) == 1 and pictures[0][1] >= 320)
    points = browser.script("return document.querySelectorAll('svg circle').length")
    hold(f"{points} points", points == len(rows) - 1)
    hold("is wider than the screen", browser.script(WIDTH))


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
        hold(f"complaints {browser.complaints()}", not browser.said)
    finally:
        browser.close()


main()
