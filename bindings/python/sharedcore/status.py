"""The state of a group: its owner, its sessions, a rest, activities, calls and pushes; and the timeline."""

from __future__ import annotations

import ctypes
from ctypes import byref
from dataclasses import dataclass

from . import _library as c
from ._library import call, library, page_limit, word

_STATES = (None, "starting", "running", "stopping")


@dataclass(frozen=True, slots=True)
class Process:
    """A process of one run of one machine."""

    #: The run of the machine: 32 hexadecimal digits.
    boot_id: str
    pid: int
    #: In clock ticks since the machine's start; 0 if it is not known.
    start_time: int


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session of a group. Times here and below are seconds since the machine's start, by ``CLOCK_BOOTTIME``."""

    session: int
    role: str
    name: str
    process: Process
    since: float


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of the core (contract C1)."""

    session: int
    #: The revision of its acquisition.
    epoch: int
    role: str
    name: str
    process: Process
    since: float
    #: ``starting``, ``running`` or ``stopping``.
    state: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A Main that has asked for the core and does not own it yet (contract C3)."""

    session: int
    name: str
    #: With the pid 0 if it is not known.
    process: Process
    since: float
    #: Whether another Main has to let go too.
    takes_over: bool
    #: Whether the owner's activities do not hold it up.
    insists: bool


@dataclass(frozen=True, slots=True)
class ActivityInfo:
    """Work of the owner that a hand-over waits for (contract C17)."""

    kind: str
    id: str
    begun: float
    expected_end: float | None
    #: From then on it keeps nothing.
    latest_end: float


@dataclass(frozen=True, slots=True)
class RestInfo:
    """A Main that rests: the owner is the holder, which owns for it under the epoch of its core (contract C26)."""

    session: int
    epoch: int
    name: str
    process: Process
    holder: Process
    #: Why it was woken and has not resumed yet: ``call``, ``push``, ``user`` or another; None while it sleeps.
    wake: str | None


@dataclass(frozen=True, slots=True)
class CallCounts:
    """The number of the calls of a group."""

    open: int
    #: Of the open ones, those with a baton that no core has applied yet (C25).
    moving: int
    ended: int


@dataclass(frozen=True, slots=True)
class PushCounts:
    """The number of the pushes that a host keeps (P13)."""

    #: Those that wait for an Executor, and those in the hand of a host.
    waiting: int
    taken: int
    given_up: int
    #: Those that wait for a Main or are in its hand.
    for_main: int


