"""Takes the pictures of the page for the guide, of a scripted run: pictures.py DIRECTORY, with PROGRAMS as for the tests.

Light and dark, 1200 and 360 px wide; each has less than 150 KB.
"""

import base64
import os
import subprocess
import sys

from browser import Browser, ReportingCore
from sharedcore import Call, Group as Store, Main
from test_requests import PROGRAMS
from web import Group, Web, until

#: The width and the height of a picture.
SIZES = [(1200, 950), (360, 740)]
BYTE_COUNT = 150_000


def play(group):
    """Makes a group in which each part of the page has something to show."""
    path = group.path + "/groups/try"
    for name, value in (
        ("settings/theme", "dark"), ("settings/ringtone", "bells"), ("contacts/ann", '{"name": "Ann", "uri": "sip:ann@example.org"}'),
        ("contacts/bob", '{"name": "Bob"}'), ("presence", "online"),
    ):
        group.run("put", name, value)
    for number in range(3):
        group.run("mailbox", "send", "thumbnails", str(number), "--queue")
    group.run("mailbox", "take", "thumbnails", "--timeout", "5s")
    group.run("--group", "calendar", "put", "entries/1", "value")
    group.run("executor", "--call-id", "absent", "--timeout", "100ms", "--name", "push 1", check=False)
    core = ReportingCore()
    store = Store(path, role="main", name="telephone")
    main = Main(store, lambda: core)
    main.wait_until_started(60)
    core.context.begin_call(Call("call-17", sender="sip:ann@example.org", recipient="sip:me@example.org", state="answered"))
    group.environment.update(SHAREDCORE_EXECUTOR_COMMAND="/bin/sleep 600", SHAREDCORE_EXECUTOR_LIMIT="1")
    host = group.start("serve", stderr=subprocess.DEVNULL)
    for name in ("18", "19", "20"):
        group.run("push", name, "--account", "me@example.org")
    until(lambda: any(p["pid"] for p in group.lines("push", "--list")), "an Executor has the push")
    return store, main, host


def take(web, directory):
    browser = Browser(web.said["url"])
    try:
        until(lambda: browser.is_shown("#main") and browser.text("#state") == "live", "the page is live", 60)
        until(lambda: "call-17" in browser.text("#calls") and "handles it" in browser.text("#waiting"), "all parts")
        for scheme in ("light", "dark"):
            browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            for width, height in SIZES:
                browser.call(
                    "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
                browser.ask("scrollTo(0, 0); new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
                data = base64.b64decode(browser.call("Page.captureScreenshot", format="png")["data"])
                name = f"{directory}/page-{scheme}-{width}.png"
                if len(data) > BYTE_COUNT:
                    sys.exit(f"{name} would have {len(data)} bytes, and {BYTE_COUNT} at most")
                with open(name, "wb") as file:
                    file.write(data)
                print(f"{name}: {len(data)} bytes", flush=True)
    finally:
        browser.close()


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    group = Group(PROGRAMS)
    try:
        store, main, host = play(group)
        take(Web(group), sys.argv[1])
        main.close()
        store.close()
        host.terminate()
        host.wait()
    finally:
        group.close()
