"""The page in Debian's chromium, headless: each part shows what a run has made, and no hostile text becomes an element."""

import os
import subprocess
import unittest

from browser import Browser, PageCase
from sharedcore import Operation
from test_requests import CORE, HOSTILE, until
from web import Web


class Page(PageCase):
    def test_parts_show_what_a_run_has_made(self):
        group = self.group(SHAREDCORE_CORE_COMMAND=CORE)
        group.run("put", HOSTILE.replace("/", "|"), "1")
        group.run("mailbox", "send", "jobs", "1", "--queue")
        group.run("push", "pushed")
        group.run("--group", "other-group", "put", "key", "value")
        group.start("main", stderr=subprocess.DEVNULL)
        until(lambda: group.lines("inbox") and group.lines("calls"), "the core has delivered and begun a call")
        web = Web(group)
        browser = Browser(web.said["url"])
        self.addCleanup(browser.close)
        until(lambda: ">live<" in browser.html(), "the page is live", 60)
        # A change while it is shown.
        group.run("put", "later", "1")
        until(lambda: "later" in browser.html(), "the page shows what came later", 30)
        shown = browser.html()
        part = lambda name: shown.split(f'id="{name}"', 1)[1].split("</section>", 1)[0]
        self.assertTrue(browser.ask("document.documentElement.scrollWidth <= innerWidth"), "no wider than 360 px")
        self.assertNotIn("#" + web.token, shown)
        self.assertIn("main", part("owner"))
        self.assertIn("<circle", part("lanes"))
        self.assertIn("coreStarted", part("events"))
        self.assertIn("sharedcore main", part("sessions"))
        self.assertIn("1 waiting", part("push-counts"))
        self.assertRegex(browser.text("#waiting"), r"pushed.*\d s.*waits: no host serves")
        self.assertIn("waiting&lt;b&gt;", part("inbox"))
        self.assertIn("&lt;img src=x onerror=alert(1)&gt;", part("calls"))
        self.assertIn("jobs", part("mailboxes"))
        self.assertIn("other-group", part("groups"))
        self.assertIn("try (shown here)", part("groups"))
        self.assertRegex(part("about"), r"1, \d+ \w+; \d+ \w+ on the disk")
        self.assertRegex(part("inbox-counts"), r"1 waiting, 0 in hand, the oldest since (\d|at)")
        self.assertRegex(part("sessions"), r"\d+ [KM]iB")
        self.assertIn("&lt;script&gt;alert(1)&lt;|script&gt;\\u{202E}", part("keys"))
        body = shown.split("</header>", 1)[1].split("<script>", 1)[0]
        for element in ("<img", "<b>", "<i>"):
            self.assertNotIn(element, body)

    def test_a_page_of_keys_stays(self):
        group = self.group()
        store = self.store(group)
        for start in range(0, 600, 100):
            store.commit([Operation.put(f"k{number:03}", b"1") for number in range(start, start + 100)])
        _, browser = self.page(group)
        first = lambda: browser.text("#keys tbody td")
        until(lambda: first() == "k000", "the first page")
        self.assertFalse(browser.is_shown("#first-keys"))
        browser.click("#more-keys")
        until(lambda: first() == "k500", "the second page")
        # It is read again with each change, and stays the second one.
        for name in ("k599-later", "k599-last"):
            store.put(name, b"1")
            until(lambda: name in browser.text("#keys"), "the change of the second page")
            self.assertEqual(first(), "k500")
        self.assertFalse(browser.is_shown("#more-keys"))
        browser.click("#first-keys")
        until(lambda: first() == "k000", "the first page")
        browser.click("#more-keys")
        until(lambda: first() == "k500", "the second page")
        # All keys of the page that is shown are deleted.
        shown = browser.ask("[...document.querySelectorAll('#keys tbody tr')].map(r => r.cells[0].textContent)")
        self.assertEqual(len(shown), 103)
        store.commit([Operation.delete(name) for name in shown])
        until(lambda: first() == "k000", "the first page")

    def test_earlier_entries_are_shown(self):
        group = self.group()
        run = lambda name: group.run(
            "executor", "--call-id", "absent", "--timeout", "20ms", "--name", name, check=False)
        while len(group.lines("timeline")) < 300:
            run("one-of-many")
        whole = [r["revision"] for r in group.lines("timeline")]
        _, browser = self.page(group)
        rows = lambda: browser.ask("[...document.querySelectorAll('#events tbody tr')].map(r => Number(r.cells[0].textContent))")
        until(lambda: len(rows()) >= 200, "the newest entries")
        self.assertNotIn(whole[0], rows())
        browser.click("#earlier")
        until(lambda: rows() == whole[::-1], "all entries")
        until(lambda: browser.count("#lanes circle") == len(whole), "all entries in the lanes")
        self.assertTrue(browser.ask("document.getElementById('earlier').disabled"))
        # More entries come, and none of them is lost.
        run("one-more")
        until(lambda: rows() == [r["revision"] for r in group.lines("timeline")][::-1], "the later entries")
        # The page keeps a bounded number of entries, and forgets the oldest.
        count = browser.ask(
            "add(Array.from({ length: 9000 }, (_, i) => ({ revision: 1e6 + i, session: 's', role: 'tool', pid: 1, name: '', "
            "event: 'operated', reason: '' }))); [...records.values()].flat().length")
        self.assertLessEqual(count, 2000)
        self.assertEqual(browser.ask("Math.max(...records.keys())"), 1e6 + 8999)
        browser.ask("showTimeline()")
        self.assertFalse(browser.ask("document.getElementById('earlier').disabled"), "what was forgotten can come again")

    def test_a_part_that_cannot_be_read_leaves_the_others(self):
        group = self.group()
        _, browser = self.page(group)
        browser.ask(
            "const fetchOfAll = fetch; window.fetch = (address, options) => address === '/api/mailboxes' ? Promise.resolve("
            "new Response(JSON.stringify({ error: 'there are too many <b>' }), { status: 503 })) : fetchOfAll(address, options); 0")
        group.run("put", "later", "1")
        until(lambda: "later" in browser.text("#keys"), "the other parts go on")
        until(lambda: browser.text("section:has(#mailboxes) .problem") == "Cannot be read now: there are too many <b>", "the reason")
        self.assertRegex(browser.text("#state"), r"^live; 1 of \d+ parts cannot be read$")
        browser.ask("window.fetch = fetchOfAll; 0")
        until(lambda: browser.text("#state") == "live", "all parts are read again")
        self.assertFalse(browser.is_shown("section:has(#mailboxes) .problem"))

    def test_the_last_entry_of_a_session_stays_the_last(self):
        group = self.group()
        _, main = self.former_owner(group, 300)
        main.close()
        _, browser = self.page(group)
        last = lambda: browser.ask(
            "[...document.querySelectorAll('#sessions tbody tr')].find(r => r.textContent.includes('reporter')).cells[7].textContent")
        until(lambda: last().startswith("released "), "the last entry")
        browser.click("#earlier")
        until(lambda: browser.count("#events tbody tr") > 300, "the earlier entries")
        group.run("put", "later", "1")
        until(lambda: "later" in browser.text("#keys"), "it was read again")
        self.assertTrue(last().startswith("released "), last())

    def test_an_owner_older_than_the_entries_has_a_bar(self):
        group = self.group()
        _, main = self.former_owner(group, 300)
        _, browser = self.page(group)
        width = lambda: float(browser.ask("document.getElementById('lanes').getAttribute('width')"))
        until(lambda: self.bars(browser, "own") and self.bars(browser, "own")[0][1] == width(), "the bar of the owner")
        for kind in ("own", "core"):
            ((start, end, name),) = self.bars(browser, kind)
            self.assertEqual((start, end), (0, width()), kind)
            self.assertIn("reporter", name)
        self.assertNotIn("acquired", browser.text("#events"))
        # Its beginning is shown with the entries before.
        browser.click("#earlier")
        until(lambda: self.bars(browser, "own")[0][0] > 0, "the bar begins with the entry")
        main.close()
        until(lambda: "released" in browser.text("#events"), "it has released")
        until(lambda: self.bars(browser, "own")[0][1] < width(), "the bar ends with the entry")

    def test_entries_of_the_lanes_are_opened_by_keyboard(self):
        group = self.group()
        self.former_owner(group, 5)
        _, browser = self.page(group)
        until(lambda: "problem 4" in browser.text("#events"), "the entries")
        self.assertEqual(browser.count("#lanes circle[tabindex='0']"), 1, "one stop of the tab key")
        for _ in range(60):
            browser.press("Tab")
            if browser.ask("document.activeElement.tagName === 'circle'"):
                break
        focused = lambda: browser.ask("document.activeElement.getAttribute('aria-label')")
        self.assertIn("problem 4", focused())
        self.assertEqual(browser.ask("document.activeElement.getAttribute('role')"), "button")
        self.assertFalse(browser.is_shown("#details"))
        browser.press("Enter", text="\r")
        self.assertIn("problem 4", browser.text("#details"))
        self.assertEqual(browser.count("#events tr.chosen"), 1)
        browser.press("ArrowLeft")
        self.assertIn("problem 3", focused())
        browser.press(" ", "Space", " ")
        self.assertIn("problem 3", browser.text("#details"))
        self.assertIn("problem 3", browser.text("#events tr.chosen"))
        browser.press("Home")
        first = focused()
        self.assertIn("acquired", first)
        # What comes meanwhile takes the focus from nothing.
        group.run("push", "--pause")
        until(lambda: "operated" in browser.text("#events"), "a later entry")
        self.assertEqual(focused(), first)

    def test_a_status_that_cannot_be_read_leaves_the_other_parts(self):
        """Also from the beginning."""
        group = self.group()
        web = Web(group)
        browser = Browser("about:blank")
        self.addCleanup(browser.close)
        browser.call("Page.enable")
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=(
            "const fetchOfAll = fetch; window.fetch = (address, options) => address === '/api/status' ? Promise.resolve("
            "new Response(JSON.stringify({ error: 'it is too long' }), { status: 503 })) : fetchOfAll(address, options);"))
        browser.call("Page.navigate", url=web.said["url"])
        until(lambda: browser.is_shown("#keys") and "key" in browser.text("#keys tbody"), "the other parts", 60)
        self.assertEqual(browser.text("section:has(#owner) .problem"), "Cannot be read now: it is too long")

    def test_another_group_replaces_all_that_is_shown(self):
        group = self.group()
        group.run("put", "/lead/former", "1")
        group.run("executor", "--call-id", "absent", "--timeout", "50ms", "--name", "former-executor", check=False)
        web = Web(group)
        browser = Browser(web.said["url"])
        self.addCleanup(browser.close)
        until(lambda: "former-executor" in browser.html(), "the page shows the group", 60)
        keys = lambda: browser.ask("document.getElementById('keys').textContent")
        until(lambda: "(empty)" in keys(), "the key that begins with a slash")
        browser.ask(
            "[...document.querySelectorAll('#keys tr')].find(r => r.textContent.includes('(empty)'))"
            ".querySelectorAll('button')[1].click()")
        until(lambda: "lead" in keys(), "what is below “/”")
        subprocess.run(["mv", group.path + "/groups", group.path + "/former"], check=True)
        for number in range(20):
            group.run("put", f"present{number}", "1")
        until(lambda: "present19" in browser.html(), "the page shows the new group", 30)
        until(lambda: ">live<" in browser.html(), "the page is live", 30)
        self.assertNotIn("former-executor", browser.html())

    def test_another_group_closes_the_dialogue(self):
        group = self.group()
        _, browser = self.page(group, "--allow-actions")
        until(lambda: browser.is_shown("#pause-host"), "the button")
        browser.click("#pause-host")
        self.assertTrue(browser.ask("document.getElementById('confirm').open"))
        subprocess.run(["mv", group.path + "/groups", group.path + "/former"], check=True)
        group.run("put", "present", "1")
        until(lambda: "present" in browser.text("#keys"), "the page shows the new group", 30)
        self.assertFalse(browser.ask("document.getElementById('confirm').open"))

    def test_an_action_is_confirmed(self):
        group = self.group(SHAREDCORE_EXECUTOR_COMMAND="/bin/false", SHAREDCORE_EXECUTOR_ATTEMPTS="1")
        for name in ("first<b>", "second"):
            group.run("push", name)
        host = group.start("serve", stderr=subprocess.DEVNULL)
        until(lambda: len(group.lines("push", "--given-up")) == 2, "the pushes are given up")
        host.terminate()
        host.wait()
        group.start("main", stderr=subprocess.DEVNULL)
        web = Web(group, "--allow-actions")
        browser = Browser(web.said["url"])
        self.addCleanup(browser.close)
        click = lambda name: browser.ask(f"document.getElementById('{name}').click()")
        hidden = lambda name: browser.ask(f"document.getElementById('{name}')?.hidden")
        text = lambda name: browser.ask(f"document.getElementById('{name}').textContent")
        is_open = lambda: browser.ask("document.getElementById('confirm').open")
        until(lambda: hidden("retry") is False and hidden("hand-over") is False, "the buttons", 60)
        # Each names what it will do, and nothing happens before that is confirmed.
        click("retry")
        self.assertTrue(is_open())
        self.assertIn("Try all given-up pushes anew?", text("confirm-title"))
        click("leave")
        self.assertFalse(is_open())
        self.assertEqual(len(group.lines("push", "--given-up")), 2)
        self.assertEqual([r for r in group.lines("timeline") if r["event"] == "operated"], [])
        browser.ask("[...document.querySelectorAll('#pushes button')].find(b => b.ariaLabel === 'Drop first<b>').click()")
        self.assertIn("“first<b>”", text("confirm-title"))
        click("do")
        until(lambda: text("outcome") == "1 push is dropped.", "the outcome", 30)
        click("retry")
        click("do")
        until(lambda: text("outcome").startswith("1 push is tried anew"), "the outcome", 30)
        self.assertEqual(group.lines("push", "--given-up"), [])
        click("pause-host")
        click("do")
        until(lambda: hidden("pause-host") and hidden("resume-host") is False, "it is paused", 30)
        self.assertIn("the host is paused", text("push-counts"))
        click("hand-over")
        self.assertIn("is told to end by SIGTERM", text("confirm-text"))
        click("do")
        until(lambda: "is over" in text("outcome"), "the outcome", 30)
        until(lambda: hidden("hand-over"), "nobody owns", 30)
        until(lambda: text("events").count("operated") == 4, "the entries", 30)
        until(lambda: hidden("retry"), "nothing is left to try anew", 30)
        self.assertNotIn("<b>", browser.html().split("</header>", 1)[1].split("<script>", 1)[0])

    def findings(self, browser):
        """What axe-core finds, by its impact."""
        found = browser.ask("axe.run(document).then(r => r.violations.map(v => "
                            "[v.impact, v.id, v.nodes.map(n => n.html.slice(0, 120)).slice(0, 3)]))")
        for impact, rule, nodes in found:
            print(f"axe-core: {impact}: {rule}: {nodes}", flush=True)
        return [rule for impact, rule, _ in found if impact in ("serious", "critical")]

    def test_axe_has_no_serious_finding(self):
        group = self.group(
            SHAREDCORE_CORE_COMMAND=CORE, SHAREDCORE_EXECUTOR_COMMAND="/bin/false", SHAREDCORE_EXECUTOR_ATTEMPTS="1")
        group.run("mailbox", "send", "jobs", "1", "--queue")
        group.run("push", "failing")
        host = group.start("serve", stderr=subprocess.DEVNULL)
        until(lambda: group.lines("push", "--given-up"), "a push is given up")
        group.start("main", stderr=subprocess.DEVNULL)
        until(lambda: group.lines("inbox") and group.lines("calls"), "the core has delivered and begun a call")
        group.run("push", "--pause")
        web = Web(group, "--allow-actions")
        browser = Browser(web.said["url"])
        self.addCleanup(browser.close)
        until(lambda: ">live<" in browser.html(), "the page is live", 60)
        until(lambda: browser.ask("document.getElementById('resume-host').hidden") is False, "all parts are shown", 30)
        with open(os.environ["AXE"]) as script:
            browser.ask(script.read() + "; 0")
        # It does find what is wrong.
        browser.ask("document.body.append(Object.assign(document.createElement('button'), { id: 'nameless' }))")
        self.assertEqual(self.findings(browser), ["button-name"])
        browser.ask("document.getElementById('nameless').remove()")
        browser.ask("[...document.querySelectorAll('#keys button')][0].click()")
        until(lambda: browser.ask("document.getElementById('entry').hidden") is False, "a value is shown")
        for scheme in ("light", "dark"):
            browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            self.assertEqual(self.findings(browser), [], scheme)
            browser.ask("document.querySelector('#sessions button').click()")
            self.assertTrue(browser.ask("document.getElementById('confirm').open"))
            self.assertEqual(self.findings(browser), [], scheme + ", the dialogue")
            browser.ask("document.getElementById('leave').click()")
            browser.ask("document.getElementById('pause').click()")
            self.assertEqual(self.findings(browser), [], scheme + ", paused")
            browser.ask("document.getElementById('pause').click()")

    def test_without_a_script_the_main_tables_are_shown(self):
        group = self.group()
        group.run("mailbox", "send", "jobs<b>", "1", "--queue")
        group.start("main", stderr=subprocess.DEVNULL)
        until(lambda: group.lines("status")[0]["owner"], "a Main owns")
        web = Web(group)
        browser = Browser("about:blank")
        self.addCleanup(browser.close)
        browser.call("Emulation.setScriptExecutionDisabled", value=True)
        browser.call("Page.navigate", url=f"http://{web.host}/")
        until(lambda: browser.is_shown("noscript a"), "the link")
        browser.click("noscript a")
        until(lambda: browser.is_shown("input[name=token]"), "the form")
        browser.ask(f"document.querySelector('input[name=token]').value = '{web.token}'; 0")
        browser.click("form button")
        until(lambda: "sharedcore main" in browser.text("body"), "the tables")
        self.assertIn("jobs<b>", browser.text("body"))
        self.assertEqual(browser.count("b"), 0)
        group.run("mailbox", "send", "later", "1", "--queue")
        browser.click("form button")
        until(lambda: "later" in browser.text("body"), "they are read again")
        self.assertEqual(browser.ask("location.href"), f"http://{web.host}/plain", "no key is in the address")

    def test_without_actions_there_is_no_button(self):
        group = self.group()
        group.start("main", stderr=subprocess.DEVNULL)
        web = Web(group)
        browser = Browser(web.said["url"])
        self.addCleanup(browser.close)
        until(lambda: ">live<" in browser.html(), "the page is live", 60)
        until(lambda: "running" in browser.ask("document.getElementById('owner').textContent"), "a Main owns", 30)
        shown = browser.ask(
            "[...document.querySelectorAll('button')].filter(b => b.checkVisibility()).map(b => b.textContent).join()")
        for word in ("Hand over", "End", "Drop", "anew", "ause the host", "Resume", "Compact"):
            self.assertNotIn(word, shown)
        self.assertIn("Pause", shown, "the page itself can be paused")


if __name__ == "__main__":
    unittest.main(verbosity=2)
