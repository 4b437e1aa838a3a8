"""The C library: its structures, its calls and its errors."""

from __future__ import annotations

import ctypes
import os
import select
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from ctypes import POINTER, c_char, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from numbers import Real
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

Value = TypeVar("Value")

ABI = 1

OK, NOTHING, ENDED = 0, 100, 101
GUARD_FAILED, CLOSED, UNSUPPORTED, SYSTEM, REFUSED, TIMEOUT, HANDLE, FORKED = 3, 4, 8, 14, 20, 21, 40, 41
CANCELLED, OUTCOME_UNKNOWN, STORAGE_FULL, UNAVAILABLE, UNKNOWN = 6, 7, 9, 11, 99


class CError(ctypes.Structure):
    _fields_ = [
        ("code", c_int32),
        ("guard_index", c_uint32),
        ("found_revision", c_uint64),
        ("found_creation_revision", c_uint64),
        ("message", c_char * 512),
        ("location", c_char * 256),
    ]


class COptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("backend", c_char_p),
        ("directory", c_char_p),
        ("role", c_char_p),
        ("name", c_char_p),
        ("durability", c_char_p),
        ("settings", POINTER(c_char_p)),
        ("setting_count", c_size_t),
        ("open_timeout", c_int64),
        ("configuration_file", c_char_p),
        ("read_only", c_int32),
        ("reserved", c_int32),
    ]


class CEntry(ctypes.Structure):
    _fields_ = [
        ("key", c_void_p),
        ("key_count", c_size_t),
        ("value", c_void_p),
        ("value_count", c_size_t),
        ("revision", c_uint64),
        ("creation_revision", c_uint64),
        ("origin", c_uint64),
        ("lifetime", c_int64),
        ("lifetime_kind", c_int32),
        ("reserved", c_int32),
    ]


class CList(ctypes.Structure):
    _fields_ = [("revision", c_uint64), ("count", c_size_t), ("entries", POINTER(CEntry))]


class CGuard(ctypes.Structure):
    _fields_ = [
        ("key", c_char_p),
        ("key_count", c_size_t),
        ("revision", c_uint64),
        ("kind", c_int32),
        ("reserved", c_int32),
    ]


class COperation(ctypes.Structure):
    _fields_ = [
        ("key", c_char_p),
        ("key_count", c_size_t),
        ("value", c_char_p),
        ("value_count", c_size_t),
        ("state", c_uint64),
        ("lifetime", c_int64),
        ("lifetime_kind", c_int32),
        ("kind", c_int32),
    ]


class CChange(ctypes.Structure):
    _fields_ = [("entry", CEntry), ("old", CEntry), ("kind", c_int32), ("reserved", c_int32)]


class CEvent(ctypes.Structure):
    _fields_ = [
        ("revision", c_uint64),
        ("origin", c_uint64),
        ("count", c_size_t),
        ("changes", POINTER(CChange)),
        ("kind", c_int32),
        ("reserved", c_int32),
    ]


class CNotification(ctypes.Structure):
    _fields_ = [("state", c_uint64), ("count", c_uint64), ("revision", c_uint64), ("origin", c_uint64)]


class CBytes(ctypes.Structure):
    _fields_ = [("bytes", c_void_p), ("count", c_size_t)]


class CCallInfo(ctypes.Structure):
    _fields_ = [
        ("id", c_char_p),
        ("from_", c_char_p),
        ("to", c_char_p),
        ("account", c_char_p),
        ("end_text", c_char_p),
        ("holder", c_uint64),
        ("began", c_int64),
        ("answered", c_int64),
        ("ended", c_int64),
        ("direction", c_int32),
        ("media", c_int32),
        ("state", c_int32),
        ("end_reason", c_int32),
    ]


class CCallList(ctypes.Structure):
    _fields_ = [("count", c_size_t), ("calls", POINTER(CCallInfo))]


class CParticipantOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("handover_timeout", c_int64),
        ("stop_timeout", c_int64),
        ("executor_budget", c_int64),
        ("core_linger", c_int64),
        ("handover_maximum_timeout", c_int64),
        ("wake_timeout", c_int64),
        ("baton_lifetime", c_int64),
        ("takes_batons", POINTER(c_char_p)),
        ("takes_baton_count", c_size_t),
        ("takes_over", c_int32),
        ("insists", c_int32),
    ]


