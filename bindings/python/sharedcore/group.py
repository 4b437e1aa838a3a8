"""A group: its entries, watches, observations and mailboxes."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from ctypes import byref, c_char_p, c_int32, c_uint64, string_at
from dataclasses import dataclass
from typing import Self

from . import _library as c
from ._library import (
    CallLock, Owned, Scoped, call, data, duration, library, milliseconds, run_interruptibly, wait_and_take, word,
)
from ._stream import Stream
from .calls import COMMANDS, Call, CallChanges, call_list
from .messages import InboxPage, MessageState, inbox_page, message_state
from .status import Status, TimelinePage, group_status, timeline_page

_CHANGES = ("present", "put", "deleted", "expired", "sessionEnded")
_EVENTS = ("snapshot", "changes", "lagged")
_LIFETIMES = ("persistent", "session", "expiring")


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry as it stood at a revision."""

    key: str
    value: bytes
    revision: int
    creation_revision: int
    #: The session that wrote it.
    origin: int
    #: ``persistent``, ``session`` or ``expiring``.
    lifetime: str
    #: With ``expiring``, the seconds.
    expires_after: float | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The entries under a prefix at one revision, in the order of their keys."""

    revision: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one key: ``present``, ``put``, ``deleted``, ``expired`` or ``sessionEnded``."""

    key: str
    kind: str
    new: Entry | None
    old: Entry | None


