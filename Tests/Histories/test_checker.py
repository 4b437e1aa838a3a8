"""Plants faults in histories of a small store, each of which the checker has to find; without one it has to find nothing."""

from __future__ import annotations

import random
import unittest

import checker
import search
from checker import Call, Content, Event, History, selects

KEYS = tuple(f"k/{part}/{number}" for part in ("a", "b") for number in range(3)) + ("k/bc",)
HELD = "k/s/0"


class Store:
    """A store with one order of commits. `fault` names what it does wrong, about once in 60 chances."""

    def __init__(self, seed: int, fault: str | None) -> None:
        self.random = random.Random(seed)
        self.fault = fault
        self.history = History()
        self.revision = 0
        self.state: dict[str, Content] = {}
        self.older: list[dict[str, Content]] = [{}]
        self.posts: dict[str, tuple[int, int, int, int]] = {}
        self.queue: list[str] = []
        self.held: dict[int, str] = {}
        self.gone: list[str] = []
        self.now = 100
        self.free = [0, 0, 0]
        self.sessions = [11, 12, 13]
        self.values = 0
        for watch in ("observe-1", "observe-2"):
            self.history.events.append(Event(watch, 0, "snapshot", 0, 0, ()))

    def goes_wrong(self, fault: str, chance: float = 1 / 60) -> bool:
        return self.fault == fault and self.random.random() < chance and self.now > 1_000

    # Calls, as a process sees them

    def call(self, process: int, what: dict, answer) -> None:
        """Makes a call. It has its effect in the middle of its time."""
        begin = self.random.randint(max(self.free[process], self.now - 9) + 1, self.now)
        call = Call(f"call-{process}", self.sessions[process], begin, what)
        call.outcome = answer(call)
        call.end = self.free[process] = self.now + self.random.randint(1, 9)
        self.history.calls.append(call)

    def run(self, count: int) -> History:
        for _ in range(count):
            self.now += 10
            process = self.random.randrange(3)
            if self.free[process] >= self.now - 1:
                continue
            self.step(process)
        self.now += 100
        for process in range(3):
            self.end_session(process)
        self.now += 100
        self.call(0, {"f": "list", "prefix": "k", "final": True}, self.list)
        self.now += 100
        while self.queue:
            self.call(0, {"f": "take"}, lambda _: self.take(0))
            self.now += 100
            self.call(0, {"f": "acknowledge", "text": self.held[0]}, lambda _: self.acknowledge(0))
            self.now += 100
        return self.history

    def step(self, process: int) -> None:
        chosen = self.random.random()
        key = self.random.choice(KEYS)
        entry = self.state.get(key)
        self.values += 1
        put = ["put", key, f"v.{self.values}.24", "persistent"]
        commit = {"f": "commit", "ops": [put], "guards": []}
        if chosen < 0.3:
            self.call(process, {"f": "get", "key": key}, self.get)
            return
        if chosen < 0.4:
            self.call(process, {"f": "list", "prefix": self.random.choice(("k", "k/a", "k/b"))}, self.list)
            return
        if chosen < 0.44:
            self.call(process, {"f": "post", "name": "n", "state": self.values}, self.post)
            return
        if chosen < 0.48:
            self.call(process, {"f": "state", "name": "n"}, self.read_state)
            return
        if chosen < 0.53:
            self.call(process, {"f": "send", "text": put[2]}, self.send)
            return
        if chosen < 0.58:
            if process in self.held:
                self.call(process, {"f": "acknowledge", "text": self.held[process]}, lambda _: self.acknowledge(process))
            else:
                self.call(process, {"f": "take"}, lambda _: self.take(process))
            return
        if chosen < 0.60:
            self.end_session(process)
            return
        if chosen < 0.66:
            commit["guards"] = [["absent", key]]
        elif chosen < 0.76:
            commit["guards"] = [["revision", key, entry[1] if entry and chosen < 0.74 else 1]]
        elif chosen < 0.80:
            commit["ops"] = [["delete", key]]
        elif chosen < 0.84:
            commit["ops"] = [["deleteAll", "k/b"], ["put", "k/a/0", put[2], "persistent"]]
        elif chosen < 0.90:
            commit["ops"] = [put, ["put", self.random.choice([name for name in KEYS if name != key]), put[2] + "0", "persistent"]]
        elif chosen < 0.94:
            commit["ops"] = [["put", HELD, put[2], "session"]]
        self.call(process, commit, self.commit)

    # What it does

    def deliver(self, origin: int, changes: list) -> None:
        self.older.append(dict(self.state))
        if self.goes_wrong("leaves a commit out of a watch"):
            watches = ["observe-1"]
        elif self.goes_wrong("leaves a commit out of all watches"):
            watches = []
        else:
            watches = ["observe-1", "observe-2"]
        for watch in watches:
            given = tuple(changes)
            if self.goes_wrong("tells no entry before"):
                given = tuple((key, kind, new, None) for key, kind, new, _ in given)
            if self.goes_wrong("delivers another value") and given[0][2]:
                key, kind, new, old = given[0]
                given = ((key, kind, ("other", *new[1:]), old), *given[1:])
            if self.goes_wrong("delivers a torn value") and given[0][2]:
                key, kind, new, old = given[0]
                given = ((key, kind, ("torn v", *new[1:]), old), *given[1:])
            self.history.events.append(Event(watch, self.now, "changes", self.revision, origin, given))
            if self.goes_wrong("delivers a commit twice"):
                self.history.events.append(self.history.events[-1])

    def end_session(self, process: int) -> None:
        """The process ends, and another takes its place."""
        session = self.sessions[process]
        if process in self.held:
            self.queue.insert(0, self.held.pop(process))
        entry = self.state.get(HELD)
        if entry and entry[3] == session and not self.goes_wrong("keeps an entry of an ended session", 1 / 2):
            self.revision += 1
            del self.state[HELD]
            self.deliver(session, [(HELD, "sessionEnded", None, entry)])
        if not self.goes_wrong("goes on with an ended session", 1 / 2):
            self.sessions[process] += 10

    def failing(self, guards: list) -> int | None:
        for index, (kind, key, *rest) in enumerate(guards):
            entry = self.state.get(key)
            if (entry is not None) if kind == "absent" else entry is None or entry[1] != rest[0]:
                return index
        return None

    def commit(self, call: Call) -> dict:
        guards = call.what["guards"]
        failing = self.failing(guards)
        if failing is not None and not self.goes_wrong("ignores a guard"):
            entry = self.state.get(guards[failing][1])
            if self.goes_wrong("names another entry for a guard"):
                return {"guard": [failing, (entry[1] if entry else 0) + 1, entry[2] if entry else 0]}
            return {"guard": [failing, *(entry[1:3] if entry else (0, 0))]}
        if guards and self.goes_wrong("refuses for a guard that holds"):
            return {"guard": [0, 7, 7]}
        if self.goes_wrong("loses an acknowledged commit"):
            self.revision += 1
            return {"ok": self.revision}
        if self.goes_wrong("goes back to an older state"):
            self.state = dict(self.older[len(self.older) // 2])
        if self.fault == "gives a revision again" and self.random.random() < 1 / 20 and self.revision > 20:
            self.revision -= 1
        self.apply(call)
        if self.goes_wrong("makes a commit twice"):
            self.apply(call)
        if self.goes_wrong("refuses what it has done"):
            return {"refused": "storageFull"}
        if self.random.random() < 0.02:
            return {"unknown": "outcomeUnknown"}
        if self.goes_wrong("tells an older revision"):
            return {"ok": self.revision - 1}
        return {"ok": self.revision}

    def apply(self, call: Call) -> None:
        before = dict(self.state)
        after = dict(self.state)
        operations = call.what["ops"]
        if self.goes_wrong("makes half of a transaction"):
            operations = operations[:1]
        for operation in operations:
            match operation:
                case ["put", key, value, lifetime]:
                    old = after.get(key)
                    creation = old[2] if old else self.revision + 1
                    if self.goes_wrong("keeps the creation revision of a deleted entry") and not old:
                        creation = max(1, self.revision - 3)
                    after[key] = (value, self.revision + 1, creation, call.session, lifetime)
                case ["delete", key]:
                    after.pop(key, None)
                case ["deleteAll", prefix]:
                    for key in list(after):
                        if selects(prefix, key) or self.fault == "deletes by a prefix of the text" and key.startswith(prefix):
                            del after[key]
        if before == after:
            # Its result is remembered under a revision of its own.
            self.revision += 1
            return
        if len(operations) == 2 and self.goes_wrong("splits a transaction"):
            for operation in operations:
                part = Call(call.process, call.session, call.begin, {"f": "commit", "ops": [operation], "guards": []})
                self.apply(part)
            return
        self.revision += 1
        self.state = after
        changes = [
            (key, "put" if key in after else "deleted", after.get(key), before.get(key))
            for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)
        ]
        self.deliver(call.session, changes)
        if self.goes_wrong("makes a commit that no call made"):
            self.revision += 1
            self.state["k/a/1"] = ("phantom", self.revision, self.revision, call.session, "persistent")
            self.deliver(call.session, [("k/a/1", "put", self.state["k/a/1"], after.get("k/a/1"))])

    def get(self, call: Call) -> dict:
        state = self.state
        if self.goes_wrong("reads an older state"):
            state = self.older[max(0, len(self.older) - 12)]
        entry = state.get(call.what["key"])
        if entry and self.goes_wrong("reads a torn value"):
            entry = ("torn v", *entry[1:])
        return {"ok": list(entry) if entry else None}

    def list(self, call: Call) -> dict:
        state = {key: entry for key, entry in self.state.items() if selects(call.what["prefix"], key)}
        if state and self.goes_wrong("leaves a key out of a list"):
            state.popitem()
        if self.goes_wrong("lists two states at once"):
            older = self.older[max(0, len(self.older) - 10)]
            state |= {key: entry for key, entry in older.items() if selects(call.what["prefix"], key)}
        revision = self.revision
        if self.goes_wrong("lists an older state"):
            revision = max(0, revision - 20)
        return {"ok": [revision, [[key, *state[key]] for key in sorted(state)]]}

    def post(self, call: Call) -> dict:
        self.revision += 1
        count = self.posts.get("n", (0, 0, 0, 0))[1]
        added = 0 if self.goes_wrong("does not count a post") else 2 if self.goes_wrong("counts a post twice") else 1
        if not self.goes_wrong("forgets the state of a post"):
            self.posts["n"] = (call.what["state"], count + added, self.revision, call.session)
        return {"ok": self.revision}

    def read_state(self, call: Call) -> dict:
        state, count, revision, origin = self.posts.get("n", (0, 0, 0, 0))
        if self.goes_wrong("tells another state"):
            state += 1
        return {"ok": [state, count, revision, origin]}

    def send(self, call: Call) -> dict:
        self.revision += 1
        if not self.goes_wrong("loses a message"):
            self.queue.append(call.what["text"])
        return {"ok": self.revision}

    def take(self, process: int) -> dict:
        if self.gone and self.goes_wrong("gives an acknowledged message again"):
            self.held[process] = self.gone[-1]
        elif not self.queue:
            return {"ok": None}
        else:
            last = len(self.queue) > 1 and self.goes_wrong("gives a newer message first")
            self.held[process] = self.queue.pop(-1 if last else 0)
        return {"ok": self.held[process]}

    def acknowledge(self, process: int) -> dict:
        self.gone.append(self.held[process])
        if not self.goes_wrong("lets a message be acknowledged twice"):
            del self.held[process]
        return {"ok": True}


#: What a store does wrong, and the rules of which one at least has to be told.
FAULTS = {
    "leaves a commit out of a watch": "W1",
    "leaves a commit out of all watches": "W1 S10",
    "tells no entry before": "W1",
    "delivers another value": "W1",
    "delivers a torn value": "S9",
    "delivers a commit twice": "W3",
    "keeps an entry of an ended session": "S8",
    "goes on with an ended session": "L1",
    "ignores a guard": "S6",
    "names another entry for a guard": "S5",
    "refuses for a guard that holds": "S5",
    "loses an acknowledged commit": "S10",
    "goes back to an older state": "W1",
    "gives a revision again": "S3 W3 W1",
    "makes a commit twice": "S5",
    "refuses what it has done": "S12 S5",
    "tells an older revision": "S5 S4 S10",
    "makes half of a transaction": "S5",
    "keeps the creation revision of a deleted entry": "S5",
    "deletes by a prefix of the text": "S5",
    "splits a transaction": "S5",
    "makes a commit that no call made": "S5",
    "reads an older state": "S4",
    "reads a torn value": "S9",
    "leaves a key out of a list": "S4",
    "lists two states at once": "S4",
    "lists an older state": "S4",
    "does not count a post": "N3",
    "counts a post twice": "N3",
    "forgets the state of a post": "N3 N7",
    "tells another state": "N3",
    "loses a message": "C-mailbox",
    "gives an acknowledged message again": "C-mailbox",
    "gives a newer message first": "C-mailbox",
    "lets a message be acknowledged twice": "C-mailbox",
}
#: Those that the search finds as well, by the values of single keys alone.
SEARCHED = ("reads an older state", "ignores a guard", "loses an acknowledged commit", "goes back to an older state")


class CheckerTests(unittest.TestCase):
    def test_without_a_fault(self) -> None:
        for seed in range(20):
            with self.subTest(seed=seed):
                history = Store(seed, None).run(1_000)
                one = checker.Checker(history)
                self.assertEqual(one.judge(), [])
                self.assertGreater(one.counts["ok"], 400)
                count, undecided, problems = search.windows(history)
                self.assertEqual((undecided, problems), (0, []))
                self.assertGreater(count, 0)

    def test_each_fault(self) -> None:
        for fault, rules in FAULTS.items():
            with self.subTest(fault=fault):
                found: set[str] = set()
                for seed in range(20):
                    problems = checker.Checker(Store(seed, fault).run(1_000)).judge()
                    found |= {problem.split(":")[0] for problem in problems}
                    if found & set(rules.split()):
                        break
                else:
                    self.fail(f"the checker told {found}")

    def test_search(self) -> None:
        for fault in SEARCHED:
            with self.subTest(fault=fault):
                self.assertTrue(any(search.windows(Store(seed, fault).run(1_000))[2] for seed in range(20)))


if __name__ == "__main__":
    unittest.main()