class CField(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class CMessage(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("call_id", c_char_p),
        ("sequence", c_char_p),
        ("kind", c_char_p),
        ("sender", c_char_p),
        ("recipient", c_char_p),
        ("text", c_char_p),
        ("body", c_void_p),
        ("body_count", c_size_t),
        ("account", c_char_p),
        ("conversation", c_char_p),
        ("content_type", c_char_p),
        ("time", c_int64),
        ("fields", POINTER(CField)),
        ("field_count", c_size_t),
    ]


class CListedMessage(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("message", POINTER(CMessage)),
        ("stored_at", c_uint64),
        ("taken_by", c_uint64),
        ("state", c_int32),
        ("reserved", c_int32),
    ]


class CInboxPage(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("count", c_size_t),
        ("messages", POINTER(POINTER(CListedMessage))),
        ("next", c_uint64),
    ]


class CProcess(ctypes.Structure):
    _fields_ = [("boot_id", c_char_p), ("start_time", c_uint64), ("pid", c_int32), ("reserved", c_int32)]


class CSessionInfo(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("session", c_uint64),
        ("role", c_char_p),
        ("name", c_char_p),
        ("process", CProcess),
        ("since", c_int64),
    ]


class COwner(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("session", c_uint64),
        ("epoch", c_uint64),
        ("role", c_char_p),
        ("name", c_char_p),
        ("process", CProcess),
        ("since", c_int64),
        ("state", c_int32),
        ("reserved", c_int32),
    ]


class CAsked(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("session", c_uint64),
        ("name", c_char_p),
        ("process", CProcess),
        ("since", c_int64),
        ("takes_over", c_int32),
        ("insists", c_int32),
    ]


class CActivityInfo(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_char_p),
        ("id", c_char_p),
        ("begun", c_int64),
        ("expected_end", c_int64),
        ("latest_end", c_int64),
    ]


class CRestInfo(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("session", c_uint64),
        ("epoch", c_uint64),
        ("name", c_char_p),
        ("process", CProcess),
        ("holder", CProcess),
        ("wake", c_char_p),
    ]


class CGroupStatus(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("sessions", POINTER(POINTER(CSessionInfo))),
        ("session_count", c_size_t),
        ("revision", c_uint64),
        ("owner", POINTER(COwner)),
        ("asked", POINTER(CAsked)),
        ("activities", POINTER(POINTER(CActivityInfo))),
        ("activity_count", c_size_t),
        ("rest", POINTER(CRestInfo)),
        ("open_call_count", c_uint64),
        ("moving_call_count", c_uint64),
        ("ended_call_count", c_uint64),
        ("waiting_push_count", c_uint64),
        ("taken_push_count", c_uint64),
        ("given_up_push_count", c_uint64),
        ("main_push_count", c_uint64),
    ]


class CTimelineEntry(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("revision", c_uint64),
        ("event", c_char_p),
        ("sentence", c_char_p),
        ("session", c_uint64),
        ("role", c_char_p),
        ("name", c_char_p),
        ("process", CProcess),
        ("at", c_int64),
        ("epoch", c_uint64),
        ("other", c_uint64),
        ("previous_epoch", c_uint64),
        ("previous_end", c_char_p),
        ("reason", c_char_p),
        ("bound", c_int64),
        ("from_", c_int32),
        ("to", c_int32),
    ]


class CTimelinePage(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("entries", POINTER(POINTER(CTimelineEntry))),
        ("count", c_size_t),
        ("next", c_uint64),
        ("dropped_count", c_uint64),
        ("dropped_through", c_uint64),
        ("damaged_count", c_uint64),
    ]


class CBaton(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_char_p),
        ("bytes", c_void_p),
        ("byte_count", c_size_t),
        ("calls", POINTER(c_char_p)),
        ("call_count", c_size_t),
        ("descriptors", POINTER(c_int32)),
        ("descriptor_count", c_size_t),
        ("from_", c_uint64),
    ]


