"""Main and Executor with a core in Python. A thread of each participant runs the calls of its core."""

from __future__ import annotations

import ctypes
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from ctypes import byref, c_int32, c_uint64
from dataclasses import dataclass, field
from typing import Any, Protocol

from . import _library as c
from ._library import Scoped, SharedCoreError, call, error_of, library, milliseconds
from .calls import Activity, Call, OpenCall, begin_activity, begin_call
from .group import Group
from .messages import Message, c_message, change, message_of

CORE_START, CORE_STOP, STARTED, RESULT, FINISHED, ENDED = 1, 2, 3, 4, 5, 6
LOGGER = logging.getLogger("sharedcore")
_RESULTS = {1: "message", 2: "call", 3: "nothing"}


@dataclass(frozen=True, slots=True)
class StopRequest:
    """Why a core is to stop, and within how many seconds."""

    reason: str
    requester: str | None
    timeout: float


@dataclass(slots=True)
class Result:
    """The answer to a call-id: ``message``, ``call`` or ``nothing``. Acknowledge a message when it was shown."""

    kind: str
    message: Message | None
    from_core: bool
    _taken: int = field(default=0, repr=False)

    def acknowledge(self) -> bool:
        """Says that the message was shown. Returns False where it was not this participant's any more."""
        acknowledged = c_int32()
        call("sc_taken_acknowledge", self._taken, byref(acknowledged))
        return bool(acknowledged.value)

    def give_back(self) -> None:
        """Lets other participants have the message."""
        call("sc_taken_give_back", self._taken)


class CoreContext:
    """The access of a running core to the group."""

    def __init__(self, handle: int, epoch: int) -> None:
        self._handle = handle
        #: The revision that fences the core's writes.
        self.epoch = epoch

    def deliver(self, message: Message) -> bool:
        """Stores a message; only then may the core acknowledge it to its server. Returns False for a duplicate."""
        result = c_int32()
        call("sc_core_deliver", self._handle, byref(c_message(message)), byref(result))
        return not result.value

    def update(self, message: Message) -> str:
        """Replaces the content of a message that waits, of exactly the call-id and sequence with which it was delivered.

        Returns ``changed``; ``changedInHand`` where a participant may have shown the former content; ``over`` or
        ``absent`` where nothing was changed.
        """
        return change("sc_core_update", self._handle, byref(c_message(message)))

    def withdraw(self, call_id: str, sequence: str | None = None) -> str:
        """Takes back a message that waits: a wait for it ends with nothing to show. Returns as :meth:`update` does."""
        return change("sc_core_withdraw", self._handle, c.c_text(call_id), c.optional_c_text(sequence))

    def report(self, problem: str) -> None:
        """Puts a sentence about something that the core had to set aside on the timeline."""
        call("sc_core_report", self._handle, c.c_text(problem))

    def group(self) -> Group:
        """Returns the group with the epoch as a guard on every write. Close it after use."""
        handle = c_uint64()
        call("sc_core_group", self._handle, byref(handle))
        return Group._of(handle.value)

    def begin_call(self, description: Call) -> OpenCall:
        """Begins a call, which keeps this core until it ends. One that is open when the ownership is over is lost."""
        return begin_call(self._handle, description)

    def begin_activity(self, kind: str, id: str, *, bound: float | None = None) -> Activity:
        """Begins a ``call`` (4 hours at most), a ``transfer`` (10 minutes), or work of another name with its bound in seconds."""
        return begin_activity(self._handle, kind, id, bound)

    def fail(self, reason: str) -> None:
        """Says that the core has ended by itself."""
        call("sc_core_failed", self._handle, c.c_text(reason))


class Core(Protocol):
    """The part of an application that runs once in a group."""

    def start(self, context: CoreContext) -> None:
        """Connects, and lets threads of its own receive. An exception fails the start."""

    def stop(self, request: StopRequest) -> None:
        """Disconnects. Called also after a start that raised."""


@dataclass(frozen=True, slots=True)
class ParticipantEvent:
    """An event of a participant."""

    kind: int
    core: int
    epoch: int
    request: int
    error: SharedCoreError | None
    stop: StopRequest
    result: Result


def next_event(handle: int, timeout: int) -> ParticipantEvent | None:
    """Waits for the next event. Returns None after ``timeout`` milliseconds.

    :raises StopIteration: the participant has ended.
    """
    event = c.CParticipantEvent()
    code = call("sc_participant_next", handle, timeout, byref(event))
    if code == c.ENDED:
        raise StopIteration
    if code == c.NOTHING:
        return None
    try:
        reason = (event.reason or b"").decode()
        message = message_of(event.message.contents) if event.result == 1 else None
        return ParticipantEvent(
            kind=event.kind,
            core=event.core,
            epoch=event.epoch,
            request=event.request,
            error=error_of(event.code, reason, "participant") if event.code else None,
            stop=StopRequest(
                reason, event.requester.decode() if event.requester else None, event.timeout / 1000
            ),
            result=Result(_RESULTS.get(event.result, "nothing"), message, bool(event.from_core), event.taken),
        )
    finally:
        library.sc_participant_event_free(byref(event))


def open_participant(
    name: str,
    group: Group,
    *,
    handover_timeout: float = 0,
    stop_timeout: float = 0,
    executor_budget: float = 0,
    core_linger: float = 0,
    handover_maximum_timeout: float = 0,
    takes_over: float = False,
    insists: float = False,
) -> int:
    """Opens a participant. Options are seconds, the same in all processes of a group; 0 is the default.

    A Main that ``takes_over`` asks another Main to hand over (contract C14); one that ``insists`` does not wait for the
    owner's activities (C17).
    """
    options = c.CParticipantOptions(
        ctypes.sizeof(c.CParticipantOptions),
        *map(milliseconds, (handover_timeout, stop_timeout, executor_budget, core_linger, handover_maximum_timeout)),
        0,
        bool(takes_over),
        bool(insists),
    )
    handle = c_uint64()
    call(name, group._handle, byref(options), byref(handle))
    return handle.value