@dataclass(frozen=True, slots=True)
class Status:
    """The sessions of a group, the oldest first; its owner, the Main that waits or rests, and the activities at one revision.

    The calls and the pushes were counted after it.
    """

    revision: int
    owner: Owner | None
    asked: Asked | None
    activities: tuple[ActivityInfo, ...]
    sessions: tuple[SessionInfo, ...]
    rest: RestInfo | None
    calls: CallCounts
    pushes: PushCounts


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One thing that happened to the ownership of the core (contract C15)."""

    revision: int
    #: ``acquired``, as ``sharedcore timeline --json`` has it; later versions have more.
    event: str
    #: For people, without the time.
    sentence: str
    #: Of the participant that did it.
    session: int
    role: str
    name: str
    process: Process
    at: float
    #: Of the participant's own ownership.
    epoch: int | None
    #: Of the ownership that this is about.
    other: int | None
    #: With an acquisition, the ownership before it and its end: ``released``, ``sessionEnded``, ``unanswered``,
    #: ``deadlinePassed`` or ``replaced``.
    previous_epoch: int | None
    previous_end: str | None
    #: The owner's state before and after.
    before: str | None
    after: str | None
    #: A duration in seconds.
    bound: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """Entries of a timeline, the oldest first."""

    entries: tuple[TimelineEntry, ...]
    #: The revision after which the next page begins; None for the last page.
    next: int | None
    #: How many entries the group has dropped since its beginning, and the revision of the last of them.
    dropped_count: int
    dropped_through: int | None
    #: How many entries cannot be read or are not the participant's own.
    damaged_count: int


def _process(process: c.CProcess) -> Process:
    return Process(process.boot_id.decode(), process.pid, process.start_time)


def _owner(owner: c.COwner) -> Owner:
    return Owner(
        session=owner.session,
        epoch=owner.epoch,
        role=owner.role.decode(),
        name=owner.name.decode(),
        process=_process(owner.process),
        since=owner.since / 1000,
        state=_STATES[owner.state] or "",
    )


def _asked(asked: c.CAsked) -> Asked:
    return Asked(
        session=asked.session,
        name=asked.name.decode(),
        process=_process(asked.process),
        since=asked.since / 1000,
        takes_over=bool(asked.takes_over),
        insists=bool(asked.insists),
    )


def _activity(activity: c.CActivityInfo) -> ActivityInfo:
    return ActivityInfo(
        kind=activity.kind.decode(),
        id=activity.id.decode(),
        begun=activity.begun / 1000,
        expected_end=activity.expected_end / 1000 if activity.expected_end >= 0 else None,
        latest_end=activity.latest_end / 1000,
    )


def _session(session: c.CSessionInfo) -> SessionInfo:
    return SessionInfo(
        session=session.session,
        role=session.role.decode(),
        name=session.name.decode(),
        process=_process(session.process),
        since=session.since / 1000,
    )


def _rest(rest: c.CRestInfo) -> RestInfo:
    return RestInfo(
        session=rest.session,
        epoch=rest.epoch,
        name=rest.name.decode(),
        process=_process(rest.process),
        holder=_process(rest.holder),
        wake=c.optional_text(rest.wake),
    )


def group_status(group: int) -> Status:
    """Gets the state of a group."""
    place = ctypes.POINTER(c.CGroupStatus)()
    call("sc_status", group, byref(place))
    try:
        status = place.contents
        return Status(
            revision=status.revision,
            owner=_owner(status.owner.contents) if status.owner else None,
            asked=_asked(status.asked.contents) if status.asked else None,
            activities=tuple(_activity(status.activities[index].contents) for index in range(status.activity_count)),
            sessions=tuple(_session(status.sessions[index].contents) for index in range(status.session_count)),
            rest=_rest(status.rest.contents) if status.rest else None,
            calls=CallCounts(status.open_call_count, status.moving_call_count, status.ended_call_count),
            pushes=PushCounts(
                status.waiting_push_count, status.taken_push_count, status.given_up_push_count, status.main_push_count
            ),
        )
    finally:
        library.sc_status_free(byref(place))


def _entry(entry: c.CTimelineEntry) -> TimelineEntry:
    return TimelineEntry(
        revision=entry.revision,
        event=entry.event.decode(),
        sentence=entry.sentence.decode(),
        session=entry.session,
        role=entry.role.decode(),
        name=entry.name.decode(),
        process=_process(entry.process),
        at=entry.at / 1000,
        epoch=entry.epoch or None,
        other=entry.other or None,
        previous_epoch=entry.previous_epoch or None,
        previous_end=c.optional_text(entry.previous_end),
        before=_STATES[entry.from_],
        after=_STATES[entry.to],
        bound=entry.bound / 1000 if entry.bound >= 0 else None,
        reason=entry.reason.decode(),
    )


def timeline_page(group: int, after: int, limit: int) -> TimelinePage:
    """Gets a page of a group's timeline."""
    place = ctypes.POINTER(c.CTimelinePage)()
    call("sc_timeline", group, word(after, "revision"), page_limit(limit), byref(place))
    try:
        page = place.contents
        return TimelinePage(
            entries=tuple(_entry(page.entries[index].contents) for index in range(page.count)),
            next=page.next or None,
            dropped_count=page.dropped_count,
            dropped_through=page.dropped_through or None,
            damaged_count=page.damaged_count,
        )
    finally:
        library.sc_timeline_page_free(byref(place))
