"""Rare states on the page, in chromium: hostile texts, each warning and none where all is well, values, hand-overs, many keys."""

import base64
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import unittest
from urllib.parse import quote

import hostile
from browser import PageCase, ReportingCore
from sharedcore import Baton, Call, Executor, Group as Store, Main, Operation, SharedCoreError
from test_requests import CORE, DOCUMENTS, until
from web import Web


class Hostile(PageCase):
    def group_of_hostile_texts(self):
        """A group in which each place for foreign text has every hostile text that it takes."""
        group = self.group(SHAREDCORE_EXECUTOR_COMMAND="/bin/false", SHAREDCORE_EXECUTOR_ATTEMPTS="1")
        store = self.store(group)
        taken = {"key": 0, "session": 0, "mailbox": 0, "push": 0, "problem": 0, "call": 0, "activity": 0}

        def offer(place, body):
            try:
                body()
            except (SharedCoreError, AssertionError):
                return
            taken[place] += 1

        core = ReportingCore()
        owner = Store(group.path + "/groups/try", role="main", name="owner")
        self.addCleanup(owner.close)
        main = Main(owner, lambda: core)
        self.addCleanup(main.close)
        main.wait_until_started(60)
        opened = []
        self.addCleanup(lambda: [one.close() for one in opened])
        for number, text in enumerate(hostile.TEXTS):
            offer("key", lambda: store.put("h/" + text.replace("/", "|"), text.encode()))
            offer("session", lambda: opened.append(Store(group.path + "/groups/try", name=text)))
            offer("mailbox", lambda: group.run("mailbox", "send", text, "1", "--queue"))
            offer("push", lambda: group.run("push", f"{number}{text}", "--account", text))
            offer("problem", lambda: core.context.report(text))
            offer("call", lambda: core.context.begin_call(Call(f"{number}{text}", sender=text, recipient=text)))
            offer("activity", lambda: core.context.begin_activity("transfer", text))
        for place, count in taken.items():
            self.assertGreater(count, len(hostile.TEXTS) // 3, place)
        host = group.start("serve", stderr=subprocess.DEVNULL)
        until(lambda: len(group.lines("push", "--given-up")) >= 3, "pushes are given up")
        host.terminate()
        host.wait()
        group.run("push", "waiting <b>x</b>")
        return group

    def test_no_hostile_text_acts_on_the_page(self):
        group = self.group_of_hostile_texts()
        web, browser = self.page(group, "--allow-actions")
        until(lambda: browser.count("#keys tbody tr") >= 2, "the keys")
        browser.ask("window.struck = []; window.alert = text => struck.push(text); 0")
        browser.ask("[...document.querySelectorAll('#keys button')].find(b => b.textContent.endsWith(' keys')).click()")
        until(lambda: browser.count("#keys tbody tr") >= 10, "the hostile keys")
        # Whatever is shown is plain text: no element that the page does not make itself, nothing that acts on its reader.
        made = browser.ask("[...new Set([...document.querySelectorAll('body *')].map(e => e.localName))].sort()")
        script = """(() => {
            const found = [], command = /[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]/;
            for (const e of document.querySelectorAll('body *')) {
                if (e.localName === 'script') continue;
                for (const a of e.attributes) if (!a.name.startsWith('data-') && (command.test(a.value) || a.name.startsWith('on'))) found.push([e.localName, a.name, a.value]);
                for (const n of e.childNodes) if (n.nodeType === 3 && command.test(n.data)) found.push([e.localName, n.data]);
            }
            return found;
        })()"""
        buttons = browser.ask("[...document.querySelectorAll('#keys tbody button')].length")
        for number in range(buttons):
            browser.ask(f"[...document.querySelectorAll('#keys tbody button')][{number}]?.click()")
            for form in ("text", "hex", "JSON"):
                browser.ask(
                    f"(f => {{ f.value = '{form}'; f.dispatchEvent(new Event('change')); }})(document.getElementById('form'))")
                self.assertEqual(browser.ask(script), [])
        # The dialogues that name what they will do.
        for label in ("Drop ", "End session "):
            count = browser.ask(f"[...document.querySelectorAll('main button')].filter(b => b.ariaLabel?.startsWith('{label}')).length")
            self.assertGreater(count, 2)
            for number in range(count):
                browser.ask(
                    f"[...document.querySelectorAll('main button')].filter(b => b.ariaLabel?.startsWith('{label}'))[{number}]?.click()")
                self.assertEqual(browser.ask(script), [])
                browser.click("#leave")
        for dot in range(browser.count("#lanes circle")):
            browser.ask(f"document.querySelectorAll('#lanes circle')[{dot}]?.dispatchEvent(new Event('click'))")
            self.assertEqual(browser.ask(script), [])
        for element in ("img", "iframe", "b", "i"):
            self.assertNotIn(element, made)
        self.assertEqual(browser.count("script"), 1)
        self.assertEqual(browser.count("svg"), 1)
        self.assertEqual(browser.count("a"), 0)
        self.assertEqual(browser.ask("struck"), [])
        shown = browser.text("body")
        for text in ("<script>alert(1)</script>", "&lt;i&gt;&#60;i&#62;", "\\u{202E}evil\\u{202C} \\u{2066}isolated", "__proto__"):
            self.assertIn(text, shown)

    def test_no_hostile_text_commands_the_terminal(self):
        """The report of “status --watch” on a terminal has the sequences of its screen alone."""
        group = self.group_of_hostile_texts()
        own = re.compile(r"\x1b\[(?:\?(?:1049|25|7)[hl]|[HJK]|\d{1,2}m)|\r+\n")
        process, terminal = pty.fork()
        if process == 0:
            os.execve(
                group.programs + "/sharedcore", ["sharedcore", "status", "--watch"],
                dict(group.environment, TERM="xterm-256color", LANG="C.UTF-8", LC_ALL="C.UTF-8"))
        self.addCleanup(os.close, terminal)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 400, 250, 0, 0))
        shown, end = b"", time.monotonic() + 20
        try:
            while time.monotonic() < end and shown.count(b"\x1b[J") < 3:
                if select.select([terminal], [], [], 0.2)[0]:
                    shown += os.read(terminal, 1 << 16)
        finally:
            os.kill(process, signal.SIGTERM)
            os.waitpid(process, 0)
        text = shown.decode("utf-8")
        self.assertGreater(text.count("\x1b[J"), 1)
        left = hostile.COMMANDS.findall(own.sub("", text))
        self.assertEqual(left, [])
        self.assertIn("<script>alert(1)</script>", text)
        # Elsewhere, too, each report is lines without anything else.
        watch = subprocess.Popen(
            [group.programs + "/sharedcore", "status", "--watch"], env=group.environment, stdout=subprocess.PIPE)
        self.addCleanup(watch.stdout.close)
        first = b""
        while b"sessions" not in first or first.count(b"\n") < 12:
            first += os.read(watch.stdout.fileno(), 1 << 16)
        watch.terminate()
        watch.wait()
        self.assertEqual(hostile.COMMANDS.findall(first.decode().replace("\n", "")), [])