class CPush(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("call_id", c_char_p),
        ("type", c_char_p),
        ("account", c_char_p),
        ("payload", c_void_p),
        ("payload_count", c_size_t),
    ]


class CParticipantEvent(ctypes.Structure):
    _fields_ = [
        ("core", c_uint64),
        ("epoch", c_uint64),
        ("request", c_uint64),
        ("taken", c_uint64),
        ("timeout", c_int64),
        ("message", POINTER(CMessage)),
        ("reason", c_char_p),
        ("requester", c_char_p),
        ("kind", c_int32),
        ("code", c_int32),
        ("result", c_int32),
        ("from_core", c_int32),
        ("baton", POINTER(CBaton)),
        ("takes", POINTER(c_char_p)),
        ("take_count", c_size_t),
        ("reach", c_int32),
        ("baton_end", c_int32),
    ]


_text = [c_char_p, c_size_t]
_handle = POINTER(c_uint64)
_error = POINTER(CError)

_CALLS: dict[str, list[object]] = {
    "sc_open_configured": [POINTER(COptions), _handle, _error],
    "sc_open": [POINTER(COptions), _handle, _error],
    "sc_close": [c_uint64],
    "sc_descriptor": [c_uint64, POINTER(c_int32), _error],
    "sc_session": [c_uint64, _handle, _error],
    "sc_sync": [c_uint64, _error],
    "sc_get": [c_uint64, *_text, POINTER(CEntry), _error],
    "sc_list": [c_uint64, *_text, POINTER(CList), _error],
    "sc_put": [c_uint64, *_text, c_char_p, c_size_t, _handle, _error],
    "sc_delete": [c_uint64, *_text, _handle, _error],
    "sc_commit": [
        c_uint64, POINTER(CGuard), c_size_t, POINTER(COperation), c_size_t, c_uint64, _handle, _error,
    ],
    "sc_watch_open": [c_uint64, *_text, c_int32, c_uint64, _handle, _error],
    "sc_watch_next": [c_uint64, c_int64, POINTER(CEvent), _error],
    "sc_post": [c_uint64, *_text, _handle, _handle, _error],
    "sc_state": [c_uint64, *_text, POINTER(CNotification), _error],
    "sc_observe": [c_uint64, *_text, _handle, _error],
    "sc_observation_next": [c_uint64, c_int64, POINTER(CNotification), _error],
    "sc_mailbox_open": [c_uint64, c_char_p, c_uint64, c_int32, _handle, _error],
    "sc_send": [c_uint64, c_char_p, c_size_t, _handle, _error],
    "sc_take": [c_uint64, c_int64, _handle, POINTER(CBytes), _error],
    "sc_acknowledge": [c_uint64, POINTER(c_int32), _error],
    "sc_give_back": [c_uint64, _error],
    "sc_acknowledge_with": [
        c_uint64, POINTER(CGuard), c_size_t, POINTER(COperation), c_size_t, POINTER(c_int32), _handle, _error,
    ],
    "sc_request": [c_uint64, c_char_p, c_char_p, c_char_p, c_size_t, c_int64, POINTER(CBytes), _error],
    "sc_request_start": [c_uint64, c_char_p, c_char_p, c_char_p, c_size_t, c_int64, _handle, _error],
    "sc_request_next": [c_uint64, c_int64, POINTER(CBytes), _error],
    "sc_responder_open": [c_uint64, c_char_p, c_char_p, _handle, _error],
    "sc_responder_take": [c_uint64, c_int64, _handle, POINTER(CBytes), _error],
    "sc_reply": [c_uint64, c_char_p, c_size_t, POINTER(c_int32), _error],
    "sc_received_give_back": [c_uint64, _error],
    "sc_refuse": [c_uint64, c_char_p, POINTER(c_int32), _error],
    "sc_calls": [c_uint64, POINTER(CCallList), _error],
    "sc_calls_watch": [c_uint64, _handle, _error],
    "sc_calls_next": [c_uint64, c_int64, POINTER(CCallList), _error],
    "sc_call_command": [c_uint64, c_char_p, c_int32, c_int64, _error],
    "sc_call_acknowledge": [c_uint64, c_char_p, POINTER(c_int32), _error],
    "sc_call_begin": [c_uint64, POINTER(CCallInfo), _handle, _error],
    "sc_call_change": [c_uint64, c_int32, _error],
    "sc_call_change_media": [c_uint64, c_int32, _error],
    "sc_call_set_moves": [c_uint64, c_char_p, c_int32, _error],
    "sc_call_end": [c_uint64, c_int32, c_char_p, _error],
    "sc_call_next_command": [c_uint64, c_int64, _handle, POINTER(c_int32), _error],
    "sc_command_accept": [c_uint64, _error],
    "sc_command_refuse": [c_uint64, c_char_p, _error],
    "sc_activity_begin": [c_uint64, c_char_p, c_int64, c_char_p, _handle, _error],
    "sc_activity_end": [c_uint64, _error],
    "sc_main_start": [c_uint64, POINTER(CParticipantOptions), _handle, _error],
    "sc_executor_open": [c_uint64, POINTER(CParticipantOptions), _handle, _error],
    "sc_holder_open": [c_uint64, POINTER(CParticipantOptions), _handle, _error],
    "sc_main_rest": [c_uint64, _error],
    "sc_main_resume": [c_uint64, _error],
    "sc_main_pushes": [c_uint64, _handle, _error],
    "sc_pushes_next": [c_uint64, c_int64, _handle, POINTER(POINTER(CPush)), _error],
    "sc_push_acknowledge": [c_uint64, POINTER(c_int32), _error],
    "sc_push_give_back": [c_uint64, _error],
    "sc_participant_next": [c_uint64, c_int64, POINTER(CParticipantEvent), _error],
    "sc_participant_end": [c_uint64, _error],
    "sc_executor_ask": [c_uint64, c_char_p, c_char_p, c_int64, _handle, _error],
    "sc_executor_insist": [c_uint64, c_char_p, c_char_p, c_int64, _handle, _error],
    "sc_executor_finish": [c_uint64, _error],
    "sc_taken_acknowledge": [c_uint64, POINTER(c_int32), _error],
    "sc_taken_give_back": [c_uint64, _error],
    "sc_main_acknowledge": [c_uint64, c_char_p, c_char_p, POINTER(c_int32), _error],
    "sc_core_started": [c_uint64, _error],
    "sc_core_failed": [c_uint64, c_char_p, _error],
    "sc_core_stopped": [c_uint64, _error],
    "sc_core_rested": [c_uint64, _error],
    "sc_core_resumed": [c_uint64, _error],
    "sc_core_give_baton": [c_uint64, POINTER(CBaton), _error],
    "sc_core_take_descriptors": [c_uint64, POINTER(c_int32), POINTER(c_size_t), _error],
    "sc_core_apply_baton": [c_uint64, _handle, _error],
    "sc_core_refuse_baton": [c_uint64, c_char_p, _error],
    "sc_core_enter_critical_section": [c_uint64, c_int64, _error],
    "sc_core_leave_critical_section": [c_uint64, _error],
    "sc_core_deliver": [c_uint64, POINTER(CMessage), POINTER(c_int32), _error],
    "sc_core_update": [c_uint64, POINTER(CMessage), POINTER(c_int32), _error],
    "sc_core_withdraw": [c_uint64, c_char_p, c_char_p, POINTER(c_int32), _error],
    "sc_inbox": [c_uint64, c_uint64, c_size_t, POINTER(POINTER(CInboxPage)), _error],
    "sc_inbox_state": [c_uint64, c_char_p, c_char_p, POINTER(c_int32), _handle, _error],
    "sc_core_report": [c_uint64, c_char_p, _error],
    "sc_status": [c_uint64, POINTER(POINTER(CGroupStatus)), _error],
    "sc_timeline": [c_uint64, c_uint64, c_size_t, POINTER(POINTER(CTimelinePage)), _error],
    "sc_core_group": [c_uint64, _handle, _error],
}

