"""Plants faults in histories of a small store, each of which the checker has to find; without one it has to find nothing."""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import checker
import run
import search
from checker import NEVER, Call, Content, Event, Fault, History, selects

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
        self.stopped = False
        # The reason of outcomes that are unknown.
        self.history.faults.append(Fault("full disk", 0, 1_000_000))
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
        self.history.ends = {"observe-1": self.now, "observe-2": self.now}
        self.call(0, {"f": "list", "prefix": "k", "final": True}, self.list)
        self.now += 100
        while self.queue:
            self.call(0, {"f": "take"}, lambda _: self.take(0))
            self.now += 100
            if 0 in self.held:
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
        self.stopped = self.stopped or self.goes_wrong("stops a watch")
        if self.stopped or self.goes_wrong("leaves a commit out of a watch"):
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
        if self.state.get(HELD) and self.goes_wrong("ends a session that lives"):
            self.revision += 1
            entry = self.state.pop(HELD)
            self.deliver(entry[3], [(HELD, "sessionEnded", None, entry)])
            return {"ok": self.revision - 1}
        if self.goes_wrong("tells an older revision"):
            return {"ok": self.revision - 1}
        return {"ok": self.revision}

    def apply(self, call: Call) -> None:
        before = dict(self.state)
        after = dict(self.state)
        operations = call.what["ops"]
        if self.goes_wrong("makes half of a transaction"):
            operations = operations[:1]
        if operations[0][0] == "delete" and self.goes_wrong("forgets a delete", 1 / 6):
            operations = []
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
        entry = None if self.goes_wrong("does not find an entry") else state.get(call.what["key"])
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
        elif not self.queue or self.goes_wrong("hides a message"):
            return {"ok": None}
        else:
            last = len(self.queue) > 1 and self.goes_wrong("gives a newer message first")
            self.held[process] = self.queue.pop(-1 if last else 0)
            if self.goes_wrong("leaves a taken message in the queue", 1 / 10):
                self.queue.insert(0, self.held[process])
        return {"ok": self.held[process]}

    def acknowledge(self, process: int) -> dict:
        self.gone.append(self.held[process])
        if not self.goes_wrong("lets a message be acknowledged twice"):
            del self.held[process]
        return {"ok": True}


class Piece:
    """A short history, written by hand. Without what `fault` changes the checker has to accept it."""

    def __init__(self) -> None:
        self.history = History()
        self.state: dict[str, Content] = {}
        for watch in ("observe-1", "observe-2"):
            self.history.events.append(Event(watch, 0, "snapshot", 0, 0, ()))

    def call(self, session: int, begin: int, end: float, what: dict, outcome: dict) -> Call:
        """A call of the process `call-S`, whose one session is S."""
        call = Call(f"call-{session}", session, begin, what, end, outcome)
        self.history.calls.append(call)
        return call

    def get(self, session: int, begin: int, end: int, key: str, found: Content | None) -> Call:
        return self.call(session, begin, end, {"f": "get", "key": key}, {"ok": list(found) if found else None})

    def put(self, session: int, begin: int, end: int, key: str, revision: int, lifetime: str = "persistent") -> Content:
        """A put that returned, delivered one unit of time before that."""
        value, old = f"v{revision}.24", self.state.get(key)
        self.call(
            session, begin, end, {"f": "commit", "ops": [["put", key, value, lifetime]], "guards": []}, {"ok": revision})
        new = (value, revision, old[2] if old else revision, session, lifetime)
        self.event(end - 1, revision, session, (key, "put", new, old))
        return new

    def event(self, time: int, revision: int, origin: int, *changes: tuple, watches: tuple = (1, 2)) -> None:
        for key, _, new, _ in changes:
            self.state[key] = new
        for watch in watches:
            self.history.events.append(Event(f"observe-{watch}", time, "changes", revision, origin, changes))

    def judge(self, end: int = 1_000) -> list[str]:
        """Reads what is left as the last process does, and judges."""
        found = [[key, *content] for key, content in sorted(self.state.items()) if content]
        states = [call.outcome["ok"] for call in self.history.calls if call.what["f"] == "state" and "ok" in call.outcome]
        highest = max(
            *(call.revision or 0 for call in self.history.calls), *(event.revision for event in self.history.events),
            *(revision for _, _, revision, _ in states))
        self.call(99, end, end + 1, {"f": "list", "prefix": "k", "final": True}, {"ok": [highest, found]})
        self.history.ends |= {"observe-1": end, "observe-2": end}
        return checker.Checker(self.history).judge()