class Warnings(PageCase):
    """A warning is never wrong: a healthy group has none, and each comes with its cause and goes with it."""

    #: What is shown as a warning or as a failure, anywhere.
    SHOWN = ("[...document.querySelectorAll('.warn, .bad')].filter(e => e.checkVisibility() && (e.localName !== 'p' || e.textContent))"
             ".map(e => (e.id || e.closest('[id]').id) + ': ' + (e.getAttribute('aria-label') ?? e.textContent))")

    def warnings(self, browser):
        return browser.ask(self.SHOWN)

    def test_a_healthy_group_has_none(self):
        group = self.group(
            SHAREDCORE_CORE_COMMAND=CORE, CORE_PROBLEMS="0", SHAREDCORE_EXECUTOR_COMMAND="/bin/true")
        main = group.start("main", stderr=subprocess.DEVNULL)
        host = group.start("--json", "serve", stderr=subprocess.DEVNULL)
        until(lambda: group.lines("inbox") and group.lines("calls"), "the core has delivered and begun a call")
        web, browser = self.page(group, "--allow-actions")
        self.assertEqual(self.warnings(browser), [])
        for number in range(20):
            group.run("push", f"push-{number}")
            group.run("put", "key", str(number))
            group.run("mailbox", "send", "jobs", str(number), "--queue")
        group.run("mailbox", "take", "jobs", "--timeout", "5s")
        until(lambda: group.lines("push", "--list") == [], "all pushes are served")
        until(lambda: browser.text("#push-counts").startswith("0 waiting, 0 taken, 0 given up"), "the page shows it")
        self.assertEqual(self.warnings(browser), [])
        # An owner that ends in order, and the next one.
        main.terminate()
        main.wait()
        until(lambda: "none" in browser.text("#owner"), "nobody owns")
        self.assertEqual(self.warnings(browser), [])
        group.start("main", stderr=subprocess.DEVNULL)
        until(lambda: "running" in browser.text("#owner"), "the next one owns")
        self.assertEqual(self.warnings(browser), [])
        self.assertIn("no rule is broken", browser.text("#about"))
        host.terminate()

    def comes(self, browser, begin, text, what):
        until(lambda: any(w.startswith(begin) and text in w for w in self.warnings(browser)), what, 30)

    def goes(self, browser, begin):
        until(lambda: not any(w.startswith(begin) for w in self.warnings(browser)), f"{begin} goes", 30)

    def test_a_stopped_owner_and_a_paused_host(self):
        group = self.group(SHAREDCORE_CORE_COMMAND=CORE, CORE_PROBLEMS="0")
        main = group.start("main", stderr=subprocess.DEVNULL)
        until(lambda: group.lines("calls"), "the core runs")
        _, browser = self.page(group)
        self.assertEqual(self.warnings(browser), [])
        main.send_signal(signal.SIGSTOP)
        self.comes(browser, "owner: ", "its process is stopped", "the stopped owner")
        main.send_signal(signal.SIGCONT)
        self.goes(browser, "owner: ")
        group.run("push", "--pause")
        self.comes(browser, "push-counts: ", "the host is paused", "the paused host")
        group.run("push", "--resume")
        self.goes(browser, "push-counts: ")

    def test_a_problem_of_a_core_and_a_broken_timeline(self):
        group = self.group()
        store, _ = self.former_owner(group, 0)
        _, browser = self.page(group)
        self.assertEqual(self.warnings(browser), [])
        store.put(".sharedcore/timeline/0000000000000001-0000000000000001", b"\xff")
        self.comes(browser, "about: ", "", "what the checker has found")
        group = self.group(SHAREDCORE_CORE_COMMAND=CORE)
        group.start("main", stderr=subprocess.DEVNULL)
        _, browser = self.page(group)
        self.comes(browser, "events: ", "problem", "the problem in the table")
        self.comes(browser, "lanes: ", "problem 0", "the problem in the lanes")

    def test_a_group_that_cannot_be_read(self):
        group = self.group()
        group.run("--group", "damaged", "put", "key", "value")
        _, browser = self.page(group)
        self.assertEqual(self.warnings(browser), [])
        folder = group.path + "/groups/damaged"
        for name in os.listdir(folder):
            if name.startswith("journal-"):
                with open(f"{folder}/{name}", "r+b") as file:
                    file.write(b"\xff" * 4096)
        self.comes(browser, "groups: ", "", "the damaged group")

    def test_a_page_that_is_not_live(self):
        group = self.group()
        web, browser = self.page(group)
        self.assertEqual(self.warnings(browser), [])
        browser.click("#pause")
        self.comes(browser, "state: ", "paused: nothing is updated", "the paused page")
        browser.click("#pause")
        self.goes(browser, "state: ")
        web.process.send_signal(signal.SIGUSR1)
        web.token = json.loads(web.process.stdout.readline())["url"].split("#")[1]
        web.sign_in()
        self.comes(browser, "state: ", "Signed out", "another browser is admitted")
        web, browser = self.page(group)
        web.process.kill()
        web.process.wait()
        self.comes(browser, "state: ", "disconnected", "the server has ended")

    def test_an_action_that_is_refused(self):
        group = self.group(SHAREDCORE_CORE_COMMAND=CORE, CORE_PROBLEMS="0")
        main = group.start("main", stderr=subprocess.DEVNULL)
        web, browser = self.page(group, "--allow-actions")
        until(lambda: browser.is_shown("#hand-over"), "the owner")
        browser.click("#hand-over")
        main.terminate()
        main.wait()
        browser.click("#do")
        self.comes(browser, "outcome: ", "no participant owns the core", "the refusal")


