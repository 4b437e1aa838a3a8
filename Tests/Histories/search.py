"""Searches small pieces of a history for an order that explains all answers, without the help of revisions.

It is the second opinion on `checker.py`: the calls on one key, 200 at a time, as a register with conditional writes. What the key
had before a piece is not known, and a write that reaches into a piece from outside may have had its effect there or not.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from checker import LATE, NEVER, Call, History, selects

WINDOW = 200
ANYTHING = "?"
#: Of the calls, this part took longest, mostly in processes that were stopped or during a fault. A read among them is left out, a
#: write is tried in each piece within its time.
LONG = 0.01
#: A piece that needs more states is not decided.
STATES = 200_000


@dataclass(slots=True)
class Step:
    """What one call does to one key."""

    begin: int
    end: float
    is_read: bool
    #: Whether it has had its effect for certain.
    is_certain: bool
    #: What a read has seen, or what a write replaces.
    old: object
    new: object = None


def steps(history: History) -> dict[str, list[Step]]:
    """What the calls do to each key whose entries stay until they are deleted."""
    of_revision = {}
    session_keys = set()
    names = set()
    for call in history.calls:
        for kind, key, *rest in call.what.get("ops", ()):
            if kind == "put":
                names.add(key)
                if rest[1] != "persistent":
                    session_keys.add(key)
                if call.revision is not None:
                    of_revision[key, call.revision] = rest[0]
    keys: dict[str, list[Step]] = {name: [] for name in sorted(names - session_keys)}
    for call in history.calls:
        what, outcome = call.what, call.outcome
        if what["f"] == "get" and "ok" in outcome and what["key"] in keys:
            seen = outcome["ok"][0] if outcome["ok"] else None
            keys[what["key"]].append(Step(call.begin, call.end, True, True, seen))
        if what["f"] == "commit" and ("ok" in outcome or "unknown" in outcome):
            for key, new in writes(call, keys).items():
                old: object = ANYTHING
                for kind, guarded, *rest in what["guards"]:
                    if guarded == key:
                        old = None if kind == "absent" else of_revision.get((key, rest[0]), ANYTHING) if kind == "revision" else old
                end = call.end if "ok" in outcome else call.begin + LATE
                keys[key].append(Step(call.begin, end, False, "ok" in outcome, old, new))
    return keys


def writes(call: Call, keys: dict[str, list[Step]]) -> dict[str, str | None]:
    """What a commit leaves in the keys that it writes."""
    left: dict[str, str | None] = {}
    for kind, key, *rest in call.what["ops"]:
        if kind == "deleteAll":
            left |= {name: None for name in keys if selects(key, name)}
        elif kind != "post" and key in keys:
            left[key] = rest[0] if kind == "put" else None
    return left


def windows(history: History) -> tuple[int, int, list[str]]:
    """Searches all pieces. Returns how many were decided, how many not, and a sentence for each without an order."""
    count, undecided, problems = 0, 0, []
    for key, found in steps(history).items():
        times = sorted(step.end - step.begin for step in found)
        limit = times[int(len(times) * (1 - LONG))] if times else 0
        long = [step for step in found if step.end - step.begin > limit and not step.is_read]
        short = sorted((step for step in found if step.end - step.begin <= limit), key=lambda step: step.begin)
        for start in range(0, len(short), WINDOW):
            piece = short[start:start + WINDOW]
            begin, end = piece[0].begin, max(step.end for step in piece)
            around = short[max(0, start - 50):start] + short[start + WINDOW:start + WINDOW + 50] + long
            outside = [
                Step(step.begin, step.end, False, False, step.old, step.new) for step in around
                if not step.is_read and step.end >= begin and step.begin <= end
            ]
            match is_explained(piece + outside):
                case None:
                    undecided += 1
                case True:
                    count += 1
                case False:
                    count += 1
                    problems.append(f"S4: no order explains the calls on {key} from {begin} on")
    return count, undecided, problems


def is_explained(piece: list[Step]) -> bool | None:
    """Whether an order of the steps that agrees with time explains them; None where the search was given up."""
    # A value that no other step has seen explains nothing: a write of it that is not certain may as well not have been.
    seen = {step.old for step in piece}
    piece = sorted((step for step in piece if step.is_certain or step.new in seen), key=lambda step: step.begin)
    certain = sum(1 << index for index, step in enumerate(piece) if step.is_certain)
    visited = set()
    stack: list[tuple[int, object]] = [(0, ANYTHING)]
    while stack:
        done, state = stack.pop()
        if done & certain == certain:
            return True
        if (done, state) in visited:
            continue
        visited.add((done, state))
        if len(visited) > STATES:
            return None
        # A step can be next if no step that is left has ended before it began.
        earliest = NEVER
        for index, step in enumerate(piece):
            if done >> index & 1:
                continue
            if step.begin > earliest:
                break
            if step.is_certain:
                earliest = min(earliest, step.end)
            if ANYTHING in (state, step.old) or state == step.old:
                stack.append((done | 1 << index, step.old if step.is_read else step.new))
    return False