_FREES: dict[str, type[Any]] = {
    "sc_entry_free": CEntry,
    "sc_list_free": CList,
    "sc_event_free": CEvent,
    "sc_bytes_free": CBytes,
    "sc_call_list_free": CCallList,
    "sc_inbox_page_free": POINTER(CInboxPage),
    "sc_status_free": POINTER(CGroupStatus),
    "sc_timeline_page_free": POINTER(CTimelinePage),
    "sc_participant_event_free": CParticipantEvent,
    "sc_push_free": POINTER(CPush),
}


def _load() -> ctypes.CDLL:
    own = Path(__file__).parent / "libsharedcore.so.0"
    named = os.environ.get("SHAREDCORE_LIBRARY")
    library = ctypes.CDLL(named or (str(own) if own.exists() else "libsharedcore.so.0"))
    library.sc_abi.restype = c_uint32
    if library.sc_abi() != ABI:
        raise ImportError(f"The library has the interface {library.sc_abi()}, and this package needs {ABI}.")
    for name, arguments in _CALLS.items():
        call = getattr(library, name)
        call.argtypes, call.restype = arguments, c_int32
    for name, structure in _FREES.items():
        free = getattr(library, name)
        free.argtypes, free.restype = [POINTER(structure)], None
    library.sc_code_name.argtypes, library.sc_code_name.restype = [c_int32], c_char_p
    library.sc_version.restype = c_char_p
    return library