class MovingCore(ReportingCore):
    """A core that gives a baton with its call, or waits with one that it has got."""

    SECRET = b"SECRET-BATON-\x00\xfe\xff-of-the-call"

    def __init__(self):
        self.context = None
        self.arrived, self.goes_on, self.has_ended = threading.Event(), threading.Event(), threading.Event()

    def start(self, context):
        super().start(context)
        if context.baton is not None:
            self.arrived.set()
            self.goes_on.wait(8)
            context.baton.apply()["moving-call"].end("hungUp")

    def hand_over(self, request):
        return Baton("line/1", self.SECRET, ["moving-call"], [])

    def baton_ended(self, end):
        self.has_ended.set()


class HandOvers(PageCase):
    def test_why_a_hand_over_waits(self):
        group = self.group()
        path = group.path + "/groups/try"
        core, second = ReportingCore(), ReportingCore()
        with Store(path, role="executor", name="busy") as one, Store(path, role="main", name="asking") as other:
            with Executor(one, lambda: core) as executor:
                executor.ask("none", timeout=120)
                until(lambda: hasattr(core, "context"), "the Executor owns")
                activity = core.context.begin_activity("transfer", "a-file<b>")
                _, browser = self.page(group)
                until(lambda: "Busy with" in browser.text("#owner"), "the activity")
                self.assertNotIn("Waits for it", browser.text("#owner"))
                with Main(other, lambda: second) as main:
                    until(lambda: "Waits for it" in browser.text("#owner"), "the Main that asks")
                    self.assertRegex(browser.text("#owner"), r"Waits for itmain “asking”, pid \d+, for \d+ s")
                    self.assertRegex(browser.text("#owner"), r"It waits fortransfer a-file<b>, for \d+ s")
                    self.assertEqual(browser.count("#owner .warn"), 1)
                    # The bar of the owner goes on in its lane, and begins in the other one with its acquisition.
                    ((start, end, name),) = self.bars(browser, "own")
                    self.assertIn("busy", name)
                    activity.end()
                    main.wait_until_started(60)
                    until(lambda: len(self.bars(browser, "own")) == 2, "the bar of the Main")
                    until(lambda: browser.text("#owner").startswith("Rolemain"), "the Main owns")
                    (_, end, former), (start, last, present) = self.bars(browser, "own")
                    self.assertIn("busy", former)
                    self.assertIn("asking", present)
                    self.assertLessEqual(end, start)
                    self.assertEqual(last, float(browser.ask("document.getElementById('lanes').getAttribute('width')")))
                    self.assertNotIn("Waits for it", browser.text("#owner"))

    def test_a_baton_is_in_no_document(self):
        group = self.group()
        path = group.path + "/groups/try"
        first, second = MovingCore(), MovingCore()
        web = Web(group)
        web.sign_in()
        stream = web.stream(0)
        everything = []

        def collect():
            """All documents, with all keys that they name, and the page without a script."""
            for name in DOCUMENTS + ["timeline?limit=500"]:
                everything.append(web.get("/api/" + name).body)
            with Store(path, read_only=True) as reader:
                keys = [entry.key for entry in reader.list("").entries]
            self.assertTrue(any(key.startswith(".sharedcore/ownership") for key in keys))
            for key in keys:
                everything.append(web.get("/api/entry?key=" + quote(key)).body)

        with Store(path, role="executor") as one, Store(path, role="main") as other:
            with Executor(one, lambda: first) as executor:
                executor.ask("none", timeout=120)
                until(lambda: first.context, "the Executor owns")
                call = first.context.begin_call(Call("moving-call", state="answered"))
                call.set_moves("line/1", needs_descriptors=False)
                with Main(
                    other, lambda: second, takes_batons=["line/1"], handover_timeout=60, handover_maximum_timeout=60
                ) as main:
                    until(second.arrived.is_set, "the baton has arrived")
                    self.assertIsNotNone(other.get(".sharedcore/ownership/baton"), "the group names it")
                    collect()
                    second.goes_on.set()
                    main.wait_until_started(60)
                    until(first.has_ended.is_set, "it was applied")
                    collect()
        events = [record["event"] for record in web.document("timeline")["records"]]
        self.assertIn("batonOffered", events)
        self.assertIn("batonApplied", events)
        until(lambda: "batonApplied" in [r["event"] for r in stream.records], "the stream has told of it")
        everything.append(json.dumps(stream.events).encode())
        stream.close()
        shown = b"\n".join(everything)
        self.assertIn(b"moving-call", shown)
        secret = MovingCore.SECRET
        forms = [secret, b"SECRET-BATON", secret.hex().encode(), b"of-the-call"]
        # The middle of its Base64 from each place in a group of three bytes.
        forms += [base64.b64encode(secret[start:])[:20] for start in range(3)]
        for form in forms:
            self.assertNotIn(form, shown)


