"""Debian's chromium, headless, and what the tests of the page share."""

import json
import os
import subprocess
import tempfile

from sharedcore import Group as Store, Main
from test_requests import Case, until
from web import Web


class Browser:
    """Chromium, spoken to over the DevTools protocol: on two pipes, messages of JSON that end with a zero byte."""

    def __init__(self, address):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        own_input, its_output = os.pipe()
        its_input, own_output = os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec chromium "$@" 3<&{its_input} 4>&{its_output}', "chromium", "--headless",
             "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--window-size=360,800",
             "--user-data-dir=" + self.profile.name],
            pass_fds=(its_input, its_output), stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=self.profile.name))
        os.close(its_input)
        os.close(its_output)
        self.input, self.output = os.fdopen(own_input, "rb"), os.fdopen(own_output, "wb")
        self.number, self.received, self.session = 0, b"", None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Emulation.setDeviceMetricsOverride", width=360, height=800, deviceScaleFactor=1, mobile=True)
        self.call("Page.navigate", url=address)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.output.write(json.dumps(message).encode() + b"\0")
        self.output.flush()
        while True:
            while b"\0" not in self.received:
                part = self.input.read1(1 << 16)
                if not part:
                    raise AssertionError("chromium has ended")
                self.received += part
            line, _, self.received = self.received.partition(b"\0")
            answer = json.loads(line)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(answer["error"])
                return answer["result"]

    def ask(self, expression):
        """The value of an expression, and of a promise what it comes to."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def text(self, selector):
        """The text of the first element of a selector; empty where there is none."""
        return self.ask(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")

    def is_shown(self, selector):
        return self.ask(f"document.querySelector({json.dumps(selector)})?.checkVisibility() ?? false")

    def count(self, selector):
        return self.ask(f"document.querySelectorAll({json.dumps(selector)}).length")

    def click(self, selector):
        self.ask(f"document.querySelector({json.dumps(selector)}).click()")

    def press(self, key, code=None, text=None):
        """Presses a key, such as Tab or Enter."""
        number = {"Tab": 9, "Enter": 13, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39}[key]
        more = {"text": text} if text else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, windowsVirtualKeyCode=number, **more)
            more = {}

    def html(self):
        return self.ask("document.documentElement ? document.documentElement.outerHTML : ''") or ""

    def close(self):
        self.process.kill()
        self.process.wait()
        self.input.close()
        self.output.close()
        self.profile.cleanup()


class ReportingCore:
    def start(self, context):
        self.context = context

    def stop(self, request):
        pass


class PageCase(Case):
    def page(self, group, *arguments):
        """A server of the group, and a browser in which its page is live."""
        web = Web(group, *arguments)
        browser = Browser(web.said["url"])
        self.addCleanup(browser.close)
        until(lambda: browser.is_shown("#main") and browser.text("#state") == "live", "the page is live", 60)
        return web, browser

    def store(self, group, name="test"):
        store = Store(group.path + "/groups/try", name=name)
        self.addCleanup(store.close)
        return store

    def former_owner(self, group, problems):
        """A session of this process that has owned, and has reported so many problems meanwhile; and its Main."""
        store = Store(group.path + "/groups/try", role="main", name="reporter")
        self.addCleanup(store.close)
        core = ReportingCore()
        main = Main(store, lambda: core)
        self.addCleanup(main.close)
        main.wait_until_started(60)
        for number in range(problems):
            core.context.report(f"problem {number}")
        return store, main

    def bars(self, browser, kind):
        """Where the bars of a kind begin and end in the lanes, and the name of their lane."""
        return browser.ask(
            f"[...document.querySelectorAll('#lanes rect.{kind}')].map(r => [Number(r.getAttribute('x')), "
            "Number(r.getAttribute('x')) + Number(r.getAttribute('width')), "
            "document.getElementById('names').children[Math.floor((Number(r.getAttribute('y')) + 9) / 34)].textContent])")