library = _load()


def version() -> str:
    """Returns the version of the C library."""
    text: bytes = library.sc_version()
    return text.decode()


def code_name(code: int) -> str:
    """Returns the name of a code, as the command ``sharedcore`` prints it."""
    name: bytes = library.sc_code_name(code)
    return name.decode()


class SharedCoreError(Exception):
    """A call of the library has failed; ``code`` is its number, and ``name`` the name of that."""

    def __init__(self, code: int, message: str, location: str = "") -> None:
        super().__init__(f"{code_name(code)}: {message} [{location}]")
        self.code = code
        self.name = code_name(code)
        self.message = message
        self.location = location


class GuardFailedError(SharedCoreError):
    """A guard of a transaction did not hold, so nothing was done."""

    #: The position of the guard.
    index = 0
    #: The revision of the entry that was found; 0 where there is none.
    found_revision = 0
    #: The revision that created it.
    found_creation_revision = 0


class ClosedError(SharedCoreError):
    """The group, the object or the participant was closed."""


class HandleError(SharedCoreError):
    """The object is closed, or is of another kind."""


class ForkedError(SharedCoreError):
    """The process was forked after the library was used."""


class RefusedError(SharedCoreError):
    """Another Main owns the core, or the other side refuses a request or a command."""


class UnsupportedError(SharedCoreError):
    """The backend, the system or the core cannot do this, or libzmq is not there, which a group over a hub needs.

    The message says what to install.
    """


class WaitTimeoutError(SharedCoreError, TimeoutError):
    """A message, a reply or the answer to a command did not come in time."""


_ERRORS: dict[int, type[SharedCoreError]] = {
    GUARD_FAILED: GuardFailedError,
    CLOSED: ClosedError,
    UNSUPPORTED: UnsupportedError,
    HANDLE: HandleError,
    FORKED: ForkedError,
    REFUSED: RefusedError,
    TIMEOUT: WaitTimeoutError,
}


def error_of(code: int, message: str, location: str = "") -> SharedCoreError:
    """Returns the exception of a code."""
    return _ERRORS.get(code, SharedCoreError)(code, message, location)


def call(name: str, *arguments: object) -> int:
    """Makes a call. Returns OK, NOTHING or ENDED, and raises any other code."""
    error = CError()
    code: int = getattr(library, name)(*arguments, ctypes.byref(error))
    if code in (OK, NOTHING, ENDED):
        return code
    exception = error_of(code, error.message.decode(errors="replace"), error.location.decode(errors="replace"))
    if isinstance(exception, GuardFailedError):
        exception.index = error.guard_index
        exception.found_revision = error.found_revision
        exception.found_creation_revision = error.found_creation_revision
    raise exception


def close_handle(handle: int) -> None:
    """Closes a handle that no object has."""
    library.sc_close(handle)