class Values(PageCase):
    def show(self, browser, name):
        until(lambda: name in browser.text("#keys"), "the key")
        browser.ask(f"[...document.querySelectorAll('#keys button')].find(b => b.textContent === '{name}').click()")
        until(lambda: browser.text("#entry-key") == name, "the value")

    def choose(self, browser, form):
        browser.ask(f"(f => {{ f.value = '{form}'; f.dispatchEvent(new Event('change')); }})(document.getElementById('form'))")
        return browser.text("#value")

    def test_forms_of_a_value(self):
        group = self.group()
        store = self.store(group)
        store.put("json", json.dumps({"b": [1, {"c": "<b>é"}]}).encode())
        store.put("bytes", bytes(range(20)) + b"\xff")
        store.put("plain", "no JSON, é".encode())
        _, browser = self.page(group)
        self.show(browser, "json")
        self.assertEqual(self.choose(browser, "text"), json.dumps({"b": [1, {"c": "<b>é"}]}, ensure_ascii=True))
        self.assertEqual(self.choose(browser, "JSON"), json.dumps({"b": [1, {"c": "<b>é"}]}, indent=2, ensure_ascii=False))
        self.assertRegex(self.choose(browser, "hex"), r"^000000  7b 22 62 22 3a ")
        self.show(browser, "bytes")
        self.assertEqual(
            self.choose(browser, "hex"),
            "000000  00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f\n000010  10 11 12 13 ff")
        self.assertEqual(self.choose(browser, "text"), "This is no text; choose hex.")
        self.assertEqual(self.choose(browser, "JSON"), "This is no JSON.")
        self.show(browser, "plain")
        self.assertEqual(self.choose(browser, "JSON"), "This is no JSON.")
        self.assertEqual(self.choose(browser, "text"), "no JSON, é")

    def test_a_key_is_watched(self):
        group = self.group()
        store = self.store(group)
        store.put("watched", b"first")
        _, browser = self.page(group)
        self.show(browser, "watched")
        until(lambda: browser.text("#value") == "first", "the value")
        revision = store.put("watched", b"second")
        until(lambda: browser.text("#value") == "second", "the next value")
        self.assertIn(f"6 bytes, revision {revision}", browser.text("#entry-note"))
        store.delete("watched")
        until(lambda: browser.text("#entry-note") == "is absent", "it is absent")
        store.put("watched", b"again")
        until(lambda: browser.text("#value") == "again", "it is there again")