def piece_watch_stops(faulty: bool) -> list[str]:
    """A watch delivers nothing any more, and its reader reads on."""
    piece = Piece()
    for number in range(1, 6):
        piece.put(11, number * 20, number * 20 + 10, "k/a/0", number)
    if faulty:
        piece.history.events = [event for event in piece.history.events if event.process == "observe-1" or event.revision < 3]
    return piece.judge()


def piece_phantom(faulty: bool) -> list[str]:
    """A change that no call made stands under the revision of a delete that changed nothing."""
    piece = Piece()
    piece.call(11, 10, 20, {"f": "commit", "ops": [["delete", "k/a/0"]], "guards": []}, {"ok": 1})
    if faulty:
        piece.event(15, 1, 11, ("k/b/1", "put", ("phantom", 1, 1, 11, "persistent"), None))
    return piece.judge()


def piece_revision_of_no_change(faulty: bool) -> list[str]:
    """A delete that changes nothing has the revision of a commit before it: that of another request, by its number."""
    piece = Piece()
    piece.put(11, 10, 20, "k/a/0", 1)
    piece.call(11, 30, 40, {"f": "commit", "ops": [["delete", "k/a/1"]], "guards": []}, {"ok": 1 if faulty else 2})
    return piece.judge()


def piece_two_hands(faulty: bool) -> list[str]:
    """Two sessions that live have one message."""
    piece = Piece()
    piece.call(11, 10, 20, {"f": "send", "text": "m.1"}, {"ok": 1})
    piece.call(11, 30, 40, {"f": "take"}, {"ok": "m.1"})
    piece.call(12, 50, 60, {"f": "take"}, {"ok": "m.1"})
    piece.call(12, 70, 80, {"f": "acknowledge", "text": "m.1"}, {"ok": True})
    if faulty:
        piece.get(11, 90, 95, "k/a/0", None)
    return piece.judge()


def piece_same_hand(faulty: bool) -> list[str]:
    """A session takes what it has in its hand."""
    piece = Piece()
    piece.call(11, 10, 20, {"f": "send", "text": "m.1"}, {"ok": 1})
    piece.call(11, 30, 40, {"f": "take"}, {"ok": "m.1"})
    if faulty:
        piece.call(11, 50, 60, {"f": "take"}, {"ok": "m.1"})
    piece.call(11, 70, 80, {"f": "acknowledge", "text": "m.1"}, {"ok": True})
    return piece.judge()


def piece_lost_hand(faulty: bool) -> list[str]:
    """A message is gone out of the hand of a session that lives."""
    piece = Piece()
    piece.call(11, 10, 20, {"f": "send", "text": "m.1"}, {"ok": 1})
    piece.call(11, 30, 40, {"f": "take"}, {"ok": "m.1"})
    piece.call(11, 70, 80, {"f": "acknowledge", "text": "m.1"}, {"ok": not faulty})
    if faulty:
        piece.call(12, 90, 95, {"f": "take"}, {"ok": "m.1"})
        piece.call(12, 96, 97, {"f": "acknowledge", "text": "m.1"}, {"ok": True})
    return piece.judge()


def piece_invented_state(faulty: bool) -> list[str]:
    """A state that no post had, while the outcome of another post is unknown."""
    piece = Piece()
    piece.history.faults.append(Fault("full disk", 10, 60))
    piece.call(11, 10, 20, {"f": "post", "name": "n", "state": 5}, {"unknown": "outcomeUnknown"})
    piece.call(11, 30, 40, {"f": "state", "name": "n"}, {"ok": [999 if faulty else 5, 1, 7, 11]})
    return piece.judge()


def piece_state_of_another(faulty: bool) -> list[str]:
    """The post of another session."""
    piece = Piece()
    piece.history.faults.append(Fault("full disk", 10, 60))
    piece.call(11, 10, 20, {"f": "post", "name": "n", "state": 5}, {"unknown": "outcomeUnknown"})
    piece.call(11, 30, 40, {"f": "state", "name": "n"}, {"ok": [5, 1, 7, 12 if faulty else 11]})
    return piece.judge()


def piece_count_of_later_post(faulty: bool) -> list[str]:
    """A post is counted before it begins."""
    piece = Piece()
    piece.history.faults.append(Fault("full disk", 10, 60))
    piece.call(11, 10, 20, {"f": "post", "name": "n", "state": 5}, {"ok": 1})
    piece.call(11, 30, 40, {"f": "state", "name": "n"}, {"ok": [5, 2 if faulty else 1, 1, 11]})
    piece.call(12, 50, 60, {"f": "post", "name": "n", "state": 6}, {"unknown": "outcomeUnknown"})
    return piece.judge()


