# SPDX-License-Identifier: BSD-2-Clause
"""Drives headless Chromium through its DevTools protocol, over the pipe of --remote-debugging-pipe, with the standard
library alone. Messages are JSON, each followed by a zero byte: descriptor 3 of the browser reads, 4 writes."""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

HANG_SECONDS = 600  # a page that takes longer hangs; a second or two are usual

# name: (key, code, number of the key, text)
KEYS = {"left": ("ArrowLeft", 37), "up": ("ArrowUp", 38), "right": ("ArrowRight", 39), "down": ("ArrowDown", 40),
        "home": ("Home", 36), "end": ("End", 35), "page down": ("PageDown", 34), "enter": ("Enter", 13), "tab": ("Tab", 9)}
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def program():
    return next((found for found in map(shutil.which, PROGRAMS) if found), None)


def spawn(folder):
    """Chromium with pipes as its descriptors 3 and 4; our ends of them."""
    into, out = os.pipe(), os.pipe()
    command = [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
               "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank"]

    def arrange():
        high = [os.dup(into[0]), os.dup(out[1])]  # out of the way of 3 and 4
        while high[0] < 5 or high[1] < 5:
            high = [os.dup(end) for end in high]
        os.dup2(high[0], 3)
        os.dup2(high[1], 4)

    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False,
                             preexec_fn=arrange)
    os.close(into[0])
    os.close(out[1])
    return child, into[1], out[0]


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp()
        self.child, self.to, self.source = spawn(self.folder)
        self.number, self.rest, self.said, self.session = 0, b"", [], None
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.command(f"{domain}.enable")

    def close(self):
        try:
            session, self.session = self.session, None
            self.command("Browser.close")
            self.session = session
        except (OSError, SystemExit):
            self.child.kill()
        self.child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def read(self):
        """The next message."""
        while b"\0" not in self.rest:
            if not select.select([self.source], [], [], HANG_SECONDS)[0]:
                sys.exit("the browser does not answer")
            more = os.read(self.source, 1 << 20)
            if not more:
                sys.exit("the browser has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        """Keeps what the browser complains about."""
        found = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.said.append(json.dumps(found["exceptionDetails"].get("exception", found))[:800])
        elif message.get("method") == "Log.entryAdded" and found["entry"]["level"] in ("error", "warning"):
            self.said.append(found["entry"]["text"])
        elif message.get("method") == "Runtime.consoleAPICalled" and found["type"] in ("error", "warning", "assert"):
            self.said.append(json.dumps(found["args"]))

    def command(self, name, **parameters):
        self.number += 1
        message = {"id": self.number, "method": name, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{name}: {answer['error']}")
                return answer["result"]
            self.note(answer)

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
            if time.monotonic() > end or (self.said and "ready" in text):
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
        self.script("return 0")  # reads what has been said until now
        return self.said
