# SPDX-License-Identifier: BSD-2-Clause
"""filter_page.py PAGE WORDS...: the page of gpume filter in Chromium has these words, and charts and pictures that can be decoded,
and fits a phone and a wide screen."""
import os
import sys

import chromium

SHAPES = ((1280, 800, False), (1280, 800, True), (390, 800, False), (390, 800, True))
PICTURES = """return Promise.all([...document.images].map(image => image.decode().then(
    () => [image.alt, image.naturalWidth, image.naturalHeight])))"""
WIDTH = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
COLUMNS = "return getComputedStyle(document.querySelector('.three')).gridTemplateColumns.split(' ').length"
TEXT = "return document.body.innerText.replace(/\\s+/g, ' ')"
LINES = "return [...document.querySelectorAll('polyline')].map(line => line.points.length)"


def hold(what, condition):
    if not condition:
        sys.exit(f"{sys.argv[1]}: {what}")


def main():
    browser = chromium.Browser()
    try:
        for width, height, dark in SHAPES:
            browser.shape(width, height, dark)
            browser.command("Page.navigate", url=f"file://{os.path.abspath(sys.argv[1])}")
            browser.wait("return location.protocol === 'file:' && document.readyState === 'complete'", "the page does not open")
            pictures = browser.script(PICTURES)
            frames = browser.script("return document.querySelectorAll('h3').length")
            hold(f"pictures {pictures}", pictures == frames * [["before", 320, 240], ["after", 320, 240], ["difference, 8 times", 320, 240]])
            hold(f"{frames} frames", 2 <= frames <= 7)
            text = browser.script(TEXT)
            hold(f"{text!r} has not all of {sys.argv[2:]}", all(words in text for words in sys.argv[2:]))
            hold("charts", browser.script(LINES) == [5] * (2 if "not measured" in text else 3))
            hold("columns", browser.script(COLUMNS) == (3 if width > 640 else 1))
            hold("is wider than the screen", browser.script(WIDTH))
        hold(f"complaints {browser.complaints()}", not browser.said)
    finally:
        browser.close()


main()
