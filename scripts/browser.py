"""A headless Chromium, and what axe-core finds in its page. Used by check_report and check_site."""

import base64
import json
import os
import shutil
import subprocess
import sys


class Browser:
    """Chromium with its DevTools protocol on a pair of pipes."""

    def __init__(self, program, profile):
        to_child, from_us = os.pipe()
        from_child, to_us = os.pipe()

        def place_pipes():
            # Copies first: a pipe may have got number 3 or 4 by itself.
            reading, writing = os.dup(to_child), os.dup(to_us)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
             f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=place_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(to_us)
        self.writer, self.reader = from_us, os.fdopen(from_child, "rb")
        self.number, self.events, self.buffer = 0, [], b""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def receive(self):
        while b"\0" not in self.buffer:
            part = self.reader.read1(1 << 16)
            if not part:
                raise RuntimeError("Chromium has gone")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, parameters=None):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters or {}}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") != self.number:
                self.events.append(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            return answer["result"]

    def wait_for(self, event):
        while not any(seen.get("method") == event for seen in self.events):
            self.events.append(self.receive())

    def value(self, expression):
        answer = self.call("Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True})
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def open(self, page, view, query=""):
        """A file, in a view: (width, height, is it a phone, "light" or "dark")."""
        width, height, mobile, scheme = view
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 2 if mobile else 1, "mobile": mobile})
        self.call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.events.clear()
        self.call("Page.navigate", {"url": page.resolve().as_uri() + query})
        self.wait_for("Page.loadEventFired")

    def image(self, path):
        # As tall as the page itself, not in strips.
        data = self.call("Page.captureScreenshot", {"captureBeyondViewport": True, "format": "png"})["data"]
        path.write_bytes(base64.b64decode(data))

    def print(self, path):
        data = self.call("Page.printToPDF", {"printBackground": True, "paperWidth": 8.27, "paperHeight": 11.69})["data"]
        path.write_bytes(base64.b64decode(data))

    def complaints(self, kinds=None):
        """What the console says, and requests beyond files; `kinds` of files that the page may load, None: all."""
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                yield f"console: {json.dumps(parameters)[:300]}"
            if method == "Network.requestWillBeSent":
                url = parameters["request"]["url"]
                if not url.startswith(("data:", "file:")) or kinds and parameters.get("type") not in kinds:
                    yield f"fetches {url[:100]}"

    def close(self):
        self.process.kill()
        self.process.wait()


def program():
    """Chromium's, or the end of this script."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    return found or sys.exit(f"{sys.argv[0]}: Chromium is missing; on Debian: apt-get install chromium")


AXE = """axe.run(document, {preload: false, resultTypes: ["violations"]}).then((found) => found.violations.map((v) =>
  ({id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.slice(0, 5).map((n) => n.html.slice(0, 160) + " " + (n.any[0] ? n.any[0].message : "")),
    count: v.nodes.length})))"""


def violations(browser, axe):
    """What axe-core (its script's text) finds in the page: (is it serious, words)."""
    browser.value(axe)
    for found in browser.value(AXE):
        words = f"axe, {found['impact']}: {found['help']} ({found['count']}): {found['nodes']}"
        yield found["impact"] in ("serious", "critical"), words
