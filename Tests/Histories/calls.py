"""A process that makes random calls of the public API, and writes down each before it begins and after it has returned.

The file has a line of JSON for each, with the machine's monotonic time in nanoseconds:

    ["call", time, call]                 a call begins; the calls after an opening are made through it
    ["return", time, outcome]            the call before has returned; an opening returns the session
    ["event", time, kind, revision, origin, [[key, kind, new, old], ...]]      a watch delivered
    ["end", time]                        the reader of a watch ends, and has all that was committed before the time

Entries are [text, revision, creation revision, origin, lifetime]. A text stands for a value: `p3.17.2048` is the value
number 17 of the process 3, padded to 2,048 bytes. A value that is not so padded is written down as torn.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time

import sharedcore
from sharedcore import Entry, Group, Guard, GuardFailedError, Operation, SharedCoreError

#: The codes after which a call may have had an effect (contract, “The codes”).
UNKNOWN = ("outcomeUnknown", "system")
KEYS = tuple(f"k/{part}/{number}" for part in "abc" for number in range(4))
#: Keys whose entries end with their session.
SESSION_KEYS = ("k/s/0", "k/s/1")
#: Keys whose entries expire, after so many seconds.
EXPIRING_KEYS = ("k/e/0", "k/e/1")
EXPIRES_AFTER = 1.5
PREFIXES = ("k", "k/a", "k/b/", "k/c")
LOCK = "k/lock"
#: How often a process closes its group and opens it again.
REOPENS = 0.0005
NAMES = ("n/a", "n/b")


def value(text: str) -> bytes:
    """Returns the bytes that a text stands for."""
    return (text + "/").encode().ljust(int(text.rsplit(".", 1)[1]), b"=")


def text(stored: bytes) -> str:
    """Returns the text of bytes, or says that they are none of these values."""
    found = stored.split(b"/", 1)[0].decode(errors="replace")
    try:
        return found if value(found) == stored else f"torn {found}"
    except (IndexError, ValueError):
        return f"torn {found[:40]}"


def entry_record(entry: Entry | None) -> list | None:
    """Returns what the file has of an entry."""
    if entry is None:
        return None
    return [text(entry.value), entry.revision, entry.creation_revision, entry.origin, entry.lifetime]


class History:
    """The file. What was written is there when the process is killed at its next instruction."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._lock = threading.Lock()

    def write(self, *record: object) -> None:
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            os.write(self._file, line)