def answer(name: str, *arguments: object) -> None:
    """Makes a call that answers an event of a core."""
    try:
        call(name, *arguments)
    except c.HandleError:
        # The participant has given the core up meanwhile.
        pass


def acknowledge(main: int, call_id: str, sequence: str | None) -> bool:
    """Says that a Main has shown a message. Returns whether it waited to be."""
    acknowledged = c_int32()
    call("sc_main_acknowledge", main, c.c_text(call_id), c.optional_c_text(sequence), byref(acknowledged))
    return bool(acknowledged.value)


class _Participant(Scoped):
    """The thread of a participant, which runs the calls of its core."""

    def __init__(self, handle: int, core: Callable[[], Core]) -> None:
        self._handle = handle
        self._make = core
        self._core: Core | None = None
        self._lock = threading.Lock()
        self._requests: dict[int, Future[Result]] = {}
        self._started: Future[None] = Future()
        self._finished: Future[None] = Future()
        self._ended: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=[handle], name="sharedcore", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the participation: its core is told to stop, and its ownership is released. Idempotent."""
        handle = self._handle
        if not handle:
            return
        try:
            if threading.current_thread() is not self._thread:
                call("sc_participant_end", handle)
                self._thread.join()
        except c.ForkedError:
            pass
        super().close()

    def _run(self, handle: int) -> None:
        try:
            while True:
                event = next_event(handle, -1)
                if event is not None:
                    self._handle_event(event)
        except (StopIteration, SharedCoreError) as error:
            end = error_of(c.CLOSED, "The participant has ended.", "participant")
            if isinstance(error, SharedCoreError):
                end = error
            with self._lock:
                waiting: list[Future[Any]] = [self._started, self._finished, self._ended, *self._requests.values()]
            for each in waiting:
                if not each.done():
                    each.set_exception(end)

    def _handle_event(self, event: ParticipantEvent) -> None:
        if event.kind == CORE_START:
            try:
                self._core = self._make()
                self._core.start(CoreContext(event.core, event.epoch))
            except Exception as error:
                answer("sc_core_failed", event.core, str(error).replace("\0", "").encode() or b"failed")
            else:
                answer("sc_core_started", event.core)
        elif event.kind == CORE_STOP:
            try:
                if self._core is not None:
                    self._core.stop(event.stop)
            except Exception:
                LOGGER.exception("The stop of the core failed.")
            finally:
                self._core = None
                answer("sc_core_stopped", event.core)
        elif event.kind == RESULT:
            with self._lock:
                future = self._requests.pop(event.request)
            _settle(future, event.error, event.result)
        elif event.kind == STARTED:
            _settle(self._started, event.error, None)
        elif event.kind == FINISHED:
            _settle(self._finished, event.error, None)
        elif event.kind == ENDED:
            _settle(self._ended, event.error, None)

    def wait_until_ended(self, timeout: float | None = None) -> None:
        """Waits for the end of the participation.

        :raises SharedCoreError: why it has ended, if not by :meth:`close`.
        """
        self._ended.result(timeout)


def _settle(future: Future[Any], error: BaseException | None, value: object) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)


class Main(_Participant):
    """The long-lived process: it owns, and its core runs.

    >>> with Group(directory, role="main") as group, Main(group, MailCore) as main:
    ...     main.wait_until_started()
    """

    def __init__(self, group: Group, core: Callable[[], Core], **options: float) -> None:
        """Begins to take part: ``core`` makes the core of each ownership. Options as in :func:`open_participant`."""
        super().__init__(open_participant("sc_main_start", group, **options), core)

    def wait_until_started(self, timeout: float | None = None) -> None:
        """Waits until the core runs.

        :raises RefusedError: another Main that answers owns.
        """
        self._started.result(timeout)

    def acknowledge(self, call_id: str, sequence: str | None = None) -> bool:
        """Says that a message of exactly this identity was shown. Returns whether it waited to be."""
        return acknowledge(self._handle, call_id, sequence)


class Executor(_Participant):
    """The short-lived process: it gets the message of its call-id, from the owner or with a core of its own.

    >>> with Group(directory, role="executor") as group, Executor(group, MailCore) as executor:
    ...     result = executor.message("id", timeout=20)
    """

    def __init__(self, group: Group, core: Callable[[], Core], **options: float) -> None:
        """Takes part when it is asked: ``core`` makes the core of each ownership."""
        super().__init__(open_participant("sc_executor_open", group, **options), core)

    def ask(self, call_id: str, timeout: float, *, sequence: str | None = None) -> Future[Result]:
        """Asks for the message of a call-id, of any sequence or of one. The future has the result or the error."""
        request = c_uint64()
        future: Future[Result] = Future()
        # The thread that has the answer waits here until the request is noted.
        with self._lock:
            call(
                "sc_executor_ask", self._handle, c.c_text(call_id), c.optional_c_text(sequence), milliseconds(timeout),
                byref(request),
            )
            self._requests[request.value] = future
        return future

    def message(self, call_id: str, timeout: float, *, sequence: str | None = None) -> Result:
        """Waits for the message of a call-id, at most so many seconds: of any sequence, or of one.

        :raises WaitTimeoutError: it has not come.
        """
        return self.ask(call_id, timeout, sequence=sequence).result()

    def finish(self) -> None:
        """Returns when the core, where it runs here, has served all calls and stopped."""
        call("sc_executor_finish", self._handle)
        self._finished.result()