def piece_count_falls(faulty: bool) -> list[str]:
    """A post of an unknown outcome is counted by one read, and not by a later one."""
    piece = Piece()
    piece.call(12, 5, NEVER, {"f": "post", "name": "n", "state": 4}, {"unknown": "killed"})
    piece.call(11, 10, 20, {"f": "post", "name": "n", "state": 5}, {"ok": 2})
    piece.call(11, 30, 40, {"f": "state", "name": "n"}, {"ok": [5, 2, 2, 11]})
    piece.call(11, 50, 60, {"f": "post", "name": "n", "state": 6}, {"ok": 3})
    piece.call(11, 70, 80, {"f": "state", "name": "n"}, {"ok": [6, 2 if faulty else 3, 3, 11]})
    return piece.judge()


def piece_comes_back(faulty: bool) -> list[str]:
    """While a delete is under way, the entry is absent, and then there again."""
    piece = Piece()
    old = piece.put(11, 10, 20, "k/a/0", 1)
    piece.call(11, 30, 500, {"f": "commit", "ops": [["delete", "k/a/0"]], "guards": []}, {"ok": 2})
    piece.get(12, 40, 50, "k/a/0", None)
    piece.get(12, 60, 70, "k/a/0", old if faulty else None)
    piece.event(450, 2, 11, ("k/a/0", "deleted", None, old))
    return piece.judge()


def piece_comes_back_in_a_guard(faulty: bool) -> list[str]:
    """As before, where the answer of a guard says that the entry is absent."""
    piece = Piece()
    old = piece.put(11, 10, 20, "k/a/0", 1)
    piece.call(11, 30, 500, {"f": "commit", "ops": [["delete", "k/a/0"]], "guards": []}, {"ok": 3})
    what = {"f": "commit", "ops": [["delete", "k/a/0"]], "guards": [["exists", "k/a/0"]]}
    piece.call(12, 40, 50, what, {"guard": [0, 0, 0]})
    piece.get(12, 60, 70, "k/a/0", old if faulty else None)
    piece.event(450, 3, 11, ("k/a/0", "deleted", None, old))
    return piece.judge()


def piece_live_session_ends(faulty: bool) -> list[str]:
    """A lock ends with its session, and the session reads on."""
    piece = Piece()
    old = piece.put(11, 10, 20, "k/lock", 1, "session")
    piece.event(25, 2, 11, ("k/lock", "sessionEnded", None, old))
    if faulty:
        piece.get(11, 30, 40, "k/a/1", None)
    piece.put(12, 50, 60, "k/lock", 3, "session")
    piece.event(65, 4, 12, ("k/lock", "sessionEnded", None, piece.state["k/lock"]))
    return piece.judge()


def piece_answers_an_ended_session(faulty: bool) -> list[str]:
    """A session is refused as ended, and answered afterwards."""
    piece = Piece()
    if faulty:
        piece.call(11, 30, 40, {"f": "get", "key": "k/a/1"}, {"refused": "sessionEnded"})
    piece.get(11, 50, 60, "k/a/1", None)
    return piece.judge()


def piece_keeps_a_dead_session(faulty: bool) -> list[str]:
    """The entry of a killed process is read after an opening that began when the process was dead."""
    piece = Piece()
    piece.call(11, 5, 8, {"f": "open"}, {"ok": 11})
    piece.call(12, 5, 8, {"f": "open"}, {"ok": 12})
    old = piece.put(11, 10, 20, "k/s/0", 1, "session")
    piece.history.faults.append(Fault("kill", 25, 30, "call-11"))
    piece.get(12, 31, 32, "k/s/0", old)
    piece.call(13, 35, 40, {"f": "open"}, {"ok": 13})
    piece.event(60 if faulty else 39, 2, 11, ("k/s/0", "sessionEnded", None, old))
    piece.get(12, 50, 55, "k/s/0", old if faulty else None)
    return piece.judge()


def piece_keeps_a_closed_session(faulty: bool) -> list[str]:
    """The entry of a group that was closed is listed."""
    piece = Piece()
    old = piece.put(11, 10, 20, "k/s/0", 1, "session")
    piece.call(11, 25, 30, {"f": "close"}, {"ok": None})
    piece.call(12, 50, 55, {"f": "list", "prefix": "k/s"}, {"ok": [1, [["k/s/0", *old]]] if faulty else [2, []]})
    piece.event(60 if faulty else 29, 2, 11, ("k/s/0", "sessionEnded", None, old))
    return piece.judge()


