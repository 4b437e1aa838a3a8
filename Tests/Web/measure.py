"""Measures the page: how long a commit takes to it, and what 200 readers of its stream cost a writer.

Prints figures with their goals, and ends with 1 where one is missed by more than its margin: a busy machine misses a goal, and a
defect misses it by far.
"""

import selectors
import statistics
import sys
import threading
import time

from browser import Browser, ReportingCore
from sharedcore import Group as Store, Main
from test_requests import PROGRAMS
from web import Group, Web, until

RATE = 200
SECONDS = 5
#: Every so many commits, one is an entry of the timeline.
ENTRY = 20
READERS = 200
ROUNDS = 5
PUTS = 200

#: From a commit to the page, in milliseconds, at 200 commits a second: what comes by the stream, and the tables.
LATENCY_GOAL, LATENCY_MARGIN = 500, 2
#: The p50 of a put beside 200 readers, as a multiple of that without.
RATIO_GOAL, RATIO_MARGIN = 1.1, 1.5

missed = []


def judge(name, value, goal, margin):
    """Notes a figure that misses its goal by more than its margin, a factor; returns the goal as text."""
    if value > goal * margin:
        missed.append(f"{name}: {value:.2f}, more than {margin} times the goal of {goal}")
    return f"goal: {goal}"


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def latencies(commits, seen):
    """For each commit the milliseconds until the page has shown its revision, or a later one."""
    found, place = [], 0
    for revision, at in commits:
        while place < len(seen) and seen[place][0] < revision:
            place += 1
        if place == len(seen):
            raise AssertionError(f"the page has not shown revision {revision}")
        found.append(max(0, seen[place][1] - at))
    return found


def measure_commit_to_page(group, store):
    core = ReportingCore()
    with Store(group.path + "/groups/try", role="main", name="reporter") as owner, Main(owner, lambda: core) as main:
        main.wait_until_started(60)
        measure_beside(core, group, store)


def measure_beside(core, group, store):
    """Commits at the rate, of which some are entries of the timeline by the core."""
    web = Web(group)
    browser = Browser(web.said["url"])
    try:
        until(lambda: ">live<" in browser.html(), "the page is live", 60)
        for name, element in (("header", "revision"), ("tables", "about")):
            browser.ask(
                f"window.{name} = []; new MutationObserver(() => {{ const text = document.getElementById('{element}')"
                ".textContent, found = /\\d+/.exec(text.includes('Revision') ? text.split('Revision')[1] : text);"
                f" if (found) window.{name}.push([Number(found[0]), Date.now()]); }})"
                f".observe(document.getElementById('{element}'), {{ childList: true, characterData: true, subtree: true }}); 0")
        browser.ask(
            "window.timeline = []; new MutationObserver(() => { const found = /entry (\\d+)/.exec(document.querySelector("
            "'#events tbody tr')?.textContent); if (found) window.timeline.push([Number(found[1]), Date.now()]); })"
            ".observe(document.getElementById('events'), { childList: true, subtree: true }); 0")
        commits, entries = [], []
        begin = time.monotonic()
        for number in range(RATE * SECONDS):
            time.sleep(max(0, begin + number / RATE - time.monotonic()))
            if number % ENTRY == 0:
                core.context.report(f"entry {number}")
                entries.append((number, time.time() * 1000))
            else:
                commits.append((store.put("measured", str(number).encode()), time.time() * 1000))
        rate = (len(commits) + len(entries)) / (time.monotonic() - begin)
        for name, written in (("header", commits), ("timeline", entries), ("tables", commits)):
            last = written[-1][0]
            until(lambda: browser.ask(f"(window.{name}.at(-1) ?? [0])[0]") >= last, f"the last one in the {name}", 60)
            found = latencies(written, browser.ask(f"window.{name}"))
            print(
                f"commit to page ({name}), {rate:.0f} commits/s: p50 {percentile(found, .5):.0f} ms, p99 "
                f"{percentile(found, .99):.0f} ms "
                f"({judge(f'p99 from commit to {name}', percentile(found, .99), LATENCY_GOAL, LATENCY_MARGIN)} ms)", flush=True)
    finally:
        browser.close()
        web.process.terminate()
        web.process.wait()


class Readers:
    """Connections that read the stream, on one thread."""

    def __init__(self, web, count):
        self.selector = selectors.DefaultSelector()
        self.received = {}
        fields = {"Cookie": web.cookie, "X-SharedCore-Key": web.key}
        self.connections = [web.connect() for _ in range(count)]
        for connection in self.connections:
            connection.sendall(web.head("GET", "/api/changes", fields))
            connection.setblocking(False)
            self.selector.register(connection, selectors.EVENT_READ)
            self.received[connection] = 0
        self.is_over = False
        self.thread = threading.Thread(target=self.read)
        self.thread.start()
        until(lambda: min(self.received.values()) > 0, f"{count} streams have begun", 60)

    def read(self):
        while not self.is_over:
            for key, _ in self.selector.select(0.1):
                part = key.fileobj.recv(1 << 16)
                if not part:
                    raise AssertionError("a stream has ended")
                self.received[key.fileobj] += len(part)

    def close(self):
        self.is_over = True
        self.thread.join()
        for connection in self.connections:
            connection.close()


def puts(store):
    found = []
    for number in range(PUTS):
        begin = time.perf_counter()
        store.put("written", str(number).encode())
        found.append(time.perf_counter() - begin)
        time.sleep(0.001)
    return statistics.median(found) * 1e6


def measure_readers(group, store):
    web = Web(group)
    web.sign_in()
    without, beside = [], []
    try:
        for _ in range(ROUNDS):
            without.append(puts(store))
            readers = Readers(web, READERS)
            before = dict(readers.received)
            beside.append(puts(store))
            until(lambda: all(readers.received[c] > before[c] for c in before), "each has heard of it", 20)
            readers.close()
            # Their places are free again.
            time.sleep(1)
        alone, together = statistics.median(without), statistics.median(beside)
        print(
            f"put beside {READERS} readers of the stream: p50 {together:.0f} µs, without {alone:.0f} µs: ratio "
            f"{together / alone:.2f} ({judge('put beside readers', together / alone, RATIO_GOAL, RATIO_MARGIN)})", flush=True)
        memory = dict(line.split(":", 1) for line in open(f"/proc/{web.process.pid}/status"))["VmHWM"].strip()
        print(f"sharedcore-web had at most {memory}", flush=True)
    finally:
        web.process.terminate()
        web.process.wait()


if __name__ == "__main__":
    group = Group(PROGRAMS)
    try:
        group.run("put", "key", "value")
        with Store(group.path + "/groups/try", name="measure") as store:
            measure_commit_to_page(group, store)
            measure_readers(group, store)
    finally:
        group.close()
    for sentence in missed:
        print(sentence, file=sys.stderr)
    sys.exit(1 if missed else 0)