class Caller:
    """Makes the calls of one process."""

    def __init__(self, number: int, seed: int, settings: dict[str, str], history: History) -> None:
        self.number, self.settings, self.history = number, settings, history
        self.random = random.Random(seed)
        self.values = 0
        self.requests = 0
        #: What the process has seen last: the revision and the creation revision of a key.
        self.seen: dict[str, tuple[int, int]] = {}
        self.deliveries: list[sharedcore.Delivery] = []

    def open(self) -> Group:
        while True:
            self.history.write("call", time.monotonic_ns(), {"f": "open"})
            try:
                group = Group.configured(self.settings, role="tool", name=f"p{self.number}", open_timeout=5)
                self.mailbox = group.mailbox("histories")
                self.requests, self.deliveries = 0, []
                self.history.write("return", time.monotonic_ns(), {"ok": group.session})
                return group
            except SharedCoreError as error:
                self.history.write("return", time.monotonic_ns(), {"refused": error.name})
                time.sleep(0.05)

    def close(self, group: Group) -> None:
        self.history.write("call", time.monotonic_ns(), {"f": "close"})
        group.close()
        self.history.write("return", time.monotonic_ns(), {"ok": None})

    def run(self, over: str, pause: float) -> None:
        """Makes calls until a file is there."""
        group = self.open()
        while not os.path.exists(over):
            call = self.next_call()
            self.history.write("call", time.monotonic_ns(), call)
            outcome = self.outcome(group, call)
            self.history.write("return", time.monotonic_ns(), outcome)
            if "refused" in outcome and outcome["refused"] in ("closed", "sessionEnded", "corrupt", "unavailable"):
                time.sleep(0.02)
                if outcome["refused"] != "unavailable" or self.random.random() < 0.1:
                    self.close(group)
                    group = self.open()
            elif self.random.random() < REOPENS:
                self.close(group)
                group = self.open()
            if pause:
                time.sleep(self.random.random() * pause)
        self.close(group)

    def text(self) -> str:
        self.values += 1
        size = self.random.choices((24, 200, 5_000, 70_000), (60, 30, 9, 1))[0]
        return f"p{self.number}-{os.getpid()}.{self.values}.{size}"

    def next_call(self) -> dict:
        """Returns a random call, as the file has it."""
        chosen = self.random.random()
        key = self.random.choice(KEYS + SESSION_KEYS + EXPIRING_KEYS)
        lifetime = "session" if key in SESSION_KEYS else "expiring" if key in EXPIRING_KEYS else "persistent"
        put = ["put", key, self.text(), lifetime]
        if chosen < 0.25:
            return {"f": "get", "key": key}
        if chosen < 0.33:
            return {"f": "list", "prefix": self.random.choice(PREFIXES)}
        if chosen < 0.37:
            return {"f": "post", "name": self.random.choice(NAMES), "state": self.random.getrandbits(32)}
        if chosen < 0.40:
            return {"f": "state", "name": self.random.choice(NAMES)}
        if chosen < 0.42:
            return {"f": "send", "text": self.text()}
        # A take and its acknowledgement: more than there are sends, so that the mailbox does not grow.
        if chosen < 0.48 and not self.deliveries:
            return {"f": "take"}
        if chosen < 0.48:
            return {"f": "acknowledge", "text": text(self.deliveries[0].message)}
        return {"f": "commit"} | self.next_transaction(chosen, key, put)

    def next_transaction(self, chosen: float, key: str, put: list) -> dict:
        revision, creation = self.seen.get(key, (0, 0))
        if chosen < 0.62:
            return {"ops": [put], "guards": []}
        if chosen < 0.68:
            return {"ops": [["delete", key]], "guards": []}
        if chosen < 0.74:
            return {"ops": [put], "guards": [["absent", key]]}
        if chosen < 0.84:
            return {"ops": [put], "guards": [["revision", key, revision] if revision else ["absent", key]]}
        if chosen < 0.87:
            guard = ["epoch", key, creation] if creation else ["exists", key]
            return {"ops": [["delete", key]], "guards": [guard]}
        if chosen < 0.92:
            other = self.random.choice([name for name in KEYS if name != key])
            guards = [["exists", key], ["absent", other]] if self.random.random() < 0.5 else []
            moved = ["put", other, self.text(), "persistent"]
            return {"ops": [put, moved, ["post", self.random.choice(NAMES), self.random.getrandbits(32)]], "guards": guards}
        if chosen < 0.95:
            prefix = self.random.choice(PREFIXES[1:])
            again = ["put", self.random.choice(KEYS), self.text(), "persistent"]
            return {"ops": [["deleteAll", prefix], again], "guards": []}
        lock = self.seen.get(LOCK, (0, 0))[1]
        if chosen < 0.98:
            # A lock that ends with its process.
            return {"ops": [["put", LOCK, put[2], "session"]], "guards": [["absent", LOCK]]}
        # A write under the lock, and the lock's release.
        return {"ops": [put, ["delete", LOCK]], "guards": [["epoch", LOCK, lock] if lock else ["exists", LOCK]]}

    def outcome(self, group: Group, call: dict) -> dict:
        try:
            return {"ok": getattr(self, call["f"])(group, call)}
        except GuardFailedError as error:
            self.seen[call["guards"][error.index][1]] = (error.found_revision, error.found_creation_revision)
            return {"guard": [error.index, error.found_revision, error.found_creation_revision]}
        except SharedCoreError as error:
            return {"unknown" if error.name in UNKNOWN else "refused": error.name}

    def get(self, group: Group, call: dict) -> list | None:
        entry = group.get(call["key"])
        self.seen[call["key"]] = (entry.revision, entry.creation_revision) if entry else (0, 0)
        return entry_record(entry)

    def list(self, group: Group, call: dict) -> list:
        snapshot = group.list(call["prefix"])
        return [snapshot.revision, [[entry.key, *entry_record(entry)] for entry in snapshot.entries]]

    def post(self, group: Group, call: dict) -> int:
        return group.post(call["name"], call["state"])

    def state(self, group: Group, call: dict) -> list:
        state = group.state(call["name"])
        return [state.state, state.count, state.revision, state.origin]

    def send(self, group: Group, call: dict) -> int:
        return self.mailbox.send(value(call["text"]))

    def take(self, group: Group, call: dict) -> str | None:
        delivery = self.mailbox.take(0)
        if delivery is None:
            return None
        self.deliveries.append(delivery)
        return text(delivery.message)

    def acknowledge(self, group: Group, call: dict) -> bool:
        try:
            acknowledged = self.deliveries[0].acknowledge()
        except SharedCoreError as error:
            # What is refused has no effect: the message is still in hand.
            if error.name in UNKNOWN:
                self.deliveries.pop(0)
            raise
        self.deliveries.pop(0)
        return acknowledged

    def commit(self, group: Group, call: dict) -> int:
        operations = []
        for operation in call["ops"]:
            match operation:
                case ["put", key, put, lifetime]:
                    expires_after = EXPIRES_AFTER if lifetime == "expiring" else None
                    operations.append(Operation.put(key, value(put), session=lifetime == "session", expires_after=expires_after))
                case ["delete", key]:
                    operations.append(Operation.delete(key))
                case ["deleteAll", prefix]:
                    operations.append(Operation.delete_all(prefix))
                case ["post", name, state]:
                    operations.append(Operation.post(name, state))
        guards = []
        for guard in call["guards"]:
            match guard:
                case ["absent", key]:
                    guards.append(Guard.absent(key))
                case ["exists", key]:
                    guards.append(Guard.exists(key))
                case ["revision", key, revision]:
                    guards.append(Guard.at_revision(key, revision))
                case ["epoch", key, revision]:
                    guards.append(Guard.epoch(key, revision))
        # Numbered, so that a commit of an unknown outcome is sent again and has one result (contract S12).
        self.requests += 1
        for attempt in range(3):
            try:
                return group.commit(operations, guards, request_number=self.requests)
            except SharedCoreError as error:
                if error.name != "outcomeUnknown" or attempt == 2:
                    raise
        raise AssertionError