def piece_late_effect_of_a_dead_session(faulty: bool) -> list[str]:
    """A commit of a killed process is made after the process had been found dead."""
    piece = Piece()
    piece.call(11, 5, 8, {"f": "open"}, {"ok": 11})
    piece.call(12, 5, 8, {"f": "open"}, {"ok": 12})
    late = {"f": "commit", "ops": [["put", "k/a/0", "late.24", "persistent"]], "guards": []}
    piece.call(11, 10, NEVER, late, {"unknown": "killed"})
    piece.history.faults.append(Fault("kill", 25, 30, "call-11"))
    piece.call(13, 35, 40, {"f": "open"}, {"ok": 13})
    revision = 2 if faulty else 1
    piece.put(12, 50, 60, "k/a/1", 3 - revision)
    piece.event(65 if faulty else 49, revision, 11, ("k/a/0", "put", ("late.24", revision, revision, 11, "persistent"), None))
    piece.history.events.sort(key=lambda event: event.revision)
    return piece.judge()


def piece_late_effect_of_an_older_number(faulty: bool) -> list[str]:
    """A commit of an unknown outcome is made after a later one of the session was answered, and behind another's."""
    piece = Piece()
    late = {"f": "commit", "ops": [["put", "k/a/0", "late.24", "persistent"]], "guards": []}
    piece.call(11, 10, 20, late, {"unknown": "outcomeUnknown"})
    piece.history.faults.append(Fault("full disk", 10, 20))
    piece.call(11, 30, 40, {"f": "commit", "ops": [["delete", "k/a/2"]], "guards": []}, {"ok": 2})
    if not faulty:
        piece.event(45, 1, 11, ("k/a/0", "put", ("late.24", 1, 1, 11, "persistent"), None))
    piece.put(12, 50, 60, "k/a/1", 3)
    if faulty:
        piece.event(65, 4, 11, ("k/a/0", "put", ("late.24", 4, 4, 11, "persistent"), None))
    return piece.judge()


def piece_hidden_message(faulty: bool) -> list[str]:
    """A message waits, and a take gets nothing."""
    piece = Piece()
    piece.call(11, 10, 20, {"f": "send", "text": "m.1"}, {"ok": 1})
    if faulty:
        for number in range(100):
            piece.call(12, 30 + number * 2, 31 + number * 2, {"f": "take"}, {"ok": None})
    piece.call(12, 300, 310, {"f": "take"}, {"ok": "m.1"})
    piece.call(12, 320, 330, {"f": "acknowledge", "text": "m.1"}, {"ok": True})
    return piece.judge()


def piece_order_after_a_lost_take(faulty: bool) -> list[str]:
    """A newer message is taken first, long after a take of an unknown outcome whose session has ended."""
    piece = Piece()
    piece.call(11, 5, 8, {"f": "open"}, {"ok": 11})
    piece.call(11, 10, NEVER, {"f": "take"}, {"unknown": "killed"})
    piece.history.faults.append(Fault("kill", 15, 16, "call-11"))
    piece.call(12, 20, 25, {"f": "open"}, {"ok": 12})
    for number in (1, 2):
        piece.call(12, number * 10 + 20, number * 10 + 25, {"f": "send", "text": f"m.{number}"}, {"ok": number})
    for number in (2, 1) if faulty else (1, 2):
        time = 300 - number * 20 if faulty else 200 + number * 20
        piece.call(12, time, time + 5, {"f": "take"}, {"ok": f"m.{number}"})
        piece.call(12, time + 10, time + 15, {"f": "acknowledge", "text": f"m.{number}"}, {"ok": True})
    return piece.judge()


def piece_keeps_a_message_of_a_dead_session(faulty: bool) -> list[str]:
    """What a killed process had in its hand comes to no other, although an opening found the process dead."""
    piece = Piece()
    piece.call(11, 5, 8, {"f": "open"}, {"ok": 11})
    piece.call(11, 10, 20, {"f": "send", "text": "m.1"}, {"ok": 1})
    piece.call(11, 30, 40, {"f": "take"}, {"ok": "m.1"})
    piece.history.faults.append(Fault("kill", 45, 50, "call-11"))
    piece.call(12, 52, 55, {"f": "open"}, {"ok": 12})
    if faulty:
        piece.call(12, 60, 65, {"f": "take"}, {"ok": None})
    piece.call(12, 70, 75, {"f": "take"}, {"ok": "m.1"})
    piece.call(12, 80, 85, {"f": "acknowledge", "text": "m.1"}, {"ok": True})
    return piece.judge()