class Owned:
    """An object with a handle. ``close`` or the garbage collector closes it, once."""

    _handle: int = 0

    def close(self) -> None:
        """Closes the object. Idempotent. Does nothing in a forked child."""
        handle, self._handle = self._handle, 0
        if handle:
            library.sc_close(handle)

    @property
    def is_open(self) -> bool:
        """Whether it was not closed."""
        return self._handle != 0

    def __del__(self) -> None:
        self.close()

    def fileno(self) -> int:
        """Returns a descriptor that is readable while there is an element to take. Do not read or close it.

        That of a mailbox or a responder may be readable without one: another process may be faster.
        """
        descriptor = c_int32()
        call("sc_descriptor", self._handle, ctypes.byref(descriptor))
        return descriptor.value


class Scoped(Owned):
    """An object with a handle, which the end of ``with`` closes as well."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def copied_descriptor(source: Owned) -> int | None:
    """Returns a copy of the descriptor of an object, to be closed; None for an object that another thread has closed.

    A copy is the same file also when the object is closed meanwhile and its number is given to another file.
    """
    try:
        copy = os.dup(source.fileno())
    except (HandleError, OSError):
        if source.is_open:
            raise
        return None
    if not source.is_open:
        os.close(copy)
        return None
    return copy


def wait_and_take(source: Owned, timeout: int, take: Callable[[int], Value | None]) -> Value | None:
    """Takes from an object, and waits so many milliseconds for something to take, -1 without a limit.

    Python runs the handlers of signals, as that of Ctrl-C, on the main thread between two calls, and a call of the library
    returns at no signal. So the main thread waits in Python.

    :param take: the call, which has a timeout.
    :raises ClosedError: the object was closed by another thread.
    """
    if timeout == 0 or threading.current_thread() is not threading.main_thread():
        return take(timeout)
    end = None if timeout < 0 else time.monotonic() + timeout / 1000
    taken = take(0)
    while taken is None:
        left = None if end is None else max(0, end - time.monotonic())
        if left == 0:
            return None
        copy = copied_descriptor(source)
        if copy is not None:
            try:
                poll = select.poll()
                poll.register(copy, select.POLLIN)
                # At most what poll(2) takes: the loop goes on after it.
                poll.poll(None if left is None else min(left * 1000, 2**31 - 1))
            finally:
                os.close(copy)
        with closed_meanwhile(source):
            taken = take(0)
    return taken


@contextmanager
def closed_meanwhile(source: Owned) -> Iterator[None]:
    """Says that an object was closed during a call, also where another thread closes it just now.

    :raises ClosedError: the object is closed.
    """
    try:
        yield
    except HandleError:
        if source.is_open:
            raise
        raise error_of(CLOSED, "The object was closed.", type(source).__name__) from None


def run_interruptibly(body: Callable[[], Value], undo: Callable[[Value], object] = lambda done: None) -> Value:
    """Runs a call that has no descriptor and may take long. On the main thread a handler of a signal may end the wait for it:
    the call goes on then, on another thread.

    :param undo: called with a result that the caller does not get.
    """
    if threading.current_thread() is not threading.main_thread():
        return body()
    future: Future[Value] = Future()

    def run() -> None:
        try:
            done = body()
        except BaseException as error:
            with suppress(InvalidStateError):
                future.set_exception(error)
            return
        try:
            future.set_result(done)
        except InvalidStateError:
            undo(done)

    threading.Thread(target=run, name="sharedcore", daemon=True).start()
    try:
        return future.result()
    except BaseException:
        # A future that cannot be cancelled has a result already, or the error that is raised here.
        if not future.cancel() and future.exception() is None:
            undo(future.result())
        raise


def refuse_forked_child() -> None:
    """Raises in a child that was forked after the library was used. There, a wait for another thread would have no end.

    :raises ForkedError: the process is such a child.
    """
    # Closes nothing, and says whether a call may be made.
    if library.sc_close(0) == FORKED:
        raise error_of(FORKED, "This process was forked after the library was used, and has none of its threads.", "fork")


class CallLock:
    """A lock around a call. A forked child gets an error in place of waiting: the thread that held it is not there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        refuse_forked_child()
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()