@dataclass(frozen=True, slots=True)
class Event:
    """A delivery of a watch. With ``snapshot`` and ``lagged`` the changes replace all that is known."""

    kind: str
    revision: int
    origin: int
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Notification:
    """The state of a name, and the number of posts that a delivery stands for."""

    state: int
    count: int
    revision: int
    origin: int


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition of a transaction."""

    key: str
    kind: int
    revision: int = 0

    @classmethod
    def absent(cls, key: str) -> Guard:
        return cls(key, 0)

    @classmethod
    def exists(cls, key: str) -> Guard:
        return cls(key, 1)

    @classmethod
    def at_revision(cls, key: str, revision: int) -> Guard:
        return cls(key, 2, revision)

    @classmethod
    def epoch(cls, key: str, revision: int) -> Guard:
        """The entry was created by this revision, and may have been written since."""
        return cls(key, 3, revision)


@dataclass(frozen=True, slots=True)
class Operation:
    """A step of a transaction."""

    kind: int
    key: str
    value: bytes = b""
    lifetime: int = 0
    milliseconds: int = 0
    state: int = 0

    @classmethod
    def put(cls, key: str, value: bytes, *, session: bool = False, expires_after: float | None = None) -> Operation:
        """Sets a value, which lives until deleted, for the session or for so many seconds."""
        if expires_after is not None:
            return cls(0, key, value, 2, duration(expires_after, "lifetime"))
        return cls(0, key, value, 1 if session else 0)

    @classmethod
    def delete(cls, key: str) -> Operation:
        return cls(1, key)

    @classmethod
    def delete_all(cls, prefix: str) -> Operation:
        return cls(2, prefix)

    @classmethod
    def post(cls, name: str, state: int | None = None) -> Operation:
        return cls(3, name) if state is None else cls(4, name, state=state)


def _entry(entry: c.CEntry) -> Entry:
    return Entry(
        key=string_at(entry.key, entry.key_count).decode(),
        value=string_at(entry.value, entry.value_count),
        revision=entry.revision,
        creation_revision=entry.creation_revision,
        origin=entry.origin,
        lifetime=_LIFETIMES[entry.lifetime_kind],
        expires_after=entry.lifetime / 1000 if entry.lifetime_kind == 2 else None,
    )


def _transaction(operations: Sequence[Operation], guards: Sequence[Guard]) -> tuple[object, ...]:
    """Returns the arguments of the library for the guards and the operations. They keep what they point to."""
    c_guards = (c.CGuard * len(guards))()
    for place, guard in zip(c_guards, guards, strict=True):
        text = c.utf8(guard.key)
        place.key, place.key_count, place.kind = text, len(text), guard.kind
        place.revision = word(guard.revision, "revision of a guard")
    c_operations = (c.COperation * len(operations))()
    for slot, operation in zip(c_operations, operations, strict=True):
        text = c.utf8(operation.key)
        slot.key, slot.key_count, slot.kind = text, len(text), operation.kind
        slot.value, slot.value_count = data(operation.value, "value of an operation"), len(operation.value)
        slot.state = word(operation.state, "state")
        slot.lifetime_kind, slot.lifetime = operation.lifetime, operation.milliseconds
    return c_guards, len(guards), c_operations, len(operations)


def _open(name: str, options: c.COptions) -> int:
    """Opens a group, and returns its handle. One that is opened after an exception of a handler of a signal is closed."""

    def body() -> int:
        handle = c_uint64()
        call(name, byref(options), byref(handle))
        return handle.value

    return run_interruptibly(body, c.close_handle)


class PendingRequest(Scoped):
    """A request that waits for its reply. Its descriptor is readable when it has the outcome, and closing it ends the wait."""

    def __init__(self, group: Group, name: str, message: bytes, *, timeout: float | None, codec: str = "bytes") -> None:
        handle, limit = c_uint64(), milliseconds(timeout)
        call(
            "sc_request_start", group._handle, c.c_text(name), c.c_text(codec), data(message, "request"), len(message), limit,
            byref(handle),
        )
        self._handle = handle.value

    def take(self, timeout: int) -> bytes | None:
        """Waits so many milliseconds for the reply, -1 without a limit. Returns None at the timeout.

        :raises ClosedError: the outcome was taken before.
        """
        reply = c.CBytes()
        code = call("sc_request_next", self._handle, timeout, byref(reply))
        if code == c.NOTHING:
            return None
        if code == c.ENDED:
            raise c.error_of(c.CLOSED, "The request is over.", "request")
        try:
            return string_at(reply.bytes, reply.count)
        finally:
            library.sc_bytes_free(byref(reply))


class Group(Scoped):
    """An open group.

    >>> with Group("/run/user/1000/chat", role="main", name="chat") as group:
    ...     group.put("status", b"ready")
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        role: str = "tool",
        name: str = "",
        backend: str = "file",
        durability: str | None = None,
        settings: Mapping[str, str] | None = None,
        open_timeout: float | None = None,
        read_only: bool = False,
    ) -> None:
        """Joins a group.

        ``directory`` is the group's own, and ``settings`` what one backend alone knows, such as ``zmq.endpoint``. With
        ``read_only`` the group is opened without a session and without a trace (contract L4).
        """
        pairs = [c.c_text(f"{key}={value}") for key, value in (settings or {}).items()]
        options = c.COptions(
            size=ctypes.sizeof(c.COptions),
            backend=c.c_text(backend),
            directory=c.c_text(os.fspath(directory)),
            role=c.c_text(role),
            name=c.c_text(name),
            durability=None if durability is None else c.c_text(durability),
            settings=(c_char_p * len(pairs))(*pairs),
            setting_count=len(pairs),
            open_timeout=c.open_timeout(open_timeout),
            read_only=read_only,
        )
        self._handle = _open("sc_open", options)

    @classmethod
    def configured(
        cls,
        settings: Mapping[str, str] | None = None,
        *,
        file: str | None = None,
        role: str = "tool",
        name: str = "",
        open_timeout: float | None = None,
        read_only: bool = False,
    ) -> Self:
        """Joins the group that settings, such as ``group``, then the variables ``SHAREDCORE_*``, then a file describe.

        Without ``file`` it is the one that ``SHAREDCORE_CONFIG`` names, else the user's, where it is there.
        """
        pairs = [c.c_text(f"{key}={value}") for key, value in (settings or {}).items()]
        options = c.COptions(
            size=ctypes.sizeof(c.COptions),
            role=c.c_text(role),
            name=c.c_text(name),
            settings=(c_char_p * len(pairs))(*pairs),
            setting_count=len(pairs),
            open_timeout=c.open_timeout(open_timeout),
            configuration_file=None if file is None else c.c_text(file),
            read_only=read_only,
        )
        return cls._of(_open("sc_open_configured", options))

    @classmethod
    def _of(cls, handle: int) -> Self:
        group = cls.__new__(cls)
        group._handle = handle
        return group

    @property
    def session(self) -> int:
        """The identity of this participation; 0 where the group is open to read only."""
        session = c_uint64()
        call("sc_session", self._handle, byref(session))
        return session.value

    def sync(self) -> None:
        """Returns when this handle shows everything that was committed before. Its watches have it soon."""
        call("sc_sync", self._handle)

    def get(self, key: str) -> Entry | None:
        """Returns the entry of a key, with every commit reflected that had returned before."""
        entry, text = c.CEntry(), c.utf8(key)
        if call("sc_get", self._handle, text, len(text), byref(entry)) == c.NOTHING:
            return None
        try:
            return _entry(entry)
        finally:
            library.sc_entry_free(byref(entry))

    def list(self, prefix: str = "") -> Snapshot:
        """Returns the entries that a prefix selects."""
        result, text = c.CList(), c.utf8(prefix)
        call("sc_list", self._handle, text, len(text), byref(result))
        try:
            return Snapshot(result.revision, tuple(_entry(result.entries[i]) for i in range(result.count)))
        finally:
            library.sc_list_free(byref(result))

    def put(self, key: str, value: bytes) -> int:
        """Sets a value. Returns the revision."""
        revision, text = c_uint64(), c.utf8(key)
        call("sc_put", self._handle, text, len(text), data(value, "value"), len(value), byref(revision))
        return revision.value

    def delete(self, key: str) -> int:
        """Removes a key; an absent one is no error. Returns the revision."""
        revision, text = c_uint64(), c.utf8(key)
        call("sc_delete", self._handle, text, len(text), byref(revision))
        return revision.value

    def commit(
        self, operations: Sequence[Operation], guards: Sequence[Guard] = (), *, request_number: int = 0
    ) -> int:
        """Applies all operations in one revision if all guards hold, and returns the revision.

        :raises GuardFailedError: a guard does not hold; nothing was done.
        """
        revision = c_uint64()
        number = word(request_number, "request number")
        call("sc_commit", self._handle, *_transaction(operations, guards), number, byref(revision))
        return revision.value

    def watch(self, prefix: str = "", *, after: int | None = None, snapshot: bool = True) -> Watch:
        """Begins to deliver the changes under a prefix: with a snapshot first, from now, or after a revision."""
        start = 2 if after is not None else 0 if snapshot else 1
        handle, text = c_uint64(), c.utf8(prefix)
        call("sc_watch_open", self._handle, text, len(text), start, word(after or 0, "revision"), byref(handle))
        return Watch(handle.value)

    def post(self, name: str, state: int | None = None) -> int:
        """Counts one more post of a name, and wakes its observers. Returns the revision."""
        revision, text = c_uint64(), c.utf8(name)
        place = None if state is None else byref(c_uint64(word(state, "state")))
        call("sc_post", self._handle, text, len(text), place, byref(revision))
        return revision.value

    def state(self, name: str) -> Notification:
        """Returns the state of a name."""
        result, text = c.CNotification(), c.utf8(name)
        call("sc_state", self._handle, text, len(text), byref(result))
        return Notification(result.state, result.count, result.revision, result.origin)

    def observe(self, name: str) -> Observation:
        """Begins to deliver the posts of a name."""
        handle, text = c_uint64(), c.utf8(name)
        call("sc_observe", self._handle, text, len(text), byref(handle))
        return Observation(handle.value)

    def mailbox(self, path: str, *, capacity: int = 0, drops_oldest: bool = False) -> Mailbox:
        """Returns the mailbox at a path of the group."""
        handle = c_uint64()
        limit = word(capacity, "capacity")
        call("sc_mailbox_open", self._handle, c.c_text(path), limit, int(drops_oldest), byref(handle))
        return Mailbox(handle.value)

    def request(self, name: str, message: bytes, *, timeout: float | None, codec: str = "bytes") -> bytes:
        """Sends a request, and waits for the reply. Programs in Swift have the codec ``json`` unless they say otherwise.

        An exception of a handler of a signal, as of Ctrl-C, ends the wait. The request stays in the group until it is answered
        or its timeout has passed.

        :raises WaitTimeoutError: no program has answered.
        :raises RefusedError: the answering program refuses; the message is its reason.
        """
        with PendingRequest(self, name, message, timeout=timeout, codec=codec) as pending:
            while (reply := wait_and_take(pending, -1, pending.take)) is None:
                pass
            return reply

    def responder(self, name: str, *, codec: str = "bytes") -> Responder:
        """Returns the requests of a name, for a program that answers them."""
        handle = c_uint64()
        call("sc_responder_open", self._handle, c.c_text(name), c.c_text(codec), byref(handle))
        return Responder(handle.value)

    def status(self) -> Status:
        """Returns the owner, the Main that waits for the core, the owner's activities, and the sessions."""
        return group_status(self._handle)

    def timeline(self, *, after: int = 0, limit: int = 100) -> TimelinePage:
        """Returns a page of what happened to the ownership of the core, the oldest entries first.

        ``after`` is ``next`` of the page before. The entries of one commit stay together.
        """
        return timeline_page(self._handle, after, limit)

    def inbox(self, *, after: int = 0, limit: int = 100) -> InboxPage:
        """Returns a page of the messages that wait to be acknowledged, the oldest first. It takes none.

        ``after`` is ``next`` of the page before.
        """
        return inbox_page(self._handle, after, limit)

    def message_state(self, call_id: str, sequence: str | None = None) -> MessageState:
        """Returns what the inbox has for a call-id: of any sequence, or of one."""
        return message_state(self._handle, call_id, sequence)

    def calls(self) -> tuple[Call, ...]:
        """Returns the open calls, the oldest first, then the ended ones that were not acknowledged."""
        return call_list("sc_calls", self._handle) or ()

    def watch_calls(self) -> CallChanges:
        """Begins to deliver what :meth:`calls` returns: now, and each time that it is another list."""
        handle = c_uint64()
        call("sc_calls_watch", self._handle, byref(handle))
        return CallChanges(handle.value)

    def command(self, call_id: str, command: str, *, timeout: float = 5) -> None:
        """Has the holder of a call ``answer``, ``decline``, ``hold``, ``resume`` or ``hangUp``, and returns when it has.

        :raises RefusedError: the holder refuses.
        :raises WaitTimeoutError: the holder has not taken the command, and does not carry it out.
        """
        if command not in COMMANDS:
            raise ValueError(f"A command is one of {', '.join(COMMANDS)}, not {command!r}.")
        number, text, limit = COMMANDS.index(command) + 1, c.c_text(call_id), milliseconds(timeout)
        run_interruptibly(lambda: call("sc_call_command", self._handle, text, number, limit))

    def acknowledge_call(self, call_id: str) -> bool:
        """Says that an ended call need not be shown again. Returns whether there was one."""
        acknowledged = c_int32()
        call("sc_call_acknowledge", self._handle, c.c_text(call_id), byref(acknowledged))
        return bool(acknowledged.value)