def piece_takes_what_another_acknowledges(faulty: bool) -> list[str]:
    """Two sessions take a message at one time; the one acknowledges it and dies, the other has it."""
    piece = Piece()
    piece.call(11, 10, 20, {"f": "send", "text": "m.1"}, {"ok": 1})
    piece.call(11, 30, 40, {"f": "take"}, {"ok": "m.1"})
    piece.call(11, 50, 60, {"f": "acknowledge", "text": "m.1"}, {"ok": True})
    if faulty:
        piece.call(12, 45, 55, {"f": "take"}, {"ok": "m.1"})
    return piece.judge()


def piece_refuses_everything(faulty: bool) -> list[str]:
    """Nearly all calls are refused."""
    piece = Piece()
    for number in range(200):
        outcome = {"refused": "unavailable"} if faulty and number > 10 else {"ok": None}
        piece.call(11, number * 4 + 10, number * 4 + 12, {"f": "get", "key": "k/a/0"}, outcome)
    return piece.judge()


def piece_refuses_the_end(faulty: bool) -> list[str]:
    """The last reads are refused."""
    piece = Piece()
    piece.get(11, 10, 12, "k/a/0", None)
    outcome = {"refused": "unavailable"} if faulty else {"ok": [0, 0, 0, 0]}
    piece.call(11, 20, 22, {"f": "state", "name": "n", "final": True}, outcome)
    return piece.judge()


def piece_refuses_without_a_reason(faulty: bool) -> list[str]:
    """The disk has space again, and a put is refused as if it were full."""
    piece = Piece()
    piece.history.faults.append(Fault("full disk", 10, 30))
    begin = 2_000_000_000 if faulty else 20
    what = {"f": "commit", "ops": [["put", "k/a/0", "v.24", "persistent"]], "guards": []}
    piece.call(11, begin, begin + 20, what, {"refused": "storageFull"})
    return piece.judge(3_000_000_000)


def piece_ends_a_live_session(faulty: bool) -> list[str]:
    """A session is refused as ended, although its process lives and has not closed it."""
    piece = Piece()
    piece.call(11, 10, 20, {"f": "get", "key": "k/a/0"}, {"refused": "sessionEnded"} if faulty else {"ok": None})
    return piece.judge()


def piece_hangs(faulty: bool) -> list[str]:
    """A call returns after a minute."""
    piece = Piece()
    piece.get(11, 10, 60_000_000_000 if faulty else 20, "k/a/0", None)
    return piece.judge(70_000_000_000)


def piece_delivers_late(faulty: bool) -> list[str]:
    """A watch delivers after a minute."""
    piece = Piece()
    new = piece.put(11, 10, 20, "k/a/0", 1)
    old = ("k/a/0", "put", new, None)
    piece.history.events.pop()
    piece.event(60_000_000_000 if faulty else 30, 1, 11, old, watches=(2,))
    return piece.judge(70_000_000_000)


def piece_expires_early(faulty: bool) -> list[str]:
    """An entry that expires after 1.5 s is gone after 1 s."""
    piece = Piece()
    old = piece.put(11, 10, 20, "k/e/0", 1, "expiring")
    piece.event(1_000_000_000 if faulty else 1_600_000_000, 2, 11, ("k/e/0", "expired", None, old))
    return piece.judge(2_000_000_000)


def piece_stays_expired(faulty: bool) -> list[str]:
    """An entry that expires after 1.5 s is there after 5 s."""
    piece = Piece()
    old = piece.put(11, 10, 20, "k/e/0", 1, "expiring")
    time = 5_000_000_000 if faulty else 2_400_000_000
    piece.get(11, time, time + 10, "k/e/0", old)
    piece.event(time + 20, 2, 11, ("k/e/0", "expired", None, old))
    return piece.judge(6_000_000_000)


def piece_expires_what_stays(faulty: bool) -> list[str]:
    """An entry expires that was put to stay."""
    piece = Piece()
    old = piece.put(11, 10, 20, "k/e/0", 1, "persistent" if faulty else "expiring")
    piece.event(2_000_000_000, 2, 11, ("k/e/0", "expired", None, old))
    return piece.judge(2_100_000_000)