def word(number: int, name: str) -> int:
    """Returns a number of 64 bits, which ctypes would cut otherwise.

    :raises ValueError: the number is negative or beyond.
    """
    if not 0 <= number < 2**64:
        raise ValueError(f"The {name} is 0 to 2^64 - 1, not {number}.")
    return number


def data(value: bytes, name: str) -> bytes:
    """Returns a value, which the library gets as bytes.

    :raises TypeError: it is something else.
    """
    if not isinstance(value, bytes):
        raise TypeError(f"The {name} is bytes, not {type(value).__name__}; text has encode().")
    return value


def page_limit(number: int) -> int:
    """Returns the largest number of elements of a page.

    :raises ValueError: the number is negative, or beyond what the library counts to.
    """
    if not 0 <= number < 2**63:
        raise ValueError(f"The limit of a page is at most 2^63 - 1, not {number}.")
    return number


def text_list(texts: Sequence[str], name: str) -> list[bytes]:
    """Returns several texts as UTF-8.

    :raises TypeError: they are one text, which is a sequence of texts as well.
    """
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"{name} is a sequence of str, not one {type(texts).__name__}.")
    return [c_text(each) for each in texts]


def _whole_milliseconds(seconds: float, name: str) -> int:
    """Returns seconds as milliseconds, within 2^62.

    :raises TypeError: the seconds are no number.
    :raises ValueError: they are ``nan``.
    """
    if not isinstance(seconds, Real):
        raise TypeError(f"The {name} is a number of seconds, not {type(seconds).__name__}.")
    if seconds != seconds:
        raise ValueError(f"The {name} is a number of seconds, not nan.")
    # Compared before the product, which is infinite for a large number.
    limit = 2**62 // 1000
    return 2**62 if seconds >= limit else -(2**62) if seconds <= -limit else int(seconds * 1000)


def milliseconds(timeout: float | None) -> int:
    """Returns a timeout in seconds as milliseconds, at least 0; -1 (no limit) for None and infinity.

    :raises TypeError: a timeout that is no number.
    :raises ValueError: the timeout is ``nan``.
    """
    if timeout is None or timeout == float("inf"):
        return -1
    return max(0, _whole_milliseconds(timeout, "timeout"))


def result_within(future: Future[Value], timeout: float | None) -> Value:
    """Waits for a future, at most so many seconds; None and infinity wait without an end.

    :raises TimeoutError: it has no result by then.
    """
    limit = milliseconds(timeout)
    return future.result(None if limit < 0 else min(limit / 1000, threading.TIMEOUT_MAX))


def duration(seconds: float, name: str) -> int:
    """Returns a duration in seconds as milliseconds, at least 1; 0 for 0.

    :raises TypeError: the duration is no number.
    :raises ValueError: the duration is negative, infinite or ``nan``.
    """
    found = _whole_milliseconds(seconds, name)
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"The {name} is a number of seconds from 0, not {seconds}.")
    return max(1, found) if seconds else 0


def open_timeout(seconds: float | None) -> int:
    """Returns the longest wait of an opening as milliseconds: 0 (the backend's own) for None, 2^62 for infinity.

    :raises ValueError: a timeout that is no number.
    """
    if seconds is None:
        return 0
    limit = milliseconds(seconds)
    return 2**62 if limit < 0 else max(1, limit)


def optional_c_text(text: str | None) -> bytes | None:
    """Returns text as UTF-8, and None for None.

    :raises ValueError: the text has a NUL.
    """
    return None if text is None else c_text(text)


def optional_text(text: bytes | None) -> str | None:
    """Returns text of the library, and None for NULL."""
    return None if text is None else text.decode()


def utf8(text: str) -> bytes:
    """Returns text as UTF-8.

    :raises TypeError: it is no text.
    """
    if not isinstance(text, str):
        raise TypeError(f"A key, a name or another text is a str, not {type(text).__name__}.")
    return text.encode()


def c_text(text: str) -> bytes:
    """Returns text as UTF-8.

    :raises TypeError: it is no text.
    :raises ValueError: the text has a NUL.
    """
    encoded = utf8(text)
    if b"\0" in encoded:
        raise ValueError("The text has a NUL.")
    return encoded


__all__ = [name for name in dir() if not name.startswith("_")]
