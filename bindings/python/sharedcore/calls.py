"""Calls as records of the group, and the calls and activities of a core."""

from __future__ import annotations

from ctypes import byref, c_int32, c_uint64
from dataclasses import dataclass

from . import _library as c
from ._library import CallLock, Owned, call, library
from ._stream import Stream

COMMANDS = ("answer", "decline", "hold", "resume", "hangUp")
_DIRECTIONS = ("incoming", "outgoing")
_STATES = ("incoming", "ringing", "answered", "held", "remotelyHeld", "ended")
_REASONS = ("hungUp", "remoteHungUp", "declined", "missed", "answeredElsewhere", "busy", "failed", "lost")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the application, as every process of the group can read it.

    A core gives one to :meth:`CoreContext.begin_call`; the fields from ``holder`` on are the group's.
    """

    id: str
    #: ``incoming`` or ``outgoing``.
    direction: str = "incoming"
    sender: str = ""
    recipient: str = ""
    account: str = ""
    audio: bool = True
    video: bool = False
    #: ``incoming``, ``ringing``, ``answered``, ``held``, ``remotelyHeld`` or ``ended``.
    state: str = "incoming"
    #: The session whose core has the call; 0 for none.
    holder: int = 0
    #: The reason of the end, such as ``hungUp`` or ``lost``; None while the call is open.
    end_reason: str | None = None
    #: With ``failed``, the reason for people.
    end_text: str = ""
    #: Seconds since the machine started; None for a call that was not answered, or has not ended.
    began: float = 0
    answered: float | None = None
    ended: float | None = None


def _call(info: c.CCallInfo) -> Call:
    return Call(
        id=info.id.decode(),
        direction=_DIRECTIONS[info.direction - 1],
        sender=info.from_.decode(),
        recipient=info.to.decode(),
        account=info.account.decode(),
        audio=bool(info.media & 1),
        video=bool(info.media & 2),
        state=_STATES[info.state],
        holder=info.holder,
        end_reason=_REASONS[info.end_reason - 1] if info.end_reason else None,
        end_text=info.end_text.decode(),
        began=info.began / 1000,
        answered=info.answered / 1000 if info.answered >= 0 else None,
        ended=info.ended / 1000 if info.ended >= 0 else None,
    )


def call_list(name: str, *arguments: object) -> tuple[Call, ...] | None:
    """Calls a function of the library that gets a list. Returns None for nothing.

    :raises StopIteration: the sequence has ended.
    """
    result = c.CCallList()
    code = call(name, *arguments, byref(result))
    if code == c.ENDED:
        raise StopIteration
    if code == c.NOTHING:
        return None
    try:
        return tuple(_call(result.calls[index]) for index in range(result.count))
    finally:
        library.sc_call_list_free(byref(result))


class CallChanges(Stream[tuple[Call, ...]]):
    """The lists of a group's calls, one for each change: an iterator, and an asynchronous one."""

    def _take(self, timeout: int) -> tuple[Call, ...] | None:
        return call_list("sc_calls_next", self._handle, timeout)


class OpenCall(Stream["Command"]):
    """A call of a core: an iterator, and an asynchronous one, over the commands for it.

    The first iteration begins to take commands. Answer each of them from then on.
    """

    # It begins to take commands, by a call of the store.
    _begins_by_store = True

    def change(self, state: str) -> None:
        """Changes the state: a state of :class:`Call` other than ``ended``."""
        call("sc_call_change", self._handle, _STATES.index(state))

    def change_media(self, *, audio: bool, video: bool) -> None:
        """Says what media the call has from now on: none while it is held."""
        call("sc_call_change_media", self._handle, int(audio) + 2 * int(video))

    def set_moves(self, kind: str | None, *, needs_descriptors: bool = True) -> None:
        """Says that the call moves with a :class:`Baton` of a kind from now on, or with None that it cannot.

        Without ``needs_descriptors`` it also moves to another machine.

        :raises GuardFailedError: the call is over, or a Main has asked that takes it.
        """
        call("sc_call_set_moves", self._handle, c.optional_c_text(kind), 2 if needs_descriptors else 1)

    def end(self, reason: str, text: str = "") -> None:
        """Ends the call, such as by ``hungUp``, or by ``failed`` with a text for people."""
        call("sc_call_end", self._handle, _REASONS.index(reason) + 1, c.c_text(text))
        self._handle = 0

    def _take(self, timeout: int) -> Command | None:
        handle, kind = c_uint64(), c_int32()
        code = call("sc_call_next_command", self._handle, timeout, byref(handle), byref(kind))
        if code == c.ENDED:
            raise StopIteration
        return None if code == c.NOTHING else Command(handle.value, COMMANDS[kind.value - 1])


class Command(Owned):
    """A command for a call, taken by its core: accept or refuse it."""

    def __init__(self, handle: int, kind: str) -> None:
        self._handle = handle
        self._lock = CallLock()
        #: ``answer``, ``decline``, ``hold``, ``resume`` or ``hangUp``.
        self.kind = kind

    def accept(self) -> None:
        """Says that the command was carried out."""
        with self._lock:
            call("sc_command_accept", self._handle)
            self._handle = 0

    def refuse(self, reason: str) -> None:
        """Says that the command is not carried out."""
        with self._lock:
            call("sc_command_refuse", self._handle, c.c_text(reason))
            self._handle = 0


class Activity(Owned):
    """Work of a core that a hand-over waits for, and that keeps an Executor's core past its budget, within its bound."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def end(self) -> None:
        """Ends the activity."""
        call("sc_activity_end", self._handle)
        self._handle = 0


def begin_call(core: int, description: Call) -> OpenCall:
    """Begins a call of a core."""
    info = c.CCallInfo(
        id=c.c_text(description.id),
        from_=c.c_text(description.sender),
        to=c.c_text(description.recipient),
        account=c.c_text(description.account),
        direction=_DIRECTIONS.index(description.direction) + 1,
        media=int(description.audio) + 2 * int(description.video),
        state=_STATES.index(description.state),
    )
    handle = c_uint64()
    call("sc_call_begin", core, byref(info), byref(handle))
    return OpenCall(handle.value)


def begin_activity(core: int, kind: str, id: str, bound: float | None) -> Activity:
    """Begins an activity of a core."""
    handle = c_uint64()
    limit = 0 if bound is None else c.duration(bound, "bound of an activity")
    call("sc_activity_begin", core, c.c_text(kind), limit, c.c_text(id), byref(handle))
    return Activity(handle.value)