def piece_lags_always(faulty: bool) -> list[str]:
    """Both watches tell what is there, and not what has changed."""
    piece = Piece()
    for number in range(1, 20):
        piece.put(11, number * 20, number * 20 + 10, "k/a/0", number)
        if faulty:
            for event in piece.history.events[-2:]:
                event.kind = "lagged"
    return piece.judge()


def piece_snapshot_again(faulty: bool) -> list[str]:
    """A watch begins anew, and does not say that it has lost something."""
    piece = Piece()
    piece.put(11, 10, 20, "k/a/0", 1)
    piece.put(11, 30, 40, "k/a/0", 2)
    if faulty:
        piece.history.events[-1].kind = "snapshot"
    return piece.judge()


def piece_delivers_no_change(faulty: bool) -> list[str]:
    """A watch delivers a delete that changed nothing."""
    piece = Piece()
    piece.call(11, 10, 20, {"f": "commit", "ops": [["delete", "k/a/0"]], "guards": []}, {"ok": 1})
    if faulty:
        piece.event(15, 1, 11)
    return piece.judge()


def piece_identity_again(faulty: bool) -> list[str]:
    """Two openings have one session."""
    piece = Piece()
    piece.call(11, 5, 8, {"f": "open"}, {"ok": 11})
    piece.call(11, 10, 15, {"f": "close"}, {"ok": None})
    session = 11 if faulty else 12
    piece.call(session, 20, 25, {"f": "open"}, {"ok": session})
    return piece.judge()


def piece_lock_of_a_dead_session(faulty: bool) -> list[str]:
    """A guard fails for the lock of a killed process, after an opening that found the process dead."""
    piece = Piece()
    piece.call(11, 5, 8, {"f": "open"}, {"ok": 11})
    piece.call(12, 5, 8, {"f": "open"}, {"ok": 12})
    old = piece.put(11, 10, 20, "k/lock", 1, "session")
    piece.history.faults.append(Fault("kill", 25, 30, "call-11"))
    piece.call(13, 35, 40, {"f": "open"}, {"ok": 13})
    what = {"f": "commit", "ops": [["put", "k/lock", "v.24", "session"]], "guards": [["absent", "k/lock"]]}
    begin = 50 if faulty else 31
    piece.call(12, begin, begin + 5, what, {"guard": [0, 1, 1]})
    piece.event(60, 2, 11, ("k/lock", "sessionEnded", None, old))
    return piece.judge()


def piece_late_post_of_a_dead_session(faulty: bool) -> list[str]:
    """A post of a killed process is made behind a post that began when the process was known to be dead."""
    piece = Piece()
    piece.call(11, 5, 8, {"f": "open"}, {"ok": 11})
    piece.call(11, 10, NEVER, {"f": "post", "name": "n", "state": 4}, {"unknown": "killed"})
    piece.history.faults.append(Fault("kill", 15, 20, "call-11"))
    piece.call(12, 25, 28, {"f": "open"}, {"ok": 12})
    piece.call(12, 30, 40, {"f": "post", "name": "other", "state": 5}, {"ok": 2})
    piece.call(12, 50, 60, {"f": "state", "name": "n"}, {"ok": [4, 1, 3 if faulty else 1, 11]})
    return piece.judge()


def piece_stale_snapshot(faulty: bool) -> list[str]:
    """After it has lagged, a watch tells an older state."""
    piece = Piece()
    first = piece.put(11, 10, 20, "k/a/0", 1)
    second = piece.put(11, 30, 40, "k/a/0", 2)
    piece.put(11, 50, 60, "k/a/1", 3)
    last = piece.history.events[-1]
    last.kind = "lagged"
    last.changes = (("k/a/0", "present", first if faulty else second, None), ("k/a/1", "present", piece.state["k/a/1"], None))
    return piece.judge()


def piece_retry_applied_again(faulty: bool) -> list[str]:
    """A commit of an unknown outcome is made twice."""
    piece = Piece()
    piece.history.faults.append(Fault("full disk", 10, 60))
    what = {"f": "commit", "ops": [["put", "k/a/0", "v.24", "persistent"]], "guards": []}
    piece.call(11, 10, 20, what, {"unknown": "outcomeUnknown"})
    first = ("v.24", 1, 1, 11, "persistent")
    piece.event(15, 1, 11, ("k/a/0", "put", first, None))
    if faulty:
        piece.event(18, 2, 11, ("k/a/0", "put", ("v.24", 2, 1, 11, "persistent"), first))
    return piece.judge()


