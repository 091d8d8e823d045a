# SPDX-License-Identifier: BSD-2-Clause
"""Drives headless Chromium by Selenium's WebDriver, of Debian's packages python3-selenium and chromium-driver. What a user
does with the mouse and the keys goes through the commands of Chromium's DevTools protocol, which reach the page as
events of a user."""
import base64
import json
import os
import shutil
import sys
import tempfile
import time

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service

HANG_SECONDS = 600  # a page that takes longer hangs; a second or two are usual

# name: (key, code, number of the key, text)
KEYS = {"left": ("ArrowLeft", 37), "up": ("ArrowUp", 38), "right": ("ArrowRight", 39), "down": ("ArrowDown", 40),
        "home": ("Home", 36), "end": ("End", 35), "page down": ("PageDown", 34), "enter": ("Enter", 13), "tab": ("Tab", 9)}
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def program():
    return next((found for found in map(shutil.which, PROGRAMS) if found), None)


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp()
        options = webdriver.ChromeOptions()
        options.binary_location = program()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                         f"--user-data-dir={self.folder}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "WARNING"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.driver.command_executor.set_timeout(HANG_SECONDS)
        self.driver.set_script_timeout(HANG_SECONDS)
        self.said = []

    def close(self):
        self.driver.quit()
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, name, **parameters):
        try:
            return self.driver.execute_cdp_cmd(name, parameters)
        except WebDriverException as failure:
            return sys.exit(f"{name}: {failure.msg}")

    def script(self, text, *arguments):
        """The value of a function's body, which may await."""
        code = f"(async (...passed) => (function () {{ {text} }}).apply(window, passed))(...{json.dumps(arguments)})"
        answer = self.command("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            sys.exit(f"{text}: {answer['exceptionDetails'].get('exception', {}).get('description', answer)}")
        return answer["result"].get("value")

    def shape(self, width, height, dark=False):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                     mobile=width < 600)
        self.command("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path, address=""):
        start = time.monotonic()
        self.command("Page.navigate", url="about:blank")
        self.command("Page.navigate", url=f"file://{os.path.abspath(path)}{address}")
        self.wait("return location.protocol === 'file:' && document.body !== null && document.body.dataset.ready === 'yes'",
                  f"{path} does not open")
        return time.monotonic() - start

    def wait(self, text, words, *arguments):
        end = time.monotonic() + HANG_SECONDS
        while not self.script(text, *arguments):
            if time.monotonic() > end or ("ready" in text and self.complaints()):
                sys.exit(f"{words} {self.said}")
            time.sleep(0.05)

    def press(self, element, *names):
        """Keys on an element that gets the focus first."""
        self.script("document.getElementById(arguments[0]).focus()", element)
        for name in names:
            key, number = KEYS.get(name, (name, ord(name[0].upper())))
            text = "\r" if name == "enter" else name if len(name) == 1 else ""
            down = {"type": "keyDown" if text else "rawKeyDown", "key": key, "windowsVirtualKeyCode": number}
            self.command("Input.dispatchKeyEvent", **down, **({"text": text} if text else {}))
            self.command("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=number)
        self.rest_of_frame()

    def rest_of_frame(self):
        """Lets the page finish what an event has begun."""
        self.script("return new Promise((done) => setTimeout(done, 30))")

    def place(self, selector, x, y):
        """A share of an element's box, in the window."""
        return self.script(
            "const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center'});"
            "const b = e.getBoundingClientRect();"
            "return [b.left + b.width * arguments[1], b.top + b.height * arguments[2]]", selector, x, y)

    def mouse(self, kind, x, y, **more):
        self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def point(self, selector, x, y, click=False):
        """The mouse to a share of an element's box."""
        left, top = map(int, self.place(selector, x, y))
        self.mouse("mouseMoved", left, top)
        if click:
            self.mouse("mousePressed", left, top, button="left", buttons=1, clickCount=1)
            self.mouse("mouseReleased", left, top, button="left", clickCount=1)
        self.rest_of_frame()

    def drag(self, selector, begin, end):
        left, top = map(int, self.place(selector, *begin))
        right, bottom = map(int, self.place(selector, *end))
        self.mouse("mouseMoved", left, top)
        self.mouse("mousePressed", left, top, button="left", buttons=1, clickCount=1)
        for share in (0.3, 0.7, 1):
            self.mouse("mouseMoved", left + share * (right - left), top + share * (bottom - top), button="left", buttons=1)
        self.mouse("mouseReleased", right, bottom, button="left", clickCount=1)
        self.rest_of_frame()

    def wheel(self, selector, x, y, turn):
        left, top = map(int, self.place(selector, x, y))
        self.mouse("mouseWheel", left, top, deltaX=0, deltaY=turn)
        self.rest_of_frame()

    def fingers(self, on):
        """Whether the device has a touch screen, and nothing else to point with."""
        self.command("Emulation.setTouchEmulationEnabled", enabled=on, maxTouchPoints=5 if on else 1)

    def touch(self, selector, *moves):
        """Fingers that go down, move and go up: for each moment the places of all of them, as shares of an element's box."""
        places = [[dict(zip("xy", self.place(selector, *finger)), id=i) for i, finger in enumerate(fingers)] for fingers in moves]
        self.command("Input.dispatchTouchEvent", type="touchStart", touchPoints=places[0])
        for points in places[1:]:
            self.command("Input.dispatchTouchEvent", type="touchMove", touchPoints=points)
        self.command("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.rest_of_frame()

    def click(self, selector):
        self.point(selector, 0.5, 0.5, click=True)

    def choose(self, element, value):
        self.script("const e = document.getElementById(arguments[0]); e.value = arguments[1];"
                    "e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change'))", element, value)
        self.rest_of_frame()

    def dataset(self, element):
        return self.script("return {...document.getElementById(arguments[0]).dataset}", element)

    def picture(self, path, whole=False):
        """A picture of the window, or of the whole page, as PNG."""
        answer = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def complaints(self):
        """What the page has logged as an error or a warning until now."""
        self.said += [entry["message"] for entry in self.driver.get_log("browser")]
        return self.said