def observe(settings: dict[str, str], history: History, over: str) -> None:
    """Writes down what a watch delivers of all keys, from before the first call until a file is there and the group is quiet."""
    with Group.configured(settings, role="tool", name="observer", open_timeout=30) as group:
        with group.watch("k") as watch:
            asked = None
            while True:
                event = watch.next(1)
                if event is not None:
                    changes = [
                        [change.key, change.kind, entry_record(change.new), entry_record(change.old)]
                        for change in event.changes
                    ]
                    history.write("event", time.monotonic_ns(), event.kind, event.revision, event.origin, changes)
                elif os.path.exists(over):
                    if asked is None:
                        # All that was committed before this time can be taken after it (contract W5).
                        asked = time.monotonic_ns()
                        group.sync()
                    else:
                        history.write("end", asked)
                        return


def end(settings: dict[str, str], history: History) -> None:
    """Reads what is left when all other processes have ended: the entries, and the messages of the mailbox."""
    caller = Caller(0, 0, settings, history)
    group = caller.open()
    left = lambda: [entry for entry in group.list("k").entries if entry.lifetime != "persistent"]
    limit = time.monotonic() + 60
    while left() and time.monotonic() < limit:
        time.sleep(0.1)

    def make(call: dict) -> dict:
        history.write("call", time.monotonic_ns(), call)
        outcome = caller.outcome(group, call)
        history.write("return", time.monotonic_ns(), outcome)
        return outcome

    make({"f": "list", "prefix": "k", "final": True})
    for name in NAMES:
        make({"f": "state", "name": name, "final": True})
    while make({"f": "take", "final": True}).get("ok"):
        make({"f": "acknowledge", "text": text(caller.deliveries[0].message), "final": True})
    caller.close(group)


def main() -> None:
    what, number, seed, path, over, pause, *pairs = sys.argv[1:]
    settings = dict(pair.split("=", 1) for pair in pairs)
    history = History(path)
    if what == "observe":
        observe(settings, history, over)
    elif what == "end":
        end(settings, history)
    else:
        Caller(int(number), int(seed), settings, history).run(over, float(pause))


main()
