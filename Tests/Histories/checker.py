"""Judges a history of calls by the contract, and shares no code with the product.

Revisions give the order of all commits, so that no search is needed: the commits are replayed in their order, and each answer
is compared with the states that were current at some time between the call's beginning and its end. The effort grows as
n log n. `search.py` searches small pieces of a history for any order, without revisions, as a second opinion.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from heapq import heappop, heappush

NEVER = float("inf")
#: How long after its beginning the commit of a killed process may still be made, in nanoseconds.
LATE = 10_000_000_000
#: A call that takes longer than this has hung; a stopped process, or one without the hub, takes less.
LONGEST = 30_000_000_000
#: A watch delivers at the latest so long after a commit has returned (N9).
LAG = 10_000_000_000
#: For how long the calls put what expires, how long it may stay after that (S8), and for how long more on a busy machine.
EXPIRING = 1_500_000_000
EXPIRED = 1_000_000_000
BUSY = 1_000_000_000
#: Which faults explain a refusal or an unknown outcome, and for how long after them. No other code has a reason.
REASONS = {
    "storageFull": ("full disk", "stop", "stop the hub"),
    "unavailable": ("kill the hub", "stop the hub"),
    "outcomeUnknown": ("kill the hub", "stop the hub", "full disk"),
}
AFTERWARDS = 1_000_000_000
Content = tuple[str, int, int, int, str]


@dataclass(slots=True)
class Call:
    """A call, and what it returned. Without an end it was under way when its process was killed."""

    process: str
    session: int
    begin: int
    what: dict
    end: float = NEVER
    outcome: dict = field(default_factory=lambda: {"unknown": "killed"})
    #: When its effect has come, where it has one, and the revisions that it may have seen: the checker finds them.
    until: float = NEVER
    low: float = 0
    high: float = NEVER

    @property
    def revision(self) -> int | None:
        """The revision of a write that has succeeded."""
        return self.outcome.get("ok") if self.what["f"] in ("commit", "post", "send") else None

    @property
    def is_answered(self) -> bool:
        return "ok" in self.outcome or "guard" in self.outcome

    def __str__(self) -> str:
        return f"{self.process} {self.begin}: {json.dumps(self.what)} -> {json.dumps(self.outcome)}"


@dataclass(slots=True)
class Event:
    """A delivery of a watch."""

    process: str
    time: int
    kind: str
    revision: int
    origin: int
    changes: tuple[tuple[str, str, Content | None, Content | None], ...]


@dataclass(slots=True)
class Fault:
    """What was done to the processes or the disk, and to which process."""

    kind: str
    begin: int
    end: int
    process: str | None = None


@dataclass(slots=True)
class History:
    """All calls and deliveries. The deliveries are in the order of their watches."""

    calls: list[Call] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    #: For each reader of a watch that ended by itself, a time of which it says that it has all commits before it.
    ends: dict[str, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    #: Through a hub, a session may end although its process lives.
    backend: str = "files"


def read(paths: list[str]) -> History:
    """Reads the files of `calls.py`. A last line that is cut was not written whole when its process was killed."""
    history = History()
    for path in paths:
        session, name = 0, path.rsplit("/", 1)[-1]
        with open(path, encoding="utf-8") as file:
            for line in file:
                if not line.endswith("\n"):
                    break
                match json.loads(line):
                    case ["call", time, what]:
                        session = 0 if what["f"] == "open" else session
                        history.calls.append(Call(name, session, time, what))
                    case ["return", time, outcome]:
                        call = history.calls[-1]
                        call.end, call.outcome = time, outcome
                        if call.what["f"] == "open":
                            call.session = session = outcome.get("ok", 0)
                    case ["fault", kind, begin, end, process]:
                        history.faults.append(Fault(kind, begin, end, process))
                    case ["backend", backend]:
                        history.backend = backend
                    case ["event", time, kind, revision, origin, changes]:
                        tuples = tuple(
                            (key, change, tuple(new) if new else None, tuple(old) if old else None)
                            for key, change, new, old in changes
                        )
                        history.events.append(Event(name, time, kind, revision, origin, tuples))
                    case ["end", time]:
                        history.ends[name] = time
    return history


def selects(prefix: str, key: str) -> bool:
    """Whether a prefix selects a key: `a/b` itself and what is below it, `a/b/` only what is below it."""
    return key == prefix or key.startswith(prefix if prefix.endswith("/") else prefix + "/") or not prefix


@dataclass(slots=True)
class Run:
    """What one watch delivered without a gap: all after its first revision, to its last."""

    process: str
    first: int
    last: int
    begin: int
    time: int = 0
    revisions: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Gap:
    """Revisions that no watch has delivered, after the first to the last, and the times of the deliveries around them."""

    first: int
    last: int
    begin: int
    end: int


class Versions:
    """The versions of one key, in the order of their revisions."""

    def __init__(self) -> None:
        self.revisions = [0]
        self.contents: list[Content | None] = [None]

    def add(self, revision: int, content: Content | None) -> None:
        self.revisions.append(revision)
        self.contents.append(content)

    def at(self, revision: float) -> Content | None:
        return self.contents[bisect_right(self.revisions, revision) - 1]

    def between(self, low: float, high: float) -> list[tuple[int, Content | None]]:
        """The versions that were current at some revision of a range, with the first revision of each in that range."""
        first, last = bisect_right(self.revisions, low) - 1, bisect_right(self.revisions, high)
        return [(max(int(low), self.revisions[i]), self.contents[i]) for i in range(first, max(last, first + 1))]


class Begun:
    """Which revisions a call cannot have seen, because their calls began after it had ended."""

    def __init__(self, begun: list[tuple[float, int]]) -> None:
        begun.sort(reverse=True)
        self._revisions: list[float] = []
        lowest = NEVER
        for _, revision in begun:
            lowest = min(lowest, revision)
            self._revisions.append(lowest)
        self._revisions.reverse()
        self._times = [time for time, _ in reversed(begun)]

    def highest(self, end: float) -> float:
        """The highest revision that was possible at a time."""
        after = bisect_right(self._times, end)
        return self._revisions[after] - 1 if after < len(self._times) else NEVER


class Times:
    """When each commit was made, as far as the calls of other commits say: no earlier than a call before it began, no later than
    one behind it had ended, or a watch told of it."""

    def __init__(self, known: list[tuple[int, float, float]]) -> None:
        """:param known: revisions, with a time before which the commit was not made, and one after which it had been."""
        known.sort()
        self._revisions = [revision for revision, _, _ in known]
        self._earliest: list[float] = []
        self._latest: list[float] = []
        for _, begin, _ in known:
            self._earliest.append(max(begin, self._earliest[-1] if self._earliest else 0))
        for _, _, end in reversed(known):
            self._latest.append(min(end, self._latest[-1] if self._latest else NEVER))
        self._latest.reverse()

    def earliest(self, revision: int) -> float:
        place = bisect_right(self._revisions, revision)
        return self._earliest[place - 1] if place else 0

    def latest(self, revision: int) -> float:
        place = bisect_left(self._revisions, revision)
        return self._latest[place] if place < len(self._latest) else NEVER


class Checker:
    """Judges one history. `problems` has a sentence with the contract's rule for each breach that it finds."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.problems: list[str] = []
        self.counts: Counter[str] = Counter()
        #: What changed with each revision: who, and the changes in the order of the keys.
        self.commits: dict[int, tuple[int, tuple]] = {}
        #: When a watch told of a revision first.
        self.first_told: dict[int, int] = {}
        self.versions: dict[str, Versions] = defaultdict(Versions)
        #: What each watch said that all is, at its beginning or after a gap.
        self.states: list[tuple[int, str, dict[str, Content]]] = []
        self.gaps: list[Gap] = []
        #: In which gaps it is not known what a key had, in their order: their first and their last revisions.
        self.blurs: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        self.names: set[str] = set()
        #: The commits in gaps.
        self.assumed: dict[int, Call] = {}
        #: The revisions of the calls of an unknown outcome that were made.
        self.found: dict[int, int] = {}
        self.ended: dict[int, int] = {}
        #: From when on nothing may be left of a session: a read that begins later does not see it.
        self.gone: dict[int, float] = defaultdict(lambda: NEVER)
        #: The latest beginning of a call of a session that was answered: it lived then.
        self.alive: dict[int, int] = defaultdict(int)

    def problem(self, rule: str, sentence: str, *about: object) -> None:
        if len(self.problems) < 200:
            self.problems.append(f"{rule}: {sentence}" + "".join(f"\n    {one}" for one in about))

    def judge(self) -> list[str]:
        calls = self.history.calls
        self.collect_sessions()
        self.collect()
        self.replay()
        by_revision: dict[int, list[Call]] = defaultdict(list)
        for call in calls:
            self.counts[next(iter(call.outcome))] += 1
            if call.revision is not None:
                by_revision[call.revision].append(call)
        explained = self.explain(by_revision)
        self.bound(explained)
        for call in calls:
            if call.is_answered:
                getattr(self, "check_" + call.what["f"])(call)
        self.check_sessions()
        self.check_answered()
        self.check_codes()
        self.check_expiring()
        self.check_refused()
        self.check_posts()
        self.check_mailbox()
        return self.problems

    # The sessions

    def collect_sessions(self) -> None:
        """Finds when sessions lived and when they had ended. Every opening looks for dead processes (L3)."""
        of_process: dict[str, list[Call]] = defaultdict(list)
        opened: list[tuple[int, float]] = []
        sessions = {0}
        for call in self.history.calls:
            if call.what["f"] == "open" and "ok" in call.outcome:
                if call.session in sessions:
                    self.problem("L2", f"a session has the identity of another: {call.session}", call)
                sessions.add(call.session)
                of_process[call.process].append(call)
                opened.append((call.begin, call.end))
            elif call.what["f"] == "close" and "ok" in call.outcome and self.history.backend == "files":
                # Without a hub nothing keeps a close from being done when it returns.
                self.gone[call.session] = min(self.gone[call.session], call.end)
            elif call.outcome.get("refused") == "sessionEnded":
                self.gone[call.session] = min(self.gone[call.session], call.end)
            elif call.is_answered and call.what["f"] != "close":
                self.alive[call.session] = max(self.alive[call.session], call.begin)
        opened.sort()
        begins = [begin for begin, _ in opened]
        # The end of the first opening to end of those that begin after a time.
        ends: list[float] = [NEVER]
        for _, end in reversed(opened):
            ends.append(min(end, ends[-1]))
        ends.reverse()
        for fault in self.history.faults:
            if fault.kind == "kill" and of_process[str(fault.process)]:
                session = of_process[str(fault.process)][-1].session
                self.gone[session] = min(self.gone[session], ends[bisect_right(begins, fault.end)])
        # A commit of an unknown outcome comes before its session has ended, and before a commit behind it is answered, since
        # the numbers of a session rise (S12).
        answered: dict[int, float] = defaultdict(lambda: NEVER)
        for call in reversed(self.history.calls):
            call.until = call.end if "unknown" not in call.outcome else self.gone[call.session]
            if call.what["f"] == "commit":
                if call.is_answered:
                    answered[call.session] = call.end
                else:
                    call.until = min(call.until, answered[call.session])

    def check_sessions(self) -> None:
        """A session that has ended makes no calls, and what lived with it is not read any more."""
        for call in self.history.calls:
            if not call.is_answered or call.what["f"] in ("open", "close"):
                continue
            ended = self.ended.get(call.session, NEVER)
            if call.low >= ended:
                self.problem("L1", f"a call of a session is answered that had ended with {ended}", call)
            if call.begin > self.gone[call.session]:
                self.problem("L1", f"a call of a session is answered that had ended at {self.gone[call.session]}", call)
            entries = []
            if call.what["f"] == "get" and call.outcome["ok"]:
                entries = [call.outcome["ok"]]
            elif call.what["f"] == "list":
                entries = [content for _, *content in call.outcome["ok"][1]]
            elif "guard" in call.outcome and 0 <= call.outcome["guard"][0] < len(call.what["guards"]):
                index, revision, _ = call.outcome["guard"]
                found = self.versions[call.what["guards"][index][1]].at(revision)
                entries = [found] if found and found[1] == revision else []
            for _, _, _, origin, lifetime in entries:
                if lifetime == "session" and call.begin > self.gone[origin]:
                    self.problem("L3", f"an entry of a session is read that had ended at {self.gone[origin]}", call)

    # What the watches delivered

    def collect(self) -> None:
        """Makes one order of commits of all watches, which have to agree, and finds the gaps that all of them have."""
        runs: dict[str, list[Run]] = defaultdict(list)
        for event in self.history.events:
            self.first_told[event.revision] = min(event.time, self.first_told.get(event.revision, event.time))
            self.counts[event.kind] += 1
            changes = tuple(sorted(event.changes, key=lambda change: change[0]))
            if len({key for key, *_ in changes}) != len(changes):
                self.problem("W1", f"{event.process} delivered a key twice in {event.revision}")
            delivered = runs[event.process]
            if delivered and (event.revision, event.kind) <= (delivered[-1].last, "changes"):
                self.problem("W3", f"{event.process} delivered {event.kind} {event.revision} after {delivered[-1].last}")
            if event.kind == "snapshot" and delivered:
                self.problem("W1", f"{event.process} delivered a snapshot again, of {event.revision}")
            if event.kind == "changes" and not changes:
                self.problem("W1", f"{event.process} delivered {event.revision} without a change")
            if event.kind != "changes":
                state = {key: new for key, _, new, _ in changes if new is not None}
                self.states.append((event.revision, event.process, state))
                delivered.append(Run(event.process, event.revision, event.revision, event.time))
                continue
            if not delivered:
                self.problem("W1", f"{event.process} began with changes")
                delivered.append(Run(event.process, event.revision - 1, event.revision - 1, event.time))
            delivered[-1].last = event.revision
            delivered[-1].time = event.time
            delivered[-1].revisions.add(event.revision)
            known = self.commits.setdefault(event.revision, (event.origin, changes))
            if known != (event.origin, changes):
                self.problem("W1", f"two watches differ in {event.revision}", known, (event.origin, changes))
            else:
                # One copy in memory is enough.
                event.changes = known[1]
        every = sorted((run for of_process in runs.values() for run in of_process), key=lambda run: run.first)
        if not every:
            self.problem("history", "no watch was open")
            return
        order = sorted(self.commits)
        reached, time = every[0].first, every[0].begin
        for run in every:
            missing = [
                revision for revision in order[bisect_right(order, run.first):bisect_right(order, run.last)]
                if revision not in run.revisions
            ]
            if missing:
                self.problem("W1", f"the watch of {run.process} left {missing[:5]} out")
            if run.first > reached:
                self.gaps.append(Gap(reached, run.first, time, run.begin))
            if run.last >= reached:
                reached, time = run.last, run.time
        self.check_ends(runs, order)

    def check_ends(self, runs: dict[str, list[Run]], order: list[int]) -> None:
        """A reader that ended by itself has all that was committed before. One that was killed has what it had by then."""
        returned = {call.revision: call.end for call in self.history.calls if call.revision is not None}
        killed = {fault.process for fault in self.history.faults if fault.kind == "kill"}
        for process in sorted(runs.keys() - self.history.ends.keys() - killed):
            self.problem("history", f"the reader {process} has not ended")
        late = [event for event in self.history.events
                if event.kind == "changes" and event.time > returned.get(event.revision, NEVER) + LAG]
        if late:
            self.problem("W1", f"{len(late)} deliveries were later than {LAG / 1e9:.0f} s, the first of {late[0].process} of "
                               f"{late[0].revision} at {late[0].time}")
        if self.counts["lagged"] > 2 + self.counts["changes"] / 100:
            self.problem("W3", f"{self.counts['lagged']} deliveries are lagged, of {len(self.history.events)}")
        for process, end in self.history.ends.items():
            last = runs[process][-1].last if process in runs else -1
            missing = [
                revision for revision in order[bisect_right(order, last):]
                if min(returned.get(revision, NEVER), self.first_told[revision]) < end
            ]
            if missing:
                self.problem("W1", f"the watch of {process} has ended with {last}, before {missing[:5]}")

    def fill(self) -> dict[int, Call]:
        """Finds the commits in the gaps by what was returned, and by the state after each gap. What other calls may have changed
        there is not judged."""
        session_keys, done, unknown = set(), {}, []
        for call in self.history.calls:
            if call.what["f"] == "commit":
                session_keys |= {operation[1] for operation in call.what["ops"] if operation[-1] in ("session", "expiring")}
                if call.revision is not None:
                    done[call.revision] = call
                elif "unknown" in call.outcome:
                    unknown.append(call)
        assumed: dict[int, Call] = {}
        of_value = {operation[2]: call for call in unknown for operation in call.what["ops"] if operation[0] == "put"}
        in_order = sorted(done)
        state_of = {revision: state for revision, _, state in self.states}
        for gap in self.gaps:
            for revision in in_order[bisect_right(in_order, gap.first):bisect_right(in_order, gap.last)]:
                assumed[revision] = done[revision]
            for value, revision, *_ in state_of[gap.last].values():
                if gap.first < revision and revision not in assumed and value in of_value:
                    assumed[revision] = of_value[value]
            keys = set(session_keys)
            for call in unknown:
                if call.begin < gap.end and min(call.until, call.begin + LATE) > gap.begin:
                    for kind, key, *_ in call.what["ops"]:
                        if kind == "deleteAll":
                            keys |= {name for name in self.names if selects(key, name)}
                        elif kind != "post":
                            keys.add(key)
            for key in keys:
                self.blurs[key][0].append(gap.first)
                self.blurs[key][1].append(gap.last)
            self.counts["gaps"] += 1
        return assumed

    def is_blurred(self, key: str, low: float, high: float) -> bool:
        """Whether it is not known what a key had at some revision of a range."""
        if key not in self.blurs:
            return False
        firsts, lasts = self.blurs[key]
        place = bisect_right(lasts, low)
        return place < len(lasts) and firsts[place] <= high

    def replay(self) -> None:
        """Applies the commits in their order. Each change has to begin where the one before it has ended."""
        self.states.sort(key=lambda state: state[0])
        self.names |= {key for _, changes in self.commits.values() for key, *_ in changes}
        self.names |= {key for _, _, state in self.states for key in state}
        # A key may be written in a gap alone, and be lost there.
        self.names |= {
            operation[1] for call in self.history.calls for operation in call.what.get("ops", ()) if operation[0] == "put"
        }
        self.assumed = self.fill()
        of_session: dict[int, set[str]] = defaultdict(set)
        states = iter([*self.states, (NEVER, "", {})])
        next_state = next(states)
        first = True
        for revision in sorted({*self.commits, *self.assumed, *(state[0] for state in self.states)}):
            if revision in self.assumed:
                call = self.assumed[revision]
                self.commits.setdefault(revision, (call.session, self.expected(call, revision)))
            if revision in self.commits:
                self.apply(revision, of_session)
            while next_state[0] == revision:
                self.compare(next_state, is_first=first)
                first = False
                next_state = next(states)

    def apply(self, revision: int, of_session: dict[int, set[str]]) -> None:
        origin, changes = self.commits[revision]
        for key, kind, new, old in changes:
            found = self.versions[key].at(NEVER)
            if old != found and not self.is_blurred(key, revision - 1, revision - 1):
                self.problem("W1", f"in {revision}, {key} was {old} before; the changes before it left {found}")
            if (new is not None) != (kind == "put"):
                self.problem("W1", f"in {revision}, {key} is {kind} and is {new} afterwards")
            if new is not None and (new[1] != revision or new[3] != origin or not 0 < new[2] <= revision):
                self.problem("S1", f"in {revision} of {origin:x}, {key} is {new}")
            if new is not None and new[0].startswith("torn"):
                self.problem("S9", f"in {revision}, {key} is {new[0]}")
            if kind == "sessionEnded":
                if old is None or old[4] != "session":
                    self.problem("S8", f"in {revision}, {key} ended with a session, and was {old}")
                else:
                    self.ended.setdefault(old[3], revision)
            if found is not None and found[4] == "session":
                of_session[found[3]].discard(key)
            if new is not None and new[4] == "session":
                of_session[new[3]].add(key)
            self.versions[key].add(revision, new)
        for session in {old[3] for _, kind, _, old in changes if kind == "sessionEnded" and old}:
            left = {key for key in of_session[session] if not self.is_blurred(key, 0, revision)}
            if left:
                self.problem("S8", f"in {revision}, the session {session:x} left {left}")

    def compare(self, known: tuple[float, str, dict[str, Content]], is_first: bool) -> None:
        """Compares what a watch says that all is, with the changes before it."""
        revision, process, state = known
        for key in self.names:
            found, content = self.versions[key].at(NEVER), state.get(key)
            if found == content:
                continue
            if not is_first and not self.is_blurred(key, revision - 1, revision - 1):
                self.problem("W2", f"the watch of {process} has {content} for {key} at {revision}; the changes left {found}")
            self.versions[key].add(int(revision), content)

    # Which call made which commit

    def expected(self, call: Call, revision: int) -> tuple:
        """What a commit changes, done at a revision."""
        state: dict[str, Content | None] = {}
        for operation in call.what.get("ops", ()):
            match operation:
                case ["put", key, value, lifetime]:
                    old = state[key] if key in state else self.versions[key].at(revision - 1)
                    state[key] = (value, revision, old[2] if old else revision, call.session, lifetime)
                case ["delete", key]:
                    state[key] = None
                case ["deleteAll", prefix]:
                    for key in self.names:
                        if selects(prefix, key):
                            state[key] = None
        changes = []
        for key in sorted(state):
            old, new = self.versions[key].at(revision - 1), state[key]
            if old is not None or new is not None:
                changes.append((key, "put" if new is not None else "deleted", new, old))
        return tuple(changes)

    def failing_guard(self, call: Call, revision: float) -> int | None:
        """The first guard of a commit that did not hold in the state of a revision, as far as that is known."""
        for index, (kind, key, *rest) in enumerate(call.what.get("guards", ())):
            if self.is_blurred(key, revision, revision):
                continue
            found = self.versions[key].at(revision)
            match kind:
                case "absent":
                    holds = found is None
                case "exists":
                    holds = found is not None
                case "revision":
                    holds = found is not None and found[1] == rest[0]
                case _:
                    holds = found is not None and found[2] == rest[0]
            if not holds:
                return index
        return None

    def explain(self, by_revision: dict[int, list[Call]]) -> list[tuple[Call, int]]:
        """Finds the call that made each commit. Returns the calls with their revisions."""
        explained: list[tuple[Call, int]] = []
        # Those of one session, the latest last.
        unknown: dict[int, list[Call]] = defaultdict(list)
        for call in self.history.calls:
            if call.what["f"] == "commit" and "unknown" in call.outcome:
                unknown[call.session].append(call)
        told = self.first_told
        for revision, calls in by_revision.items():
            # A commit that changes nothing has a number, and takes a revision for its result (S7, S12).
            if len(calls) > 1:
                self.problem("S3", f"the revision {revision} was given twice", *calls)
            explained += [(call, revision) for call in calls]
        for revision, call in self.assumed.items():
            if call.revision is None:
                unknown[call.session].remove(call)
                explained.append((call, revision))
                self.found[id(call)] = revision
        for revision in sorted(self.commits):
            if revision in self.assumed:
                continue
            origin, changes = self.commits[revision]
            if any(kind in ("sessionEnded", "expired") for _, kind, *_ in changes):
                if not all(kind in ("sessionEnded", "expired") for _, kind, *_ in changes):
                    self.problem("S5", f"{revision} has the end of a session, and more")
                continue
            makers = [
                call for call in by_revision.get(revision, ())
                if call.what["f"] == "commit" and call.session == origin and self.expected(call, revision)
            ]
            if not makers:
                makers = [
                    call for call in unknown[origin]
                    if call.begin <= told.get(revision, NEVER) and self.expected(call, revision) == changes
                ][-1:]
                if not makers:
                    self.problem("S5", f"no call has made {revision} of {origin:x}", changes)
                    continue
                unknown[origin].remove(makers[0])
                explained.append((makers[0], revision))
                self.found[id(makers[0])] = revision
                if self.failing_guard(makers[0], revision - 1) is not None:
                    self.problem("S6", f"{revision} was made although a guard did not hold", makers[0])
                self.counts["unknown, done"] += 1
        return explained

    # When

    def bound(self, explained: list[tuple[Call, int]]) -> None:
        """Finds what each call may have seen, and checks that the writes are in the order of time.

        A call sees no less than what was known before it began. Each answer makes its lowest possible revision known, so the
        calls are taken in the order of their beginnings."""
        begun = Begun([(call.begin, revision) for call, revision in explained])
        self.times = Times(
            [(revision, call.begin, call.until) for call, revision in explained]
            + [(revision, 0, time) for revision, time in self.first_told.items()])
        known: list[tuple[float, float]] = sorted((event.time, event.revision) for event in self.history.events)
        answered: list[tuple[float, float]] = []
        low: float = 0
        position = 0
        for call in sorted(self.history.calls, key=lambda call: call.begin):
            while position < len(known) and known[position][0] < call.begin:
                low = max(low, known[position][1])
                position += 1
            while answered and answered[0][0] < call.begin:
                low = max(low, heappop(answered)[1])
            call.low, call.high = low, begun.highest(call.until)
            if call.is_answered:
                heappush(answered, (call.end, self.lowest_seen(call)))
        for call, revision in explained:
            if not call.low < revision <= call.high:
                self.problem("S4", f"{revision} is not between {call.low} and {call.high}, which other calls knew", call)
            ended = self.ended.get(call.session, NEVER)
            if revision > ended:
                self.problem("L1", f"{revision} is of a session that has ended with {ended}", call)

    def lowest_seen(self, call: Call) -> float:
        """The lowest revision that an answered call may have seen."""
        match call.what["f"], call.outcome:
            case "commit" | "post" | "send", {"ok": revision}:
                return revision
            case "get", {"ok": [_, revision, *_]}:
                return max(call.low, revision)
            case "get", {"ok": None}:
                key = call.what["key"]
                if not self.is_blurred(key, call.low, call.high):
                    places = self.versions[key].between(call.low, call.high)
                    return next((place for place, content in places if content is None), call.low)
            case "list", {"ok": [revision, _]}:
                return max(call.low, revision)
            case "state", {"ok": [_, _, revision, _]}:
                return max(call.low, revision)
            case "commit", {"guard": [_, revision, _]}:
                place = self.place_of_guard(call)
                return max(call.low, revision) if place is None else place
        return call.low

    # The answers

    def check_commit(self, call: Call) -> None:
        if "guard" in call.outcome:
            self.check_guard(call)
            return
        revision = call.outcome["ok"]
        guard = self.failing_guard(call, revision - 1)
        if guard is not None:
            self.problem("S6", f"a commit succeeded although its guard {guard} did not hold", call)
        expected = self.expected(call, revision)
        origin, changes = self.commits.get(revision, (call.session, ()))
        if expected and (origin != call.session or changes != expected):
            rule = "S10" if revision not in self.commits else "S5"
            self.problem(rule, f"{revision} has to change {expected}, and has changed {changes}", call)

    def check_guard(self, call: Call) -> None:
        index, revision, creation = call.outcome["guard"]
        if not 0 <= index < len(call.what["guards"]):
            self.problem("S5", "a guard failed that is not there", call)
            return
        if self.is_guard_blurred(call):
            self.counts["not judged"] += 1
        elif self.place_of_guard(call) is None:
            self.problem("S5", f"the guard {index} did not fail so between {call.low} and {call.high}", call)

    def is_guard_blurred(self, call: Call) -> bool:
        return any(self.is_blurred(key, call.low, call.high) for _, key, *_ in call.what["guards"])

    def place_of_guard(self, call: Call) -> int | None:
        """The first revision at which a guard fails as it was answered."""
        index, revision, creation = call.outcome["guard"]
        if not 0 <= index < len(call.what["guards"]) or self.is_guard_blurred(call):
            return None
        places = {place for _, key, *_ in call.what["guards"] for place, _ in self.versions[key].between(call.low, call.high)}
        key = call.what["guards"][index][1]
        for place in sorted(places):
            found = self.versions[key].at(place)
            if (found[1:3] if found else (0, 0)) == (revision, creation) and self.failing_guard(call, place) == index:
                return place
        return None

    def check_get(self, call: Call) -> None:
        low, high = call.low, call.high
        if self.is_blurred(call.what["key"], low, high):
            self.counts["not judged"] += 1
            return
        found = tuple(call.outcome["ok"]) if call.outcome["ok"] else None
        possible = [content for _, content in self.versions[call.what["key"]].between(low, high)]
        if found not in possible:
            rule = "S9" if found and found[0].startswith("torn") else "S4"
            self.problem(rule, f"between {low} and {high}, the entry was one of {possible}", call)

    def check_list(self, call: Call) -> None:
        low, high = call.low, call.high
        revision, entries = call.outcome["ok"]
        if not low <= revision <= high:
            self.problem("S4", f"a list of {revision} is not between {low} and {high}", call)
        found = {key: tuple(content) for key, *content in entries}
        if len(found) != len(entries):
            self.problem("S4", "a list has a key twice", call)
        expected = {}
        for key in self.names:
            if self.is_blurred(key, revision, revision):
                found.pop(key, None)
            elif selects(call.what["prefix"], key) and (content := self.versions[key].at(revision)) is not None:
                expected[key] = content
        if found != expected or [key for key, *_ in entries] != sorted(key for key, *_ in entries):
            self.problem("S4", f"the list of {revision} differs in {sorted(set(found.items()) ^ set(expected.items()))}", call)
        if call.what.get("final") and any(content[4] != "persistent" for content in found.values()):
            self.problem("S8", "entries of ended sessions, or such that expire, are left at the end", call)

    def check_answered(self) -> None:
        """Most calls are answered, of each kind and at each time, the last reads are, and none hangs."""
        of_kind: dict[str, list[Call]] = defaultdict(list)
        for call in self.history.calls:
            if call.end < NEVER:
                of_kind[call.what["f"]].append(call)
                if call.end - call.begin > LONGEST:
                    self.problem("history", f"a call took {(call.end - call.begin) / 1e9:.0f} s", call)
            if call.what.get("final") and "ok" not in call.outcome:
                self.problem("history", "what is left at the end could not be read", call)
        if not any(call.what["f"] == "list" and call.what.get("final") for call in self.history.calls):
            self.problem("history", "what is left at the end was not read")
        for kind, calls in of_kind.items():
            answered = sum(call.is_answered for call in calls)
            if len(calls) >= 20 and answered < len(calls) / 2:
                self.problem("history", f"{answered} of {len(calls)} calls of {kind} were answered", *calls[-3:])
        returned = sorted((call for calls in of_kind.values() for call in calls), key=lambda call: call.begin)
        size = max(100, len(returned) // 20)
        for start in range(0, len(returned) - size + 1, size):
            part = returned[start:start + size]
            answered = sum(call.is_answered for call in part)
            if answered < size / 4:
                self.problem("history", f"{answered} of {size} calls were answered from {part[0].begin} on", *part[-3:])

    def check_codes(self) -> None:
        """What is refused, and what is unknown, has a fault as its reason."""
        faults: dict[str, list[Fault]] = defaultdict(list)
        for fault in sorted(self.history.faults, key=lambda fault: fault.begin):
            faults[fault.kind].append(fault)
        begins = {kind: [fault.begin for fault in of_kind] for kind, of_kind in faults.items()}
        for call in self.history.calls:
            code = call.outcome.get("refused") or call.outcome.get("unknown")
            if code is None or call.end == NEVER:
                continue
            for kind in REASONS.get(code, ()):
                # One fault is over when the next begins.
                before = bisect_right(begins.get(kind, []), call.end)
                if before and faults[kind][before - 1].end + AFTERWARDS >= call.begin:
                    break
            else:
                self.counts[f"{code} without a reason"] += 1
                self.problem("codes", f"{code} without a reason", call)

    def check_expiring(self) -> None:
        """What expires is not gone early, and is not read late."""
        def limit(content: Content) -> float:
            """Until when an entry may be there."""
            return self.times.latest(content[1]) + EXPIRING + EXPIRED + BUSY

        for revision, (_, changes) in self.commits.items():
            for key, kind, _, old in changes:
                if kind == "expired" and old is not None:
                    if old[4] != "expiring":
                        self.problem("S8", f"in {revision}, {key} expired, and was {old}")
                    elif self.times.latest(revision) < self.times.earliest(old[1]) + EXPIRING:
                        self.problem("S8", f"in {revision}, {key} expired early, by {self.times.latest(revision)}", old)
                    elif self.times.earliest(revision) > limit(old):
                        self.problem("S8", f"in {revision}, {key} expired late, after {self.times.earliest(revision)}", old)
        for call in self.history.calls:
            entries = []
            if call.what["f"] == "get" and call.outcome.get("ok"):
                entries = [call.outcome["ok"]]
            elif call.what["f"] == "list" and "ok" in call.outcome:
                entries = [content for _, *content in call.outcome["ok"][1]]
            for content in entries:
                if content[4] == "expiring" and call.begin > limit(content):
                    self.problem("S8", f"an entry is read late that expires, by {(call.begin - limit(content)) / 1e9} s", call)

    def check_refused(self) -> None:
        """What was refused has no effect: its values are nowhere."""
        refused = {}
        for call in self.history.calls:
            if call.what["f"] == "commit" and ("refused" in call.outcome or "guard" in call.outcome):
                for operation in call.what["ops"]:
                    if operation[0] == "put":
                        refused[operation[2]] = call
        for revision, (_, changes) in self.commits.items():
            for _, _, new, _ in changes:
                if new is not None and new[0] in refused:
                    self.problem("S12", f"{revision} has a value of a call that was refused", refused[new[0]])

    def check_open(self, call: Call) -> None:
        """With all others, in `check_sessions`."""

    check_close = check_open

    # Posts

    def check_post(self, call: Call) -> None:
        """Together with the states, in `check_posts`."""

    def check_state(self, call: Call) -> None:
        """Together with the posts, in `check_posts`."""

    def check_posts(self) -> None:
        """A state is that of the last post, and its count is that of all posts until then."""
        posts: dict[str, dict[int, tuple[int, int]]] = defaultdict(dict)
        unknown: dict[tuple[str, int, int], list[Call]] = defaultdict(list)
        for call in self.history.calls:
            revision = self.revision_of(call)
            for name, state in self.posts_of(call):
                if revision is not None:
                    posts[name][revision] = (state, call.session)
                elif "unknown" in call.outcome and (self.gaps or call.what["f"] == "post"):
                    # A commit of the others has a change, so that it is found where it was made.
                    unknown[name, state, call.session].append(call)
        reads: dict[str, list[Call]] = defaultdict(list)
        for call in self.history.calls:
            if call.what["f"] == "state" and "ok" in call.outcome:
                reads[call.what["name"]].append(call)
        for name, of_name in reads.items():
            of_name.sort(key=lambda call: (call.outcome["ok"][2], call.end))
            self.find_posts(name, of_name, posts[name], unknown)
            maybe = sorted(call.begin for (of, _, _), calls in unknown.items() if of == name for call in calls)
            self.count_posts(of_name, sorted(posts[name]), maybe)

    def find_posts(
        self, name: str, reads: list[Call], posts: dict[int, tuple[int, int]], unknown: dict[tuple[str, int, int], list[Call]]
    ) -> None:
        """Finds the posts of an unknown outcome that were read, and checks what all reads say of their posts."""
        for call in reads:
            state, count, revision, origin = call.outcome["ok"]
            if not revision:
                if (state, count, origin) != (0, 0, 0):
                    self.problem("N5", "a state is there, and no post", call)
                continue
            if revision not in posts:
                makers = unknown[name, state, origin]
                maker = min(makers, key=lambda maker: maker.begin, default=None)
                if maker is None or maker.begin >= call.end:
                    self.problem("N3", f"no call has posted with {revision}", call)
                    continue
                if not maker.low < revision <= maker.high:
                    self.problem("S4", f"{revision} is not between {maker.low} and {maker.high}, which others knew", maker, call)
                makers.remove(maker)
                posts[revision] = (state, origin)
            elif posts[revision] != (state, origin):
                self.problem("N3", f"the post of {revision} had {posts[revision]}", call)

    def count_posts(self, reads: list[Call], order: list[int], maybe: list[int]) -> None:
        """Checks the counts of the reads of one name, which are in the order of their revisions.

        :param order: the revisions of the known posts.
        :param maybe: when the posts began of which it is not known whether they were made.
        """
        counted, until = 0, 0
        for call in reads:
            _, count, revision, _ = call.outcome["ok"]
            known, possible = bisect_right(order, revision), bisect_left(maybe, call.end)
            if not known <= count <= known + possible:
                self.problem("N3", f"{count} posts, and {known} were known, with {possible} unknown", call)
            between = known - bisect_right(order, until)
            if not between <= count - counted <= between + (possible if revision > until else 0):
                self.problem("N5", f"{count} posts, and {counted} at {until}, with {between} known between", call)
            counted, until = count, revision
            missed = bisect_right(order, call.low)
            if missed > known or revision > call.high:
                self.problem("N7", f"a post of {order[missed - 1] if missed else 0} had returned before", call)

    def revision_of(self, call: Call) -> int | None:
        """The revision of a write that has succeeded, or was found to have."""
        return call.revision if call.revision is not None else self.found.get(id(call))

    def posts_of(self, call: Call) -> list[tuple[str, int]]:
        if call.what["f"] == "post":
            return [(call.what["name"], call.what["state"])]
        if call.what["f"] == "commit":
            return [(name, state) for kind, name, state, *_ in (o for o in call.what["ops"] if o[0] == "post")]
        return []

    # The mailbox

    def check_send(self, call: Call) -> None:
        """With all others, in `check_mailbox`."""

    check_take = check_acknowledge = check_send

    def check_mailbox(self) -> None:
        """Each message that was sent is acknowledged once or left at the end, and is taken in the order of the sends."""
        sent: dict[str, Call] = {}
        taken: dict[str, list[Call]] = defaultdict(list)
        acknowledged: dict[str, list[Call]] = defaultdict(list)
        is_drained = False
        for call in self.history.calls:
            match call.what["f"]:
                case "send":
                    sent[call.what["text"]] = call
                case "take":
                    if call.outcome.get("ok"):
                        taken[call.outcome["ok"]].append(call)
                case "acknowledge":
                    acknowledged[call.what["text"]].append(call)
                case "list" if call.what.get("final"):
                    is_drained = True
        for text, takes in taken.items():
            takes.sort(key=lambda take: take.end)
            if text not in sent or "refused" in sent[text].outcome:
                self.problem("M2", "a message was taken that was not sent", *takes)
            elif any(take.end < sent[text].begin for take in takes):
                self.problem("M2", "a message was taken before it was sent", sent[text], *takes)
            self.check_hands(takes, acknowledged[text])
        for text, call in sent.items():
            done = [one for one in acknowledged[text] if one.outcome.get("ok") is True]
            if len(done) > 1:
                self.problem("M6", "a message was acknowledged twice", *done)
            for one in done:
                for take in taken[text]:
                    if take.begin > one.end:
                        self.problem("M6", "a message was taken after it was acknowledged", one, take)
            may_be_done = done or any("unknown" in one.outcome for one in acknowledged[text])
            if is_drained and call.revision is not None and not may_be_done:
                self.problem("M2", "a message was neither acknowledged nor left", call)
        self.check_queue(sent, taken, acknowledged)

    def check_hands(self, takes: list[Call], acknowledged: list[Call]) -> None:
        """A message is in one hand, until it is acknowledged or the session has ended. No call gives one back.

        :param takes: those of one message, in the order of their ends.
        """
        for first, second in zip(takes, takes[1:]):
            if first.session == second.session or not (self.may_follow(second, first) or self.may_follow(first, second)):
                self.problem("M6", "two sessions that lived had a message, or one had it twice", first, second)
        for call in acknowledged:
            own = [take for take in takes if take.session == call.session]
            if not own:
                self.problem("M6", "a message was acknowledged by a session that did not take it", call)
            elif call.outcome.get("ok") is False:
                # No call clears the mailbox, so a take ends with its session alone; the session has answered here.
                self.problem("M6", "a message was gone out of the hand of a session that lived", own[-1], call)
            elif call.outcome.get("ok") is True:
                for other in takes:
                    if other.session != call.session and not self.may_follow(own[-1], other):
                        self.problem("M6", "a message was taken out of the hand that acknowledged it", other, own[-1], call)

    def may_follow(self, second: Call, first: Call) -> bool:
        """Whether one session may have taken what another had taken before: that has ended meanwhile."""
        return first.begin < second.end and self.alive[first.session] < second.end

    def check_queue(
        self, sent: dict[str, Call], taken: dict[str, list[Call]], acknowledged: dict[str, list[Call]]
    ) -> None:
        """No take finds nothing, or a newer message, while one waits all the time that it takes.

        A take of an unknown outcome may hold any one message until its session has ended. The calls are taken in the order of
        time, with the messages that wait at each time in the order of their sends.
        """
        steps: list[tuple[float, int, int, float]] = []
        for text, call in sent.items():
            if call.revision is None:
                continue
            end = min((one.begin for one in acknowledged[text] if one.outcome.get("ok") is not False
                       and "refused" not in one.outcome), default=NEVER)
            start: float = call.end
            for take in sorted(taken[text], key=lambda take: take.begin):
                if start < min(take.begin, end):
                    steps.append((start, 1, call.revision, min(take.begin, end)))
                start = max(start, self.gone[take.session])
            if start < end:
                steps.append((start, 1, call.revision, end))
        steps += [(until, 0, revision, until) for _, _, revision, until in steps if until < NEVER]
        lost = [call for call in self.history.calls if call.what["f"] == "take" and "unknown" in call.outcome]
        lost_begins, lost_ends = sorted(call.begin for call in lost), sorted(self.gone[call.session] for call in lost)
        takes = [call for call in self.history.calls if call.what["f"] == "take" and "ok" in call.outcome]
        steps += [(call.begin, 2, index, 0) for index, call in enumerate(takes)]
        steps.sort()
        waiting: list[int] = []
        until: dict[int, float] = {}
        for time, kind, number, end in steps:
            if kind == 0:
                waiting.pop(bisect_left(waiting, number))
            elif kind == 1:
                insort(waiting, number)
                until[number] = end
            else:
                call = takes[number]
                text = call.outcome["ok"]
                newer = NEVER if text is None else sent[text].revision if text in sent else None
                may_be_held = bisect_left(lost_begins, call.end) - bisect_right(lost_ends, time)
                for revision in waiting if newer is not None else ():
                    if revision >= newer:
                        break
                    may_be_held -= until[revision] > call.end
                    if may_be_held < 0:
                        rule, found = ("M6", "nothing") if text is None else ("M1", "a newer message")
                        self.problem(rule, f"a take found {found} while the message of {revision} waited", call)
                        break


def judge(paths: list[str]) -> Checker:
    """Reads files and judges them."""
    checker = Checker(read(paths))
    checker.judge()
    return checker