class Buttons(PageCase):
    def act(self, browser, selector, title, outcome):
        browser.click(selector)
        self.assertIn(title, browser.text("#confirm-title"))
        browser.click("#do")
        until(lambda: outcome in browser.text("#outcome"), f"“{outcome}”", 30)
        self.assertEqual(browser.ask("document.getElementById('outcome').className"), "good")

    def test_compact_resume_and_the_end_of_a_session(self):
        group = self.group(SHAREDCORE_CORE_COMMAND=CORE, CORE_PROBLEMS="0")
        for _ in range(5):
            group.run("put", "key", "x" * 50000)
        main = group.start("main", stderr=subprocess.DEVNULL)
        until(lambda: group.lines("calls"), "the core runs")
        group.run("push", "--pause")
        _, browser = self.page(group, "--allow-actions")
        until(lambda: browser.is_shown("#compact") and browser.is_shown("#resume-host"), "the buttons")
        size = lambda: sum(
            os.stat(f"{group.path}/groups/try/{n}").st_size for n in os.listdir(group.path + "/groups/try")
            if n.startswith("journal-"))
        before = size()
        self.act(browser, "#compact", "Compact the journal?", "The journal has ")
        self.assertLess(size(), before)
        self.act(browser, "#resume-host", "Resume the host?", "The host continues.")
        until(lambda: browser.is_shown("#pause-host") and not browser.is_shown("#resume-host"), "it is not paused")
        self.assertNotIn("paused", browser.text("#push-counts"))
        (session,) = [s["id"] for s in group.lines("status")[0]["sessions"] if s["role"] == "main"]
        self.act(browser, f"#sessions button[aria-label='End session {session}']", f"End session {session}?",
                 f"Session {session} has ended.")
        self.assertEqual(main.wait(20), 0)
        until(lambda: session not in browser.text("#sessions"), "the session has gone")
        reasons = [r["reason"] for r in group.lines("timeline") if r["event"] == "operated"]
        self.assertEqual(len(reasons), 4)
        self.assertIn(f"asks session {session} to end", reasons[-1])