def piece_revision_of_a_post_again(faulty: bool) -> list[str]:
    """After the hub is back, a put gets the revision that a post had before."""
    piece = Piece()
    piece.call(11, 10, 20, {"f": "post", "name": "n", "state": 4}, {"ok": 1})
    piece.put(12, 30, 40, "k/a/0", 1 if faulty else 2)
    return piece.judge()


def piece_transaction_without_its_post(faulty: bool) -> list[str]:
    """A transaction puts and posts, and its post is not there."""
    piece = Piece()
    new = ("v.24", 1, 1, 11, "persistent")
    ops = [["put", "k/a/0", "v.24", "persistent"], ["post", "n", 4]]
    piece.call(11, 10, 20, {"f": "commit", "ops": ops, "guards": []}, {"ok": 1})
    piece.event(15, 1, 11, ("k/a/0", "put", new, None))
    piece.call(11, 30, 40, {"f": "state", "name": "n"}, {"ok": [0, 0, 0, 0] if faulty else [4, 1, 1, 11]})
    return piece.judge()


def piece_tells_before_it_is_asked(faulty: bool) -> list[str]:
    """A watch delivers a change before its call begins."""
    piece = Piece()
    piece.put(11, 10, 20, "k/a/0", 1)
    if faulty:
        for event in piece.history.events[-2:]:
            event.time = 5
    return piece.judge()


def piece_session_ends_in_part(faulty: bool) -> list[str]:
    """Of two entries of a session, one stays when the session ends."""
    piece = Piece()
    one, two = piece.put(11, 10, 20, "k/s/0", 1, "session"), piece.put(11, 30, 40, "k/s/1", 2, "session")
    if faulty:
        piece.event(50, 3, 11, ("k/s/0", "sessionEnded", None, one))
        piece.event(60, 4, 11, ("k/s/1", "sessionEnded", None, two))
    else:
        piece.event(50, 3, 11, ("k/s/0", "sessionEnded", None, one), ("k/s/1", "sessionEnded", None, two))
    return piece.judge()


def piece_watch_goes_back(faulty: bool) -> list[str]:
    """A watch delivers two commits in the wrong order."""
    piece = Piece()
    piece.put(11, 10, 20, "k/a/0", 1)
    piece.put(11, 30, 40, "k/a/1", 2)
    if faulty:
        events = piece.history.events
        events[-1], events[-3] = events[-3], events[-1]
    return piece.judge()


def piece_loss_in_a_gap(faulty: bool) -> list[str]:
    """Both watches lag, and a commit that returned meanwhile is not in the state that they tell."""
    piece = Piece()
    for number in range(1, 300):
        piece.put(11, number * 20, number * 20 + 10, "k/a/0", number)
    piece.put(11, 7_000, 7_010, "k/a/1", 301)
    piece.put(11, 7_020, 7_030, "k/a/2", 302)
    if faulty:
        del piece.state["k/a/1"]
    told = [(key, "present", new, None) for key, new in piece.state.items()]
    del piece.history.events[-4:]
    for watch in (1, 2):
        piece.history.events.append(Event(f"observe-{watch}", 7_040, "lagged", 302, 0, tuple(told)))
    return piece.judge(8_000)


def piece_lists_twice(faulty: bool) -> list[str]:
    """A list has an entry twice."""
    piece = Piece()
    entry = ["k/a/0", *piece.put(11, 10, 20, "k/a/0", 1)]
    piece.call(11, 30, 40, {"f": "list", "prefix": "k"}, {"ok": [1, [entry, entry] if faulty else [entry]]})
    return piece.judge()