class Watch(Stream[Event]):
    """A running watch: an iterator, and an asynchronous one."""

    def _take(self, timeout: int) -> Event | None:
        event = c.CEvent()
        code = call("sc_watch_next", self._handle, timeout, byref(event))
        if code == c.ENDED:
            raise StopIteration
        if code == c.NOTHING:
            return None
        try:
            changes = tuple(
                Change(
                    key=string_at(change.entry.key, change.entry.key_count).decode(),
                    kind=_CHANGES[change.kind],
                    new=_entry(change.entry) if change.entry.value else None,
                    old=_entry(change.old) if change.old.key else None,
                )
                for change in (event.changes[index] for index in range(event.count))
            )
            return Event(_EVENTS[event.kind], event.revision, event.origin, changes)
        finally:
            library.sc_event_free(byref(event))


class Observation(Stream[Notification]):
    """A running observation of a name: an iterator, and an asynchronous one."""

    def _take(self, timeout: int) -> Notification | None:
        result = c.CNotification()
        code = call("sc_observation_next", self._handle, timeout, byref(result))
        if code == c.ENDED:
            raise StopIteration
        if code == c.NOTHING:
            return None
        return Notification(result.state, result.count, result.revision, result.origin)


class Mailbox(Scoped):
    """A queue of messages that are kept until they are acknowledged."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def send(self, message: bytes) -> int:
        """Puts a message at the end. Returns the revision."""
        revision = c_uint64()
        call("sc_send", self._handle, data(message, "message"), len(message), byref(revision))
        return revision.value

    def take(self, timeout: float | None = None) -> Delivery | None:
        """Takes a message, and waits so many seconds for one; None waits without an end.

        :raises ClosedError: the mailbox was closed meanwhile, or its group was closed.
        :raises HandleError: the mailbox was closed before.
        """
        return wait_and_take(self, milliseconds(timeout), self._take)

    def _take(self, timeout: int) -> Delivery | None:
        handle, content = c_uint64(), c.CBytes()
        if call("sc_take", self._handle, timeout, byref(handle), byref(content)) == c.NOTHING:
            return None
        try:
            return Delivery(handle.value, string_at(content.bytes, content.count))
        finally:
            library.sc_bytes_free(byref(content))


class Delivery(Owned):
    """A message that was taken: acknowledge it, or give it back. One that is dropped stays taken until the group is closed."""

    def __init__(self, handle: int, message: bytes) -> None:
        self._handle = handle
        self._lock = CallLock()
        #: The message.
        self.message = message

    def acknowledge(self) -> bool:
        """Removes the message. Returns False where the take did not stand any more."""
        acknowledged = c_int32()
        with self._lock:
            call("sc_acknowledge", self._handle, byref(acknowledged))
            self._handle = 0
        return bool(acknowledged.value)

    def acknowledge_with(self, operations: Sequence[Operation], guards: Sequence[Guard] = ()) -> int | None:
        """Removes the message in one commit with operations: what a program stores of a message is stored once.

        Returns the revision; None where the take did not stand any more, and nothing was done.

        :raises GuardFailedError: one of ``guards`` does not hold. Nothing was done, and the message is still taken.
        """
        acknowledged, revision = c_int32(), c_uint64()
        with self._lock:
            call(
                "sc_acknowledge_with", self._handle, *_transaction(operations, guards), byref(acknowledged),
                byref(revision),
            )
            self._handle = 0
        return revision.value if acknowledged.value else None

    def give_back(self) -> None:
        """Lets others take the message."""
        with self._lock:
            call("sc_give_back", self._handle)
            self._handle = 0


class Responder(Scoped):
    """The requests of a name, which programs that answer share between them."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def take(self, timeout: float | None = None) -> Request | None:
        """Takes a request, and waits so many seconds for one; None waits without an end.

        :raises ClosedError: the responder was closed meanwhile, or its group was closed.
        :raises HandleError: the responder was closed before.
        """
        return wait_and_take(self, milliseconds(timeout), self._take)

    def _take(self, timeout: int) -> Request | None:
        handle, content = c_uint64(), c.CBytes()
        if call("sc_responder_take", self._handle, timeout, byref(handle), byref(content)) == c.NOTHING:
            return None
        try:
            return Request(handle.value, string_at(content.bytes, content.count))
        finally:
            library.sc_bytes_free(byref(content))


class Request(Owned):
    """A request that was taken: reply to it, or refuse it. One that is kept goes to another program when this one ends
    or gives it back."""

    def __init__(self, handle: int, message: bytes) -> None:
        self._handle = handle
        self._lock = CallLock()
        #: The request.
        self.message = message

    def reply(self, message: bytes) -> bool:
        """Replies. Returns False where the request was not this program's any more."""
        return self._finish("sc_reply", data(message, "reply"), len(message))

    def refuse(self, reason: str) -> bool:
        """Refuses: the requester gets the reason. Returns as :meth:`reply` does."""
        return self._finish("sc_refuse", c.c_text(reason))

    def give_back(self) -> None:
        """Lets another program take the request."""
        with self._lock:
            call("sc_received_give_back", self._handle)
            self._handle = 0

    def _finish(self, name: str, *arguments: object) -> bool:
        sent = c_int32()
        with self._lock:
            call(name, self._handle, *arguments, byref(sent))
            self._handle = 0
        return bool(sent.value)