class Scale(PageCase):
    """Ten thousand keys and a thousand sessions, by pages, with a bounded server."""

    KEYS = 10_000
    SESSIONS = 1_000
    #: The most memory of its own that the server may have after that, and the most that it may have had with all, in MiB.
    MEMORY, PEAK = 64, 128

    def memory(self, web):
        """The private memory of the server at present and at most, in MiB."""
        with open(f"/proc/{web.process.pid}/status") as status:
            fields = dict(line.split(":", 1) for line in status.read().splitlines())
        return tuple(int(fields[name].split()[0]) / 1024 for name in ("RssAnon", "VmHWM"))

    def pages(self, web, name, of, cursor):
        found, pages, after = [], 0, None
        while True:
            page = web.document(name + (f"{'&' if '?' in name else '?'}after={after}" if after is not None else ""))
            self.assertLessEqual(len(page[of]), 500)
            found += [row[cursor] for row in page[of]]
            pages += 1
            after = page["next"]
            if after is None:
                return found, pages

    def test_ten_thousand_keys(self):
        group = self.group()
        store = self.store(group)
        names = [f"k{number:05}" for number in range(self.KEYS)]
        for start in range(0, self.KEYS, 500):
            store.commit([Operation.put("many/" + name, b"x" * 100) for name in names[start:start + 500]])
        web = Web(group)
        web.sign_in()
        found, pages = self.pages(web, "store?prefix=many/", "children", "name")
        self.assertEqual(found, names)
        self.assertEqual(pages, self.KEYS // 500)
        web, browser = self.page(group)
        until(lambda: "10000 keys" in browser.text("#keys"), "the count of the keys")
        browser.ask("[...document.querySelectorAll('#keys button')].find(b => b.textContent === '10000 keys').click()")
        until(lambda: browser.text("#keys tbody td") == "k00000", "the first page")
        for page in range(1, self.KEYS // 500):
            browser.click("#more-keys")
            until(lambda: browser.text("#keys tbody td") == f"k{page * 500:05}", f"page {page}")
        self.assertIn("k09999", browser.text("#keys"))
        present, most = self.memory(web)
        print(f"sharedcore-web with {self.KEYS} keys: {present:.0f} MiB of its own, {most:.0f} MiB at most", flush=True)
        self.assertLess(present, self.MEMORY)
        self.assertLess(most, self.PEAK)

    def test_a_thousand_sessions(self):
        group = self.group()
        opener = subprocess.Popen(
            [sys.executable, os.path.dirname(os.path.abspath(__file__)) + "/sessions.py", group.path + "/groups/try",
             str(self.SESSIONS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(opener.communicate)
        self.assertEqual(opener.stdout.readline(), b"open\n")
        web = Web(group)
        web.sign_in()
        found, pages = self.pages(web, "sessions", "sessions", "id")
        self.assertEqual((len(found), len(set(found))), (self.SESSIONS, self.SESSIONS))
        self.assertEqual(found, sorted(found, key=int))
        self.assertGreaterEqual(pages, 2)
        status = web.document("status")
        self.assertEqual((len(status["sessions"]), status["more"]), (500, True))
        web, browser = self.page(group)
        until(lambda: browser.text("#session-note") == "500 of 1000", "the first page")
        self.assertEqual(browser.text("#sessions tbody td"), found[0])
        browser.click("#more-sessions")
        until(lambda: browser.text("#sessions tbody td") == found[500], "the second page")
        # It stays the second one.
        group.run("put", "later", "1")
        until(lambda: "later" in browser.text("#keys"), "it was read again")
        self.assertEqual(browser.text("#sessions tbody td"), found[500])
        browser.click("#first-sessions")
        until(lambda: browser.text("#sessions tbody td") == found[0], "the first page")
        present, most = self.memory(web)
        print(f"sharedcore-web with {self.SESSIONS} sessions: {present:.0f} MiB of its own, {most:.0f} MiB at most", flush=True)
        self.assertLess(present, self.MEMORY)
        self.assertLess(most, self.PEAK)


if __name__ == "__main__":
    unittest.main(verbosity=2)