#: Short histories, and the rule that is broken in each.
PIECES = {
    piece_watch_stops: "W1",
    piece_phantom: "S5",
    piece_revision_of_no_change: "S3",
    piece_two_hands: "M6",
    piece_same_hand: "M6",
    piece_lost_hand: "M6",
    piece_invented_state: "N3",
    piece_state_of_another: "N3",
    piece_count_of_later_post: "N3",
    piece_count_falls: "N5",
    piece_comes_back: "S4",
    piece_comes_back_in_a_guard: "S4",
    piece_live_session_ends: "L1",
    piece_answers_an_ended_session: "L1",
    piece_keeps_a_dead_session: "L3",
    piece_keeps_a_closed_session: "L3",
    piece_late_effect_of_a_dead_session: "S4",
    piece_late_effect_of_an_older_number: "S4",
    piece_hidden_message: "M6",
    piece_order_after_a_lost_take: "M1",
    piece_keeps_a_message_of_a_dead_session: "M6",
    piece_takes_what_another_acknowledges: "M6",
    piece_identity_again: "L2",
    piece_lock_of_a_dead_session: "L3",
    piece_late_post_of_a_dead_session: "S4",
    piece_stale_snapshot: "W2",
    piece_retry_applied_again: "S5",
    piece_revision_of_a_post_again: "S3",
    piece_transaction_without_its_post: "N7",
    piece_tells_before_it_is_asked: "S4",
    piece_session_ends_in_part: "S8",
    piece_watch_goes_back: "W3",
    piece_refuses_everything: "history",
    piece_refuses_the_end: "history",
    piece_refuses_without_a_reason: "codes",
    piece_ends_a_live_session: "codes",
    piece_hangs: "history",
    piece_delivers_late: "W1",
    piece_expires_early: "S8",
    piece_stays_expired: "S8",
    piece_expires_what_stays: "S8",
    piece_lags_always: "W3",
    piece_lists_twice: "S4",
    piece_loss_in_a_gap: "W2",
    piece_snapshot_again: "W1",
    piece_delivers_no_change: "W1",
}


#: What a store does wrong, and the rules of which one at least has to be told.
FAULTS = {
    "leaves a commit out of a watch": "W1",
    "leaves a commit out of all watches": "W1 S10",
    "stops a watch": "W1",
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
    "forgets a delete": "S10",
    "ends a session that lives": "L1",
    "does not find an entry": "S4",
    "reads an older state": "S4",
    "reads a torn value": "S9",
    "leaves a key out of a list": "S4",
    "lists two states at once": "S4",
    "lists an older state": "S4",
    "does not count a post": "N3",
    "counts a post twice": "N3",
    "forgets the state of a post": "N3 N7",
    "tells another state": "N3",
    "loses a message": "M2",
    "gives an acknowledged message again": "M6",
    "gives a newer message first": "M1",
    "hides a message": "M6",
    "leaves a taken message in the queue": "M6",
    "lets a message be acknowledged twice": "M6",
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

    def test_each_piece(self) -> None:
        for piece, rule in PIECES.items():
            with self.subTest(piece=piece.__name__):
                self.assertEqual(piece(False), [])
                told = {problem.split(":")[0] for problem in piece(True)}
                self.assertIn(rule, told)

    def test_search(self) -> None:
        for fault in SEARCHED:
            with self.subTest(fault=fault):
                self.assertTrue(any(search.windows(Store(seed, fault).run(1_000))[2] for seed in range(20)))


class RunTests(unittest.TestCase):
    """The runner notices processes that end by themselves, and leaves none behind."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.environ.setdefault("SHAREDCORE_LIBRARY", "")
        options = argparse.Namespace(seed=1, directory=folder.name, backend="files")
        self.run_ = run.Run(options, Path(folder.name))
        self.addCleanup(self.run_.close)

    def add(self, name: str, body: str) -> subprocess.Popen:
        return self.run_.add(name, subprocess.Popen([sys.executable, "-c", body], stderr=subprocess.DEVNULL))

    def test_a_crash_is_told_before_the_next_fault(self) -> None:
        for name in ("call-1", "observe-2", "hub"):
            with self.subTest(name=name):
                process = self.add(name, "import os; os.abort()")
                process.wait()
                with self.assertRaisesRegex(SystemExit, f"{name} has ended by itself: -6"):
                    self.run_.fault([process])
                with self.assertRaisesRegex(SystemExit, f"{name} has ended by itself"):
                    self.run_.count()
                del self.run_.running[name]

    def test_a_crash_is_told_by_the_kill_that_comes_too_late(self) -> None:
        self.add("call-1", "raise SystemExit(3)").wait()
        with self.assertRaisesRegex(SystemExit, "call-1 has ended by itself: 3"):
            self.run_.kill("call-1")

    def test_no_call_returns(self) -> None:
        self.assertEqual(self.run_.count(), 0)
        self.run_.reported -= run.SILENCE + 1
        with self.assertRaisesRegex(SystemExit, "No call has returned"):
            self.run_.count()

    def test_nothing_is_left_behind(self) -> None:
        process = self.add("call-1", "import time; time.sleep(60)")
        process.send_signal(signal.SIGSTOP)
        self.run_.close()
        self.assertEqual(process.returncode, -signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
