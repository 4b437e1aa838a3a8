"""Main and Executor with a core in Python. A thread of each participant runs the calls of its core."""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_int32, c_uint64
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Protocol, TypedDict, Unpack, runtime_checkable

from . import _library as c
from ._library import (
    CallLock, Owned, Scoped, SharedCoreError, call, duration, error_of, library, milliseconds, refuse_forked_child,
    result_within, run_interruptibly,
)
from ._threads import LOGGER, end_later, is_passing
from .batons import ENDS, REACHES, Baton, BatonEnd, ReceivedBaton, give
from .calls import Activity, Call, OpenCall, begin_activity, begin_call
from .group import Group
from .messages import Message, c_message, change, message_of
from .pushes import Pushes, begin_pushes

CORE_START, CORE_STOP, STARTED, RESULT, FINISHED, ENDED = 1, 2, 3, 4, 5, 6
CORE_REST, CORE_RESUME, RESTED, RESUMED, BATON_ENDED = 7, 8, 9, 10, 11
_RESULTS = {1: "message", 2: "call", 3: "nothing"}


@dataclass(frozen=True, slots=True)
class StopRequest:
    """Why a core is to stop, and within how many seconds."""

    reason: str
    requester: str | None
    timeout: float
    #: The kinds of batons that the Main takes which asked, and the part that reaches it: ``none``, ``bytes``, ``descriptors``.
    takes: tuple[str, ...] = ()
    reach: str = "none"


class _Taken(Owned):
    """The handle of a taken message."""

    def __init__(self, handle: int = 0) -> None:
        self._handle = handle


@dataclass(slots=True)
class Result:
    """The answer to a call-id: ``message``, ``call`` or ``nothing``. Acknowledge a message when it was shown.

    A message that is dropped stays taken until the group is closed.
    """

    kind: str
    message: Message | None
    from_core: bool
    #: The garbage collector closes it with the result.
    _taken: _Taken = field(default_factory=_Taken, repr=False, compare=False)

    def acknowledge(self) -> bool:
        """Says that the message was shown. Returns False where it was not this participant's any more."""
        acknowledged = c_int32()
        call("sc_taken_acknowledge", self._taken._handle, byref(acknowledged))
        self._taken._handle = 0
        return bool(acknowledged.value)

    def give_back(self) -> None:
        """Lets other participants have the message."""
        call("sc_taken_give_back", self._taken._handle)
        self._taken._handle = 0


class _Section:
    """The critical section of a core, which has one at most.

    A section that could not be left is left by the next of three: its own later try, the next one that begins, or its bound.
    """

    def __init__(self, core: int) -> None:
        self._core = core
        #: Held around each call: a late try must not leave the section that has begun since.
        self._lock = CallLock()
        self._is_inside = False
        #: Whether the core may be in a section that it is to leave.
        self._is_unleft = False

    def enter(self, maximum: int) -> None:
        with self._lock:
            self._leave_now()
            try:
                call("sc_core_enter_critical_section", self._core, maximum)
            except SharedCoreError as error:
                if error.code == c.OUTCOME_UNKNOWN and not self._is_inside:
                    self._is_unleft = True
                    end_later(self._try_to_leave)
                raise
            self._is_inside = True

    def leave(self) -> None:
        """Leaves the section, and does so later where this raises because the store cannot be reached."""
        with self._lock:
            self._is_inside, self._is_unleft = False, True
            try:
                self._leave_now()
            except SharedCoreError as error:
                if is_passing(error):
                    end_later(self._try_to_leave)
                raise

    def abandon(self) -> None:
        """Leaves the section that a cancelled task has entered, now or later."""
        with self._lock:
            self._is_inside, self._is_unleft = False, True
        end_later(self._try_to_leave)

    def _try_to_leave(self) -> None:
        with self._lock:
            self._leave_now()

    def _leave_now(self) -> None:
        if not self._is_unleft:
            return
        try:
            call("sc_core_leave_critical_section", self._core)
        except SharedCoreError as error:
            self._is_unleft = is_passing(error)
            raise
        self._is_unleft = False


class CoreContext:
    """The access of a running core to the group."""

    def __init__(self, handle: int, epoch: int, baton: ReceivedBaton | None = None) -> None:
        self._handle = handle
        self._section = _Section(handle)
        #: The revision that fences the core's writes.
        self.epoch = epoch
        #: What a former owner has given, for the start of the core; else None.
        self.baton = baton

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

    @contextmanager
    def critical_section(self, maximum: float) -> Iterator[None]:
        """A section of work that a request for hand-over waits for, so many seconds at most (contract C3).

        Where its end raises because the store cannot be reached, as ``unavailable``, the section is left in the background
        when it can, within a minute.

        :raises GuardFailedError: a request is pending, the core is in a section already, or it is superseded.
        """
        self._section.enter(duration(maximum, "maximum of a section"))
        try:
            yield
        finally:
            self._section.leave()

    def fail(self, reason: str) -> None:
        """Says that the core has ended by itself."""
        call("sc_core_failed", self._handle, c.c_text(reason))


class Core(Protocol):
    """The part of an application that runs once in a group."""

    def start(self, context: CoreContext) -> None:
        """Connects, and lets threads of its own receive. An exception fails the start."""

    def stop(self, request: StopRequest) -> None:
        """Disconnects. Called also after a start that raised."""


@runtime_checkable
class RestingCore(Core, Protocol):
    """A core that can be quiet and stay registered, for a Main that rests (contract C26)."""

    def rest(self) -> None:
        """Sends and writes nothing from now on. An exception fails the core."""

    def resume(self, wake: str) -> None:
        """Goes on; ``wake`` says what for: ``call``, ``push``, ``user`` or another. An exception fails the core."""


@runtime_checkable
class MovingCore(Core, Protocol):
    """A core whose calls move to the next owner (contract C25)."""

    def hand_over(self, request: StopRequest) -> Baton | None:
        """In place of ``stop``, for a Main that takes batons: sends nothing from now on, and returns a baton.

        The core keeps its sockets open until ``baton_ended``. One that cannot move its calls stops, and returns None.
        """

    def baton_ended(self, end: BatonEnd) -> None:
        """Ends the calls over the network where ``end.is_own``, and closes what is open."""


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
    baton: ReceivedBaton | None
    baton_end: BatonEnd


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
                reason,
                event.requester.decode() if event.requester else None,
                event.timeout / 1000,
                tuple(event.takes[index].decode() for index in range(event.take_count)),
                REACHES[event.reach],
            ),
            result=Result(_RESULTS.get(event.result, "nothing"), message, bool(event.from_core), _Taken(event.taken)),
            baton=ReceivedBaton(event.core, event.baton.contents) if event.baton else None,
            baton_end=BatonEnd(ENDS[event.baton_end - 1] if event.baton_end else "unknown"),
        )
    finally:
        library.sc_participant_event_free(byref(event))


class ParticipantOptions(TypedDict, total=False):
    """The options of a participant. Times are seconds, the same in all processes of a group; 0 is the default."""

    #: At most ``handover_maximum_timeout``. By default 0.5 s.
    handover_timeout: float
    stop_timeout: float
    executor_budget: float
    core_linger: float
    #: By default 5 s.
    handover_maximum_timeout: float
    #: How long a Main that rests has to resume when it is woken (contract C26).
    wake_timeout: float
    #: How long a baton is kept: 1 to 60 seconds (C25).
    baton_lifetime: float
    #: The kinds of batons that the cores take, at most 4 (C25).
    takes_batons: Sequence[str]
    #: A Main that asks another Main to hand over (C14).
    takes_over: bool
    #: A Main that does not wait for the owner's activities (C17).
    insists: bool


_TIMES = (
    "handover_timeout", "stop_timeout", "executor_budget", "core_linger", "handover_maximum_timeout", "wake_timeout",
    "baton_lifetime",
)


def open_participant(name: str, group: Group, **options: Unpack[ParticipantOptions]) -> int:
    """Opens a participant, and returns its handle."""
    unknown = options.keys() - ParticipantOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"There is no option {', '.join(sorted(unknown))} of a participant.")
    kinds = c.text_list(options.get("takes_batons", ()), "takes_batons")
    structure = c.CParticipantOptions(
        size=ctypes.sizeof(c.CParticipantOptions),
        takes_batons=(c_char_p * len(kinds))(*kinds),
        takes_baton_count=len(kinds),
        takes_over=bool(options.get("takes_over")),
        insists=bool(options.get("insists")),
    )
    times: dict[str, Any] = dict(options)
    for time in _TIMES:
        setattr(structure, time, duration(times.get(time, 0), time))
    if structure.baton_lifetime and not 1000 <= structure.baton_lifetime <= 60_000:
        raise ValueError(f"The baton_lifetime is 1 to 60 seconds, or 0 for the default, not {times['baton_lifetime']}.")

    def body() -> int:
        handle = c_uint64()
        call(name, group._handle, byref(structure), byref(handle))
        return handle.value

    # A holder waits for the store until it is registered; the others do not wait.
    return run_interruptibly(body, c.close_handle) if name == "sc_holder_open" else body()


def answer(name: str, *arguments: object) -> None:
    """Makes a call that answers an event of a core."""
    try:
        call(name, *arguments)
    except c.HandleError:
        # The participant has given the core up meanwhile.
        pass


def fail(core: int, error: BaseException) -> None:
    """Says that a core has failed."""
    try:
        text = str(error) or type(error).__name__
    except Exception:
        # An exception that cannot say what it is fails the core all the same.
        text = type(error).__name__
    # The library takes 4,096 bytes.
    answer("sc_core_failed", core, text.replace("\0", "")[:1000].encode(errors="replace"))


def acknowledge(main: int, call_id: str, sequence: str | None) -> bool:
    """Says that a Main has shown a message. Returns whether it waited to be."""
    acknowledged = c_int32()
    call("sc_main_acknowledge", main, c.c_text(call_id), c.optional_c_text(sequence), byref(acknowledged))
    return bool(acknowledged.value)


def end_of(error: StopIteration | SharedCoreError, is_open: bool) -> SharedCoreError:
    """Returns why no event of a participant comes any more."""
    # An open participant ends with its last event, and a closed one has no handle.
    if isinstance(error, StopIteration) or not is_open:
        return error_of(c.CLOSED, "The participant has ended.", "participant")
    return error


def require_rest(can_rest: bool) -> None:
    """Raises where the core of a Main that is to rest cannot.

    :raises SharedCoreError: ``unsupported``.
    """
    if not can_rest:
        raise error_of(c.UNSUPPORTED, "This core cannot be quiet and stay registered.", "core")


class _Participant(Scoped):
    """The thread of a participant, which runs the calls of its core.

    It goes on until it is closed, or its group is: the thread holds it.
    """

    def __init__(self, handle: int, core: Callable[[], Core]) -> None:
        self._handle = handle
        self._make = core
        self._core: Core | None = None
        #: The cores that have given a baton, until its end is known.
        self._given: dict[int, MovingCore] = {}
        self._lock = CallLock()
        self._requests: dict[int, Future[Result]] = {}
        #: The calls that an event of a kind will answer, the oldest first.
        self._asked: dict[int, deque[Future[None]]] = {kind: deque() for kind in (FINISHED, RESTED, RESUMED)}
        self._started: Future[None] = Future()
        self._ended: Future[None] = Future()
        #: Why no event comes any more.
        self._end: SharedCoreError | None = None
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
                # The wait for the next one does not keep the result of this one.
                del event
        except (StopIteration, SharedCoreError) as error:
            self._finish(end_of(error, self.is_open))
        except BaseException as error:
            # No thread handles the events that come: the callers must not wait for them.
            self._finish(error_of(c.SYSTEM, f"The thread of the participant has ended: {error!r}", "participant"))
            raise

    def _finish(self, end: SharedCoreError) -> None:
        """Ends the waits for events."""
        with self._lock:
            self._end = end
            waiting: list[Future[Any]] = [
                self._started, self._ended, *self._requests.values(), *chain(*self._asked.values()),
            ]
        for each in waiting:
            _settle(each, end, None)

    def _handle_event(self, event: ParticipantEvent) -> None:
        if event.kind == CORE_START:
            try:
                self._core = self._make()
                self._core.start(CoreContext(event.core, event.epoch, event.baton))
            except BaseException as error:
                # Also one that would end this thread, such as SystemExit: no thread would answer the events that come.
                fail(event.core, error)
            else:
                answer("sc_core_started", event.core)
        elif event.kind == CORE_STOP:
            core, self._core = self._core, None
            if not self._give(core, event):
                self._end_core(event.core, lambda: core.stop(event.stop) if core is not None else None)
        elif event.kind == BATON_ENDED:
            given = self._given.pop(event.core)
            self._end_core(event.core, lambda: given.baton_ended(event.baton_end))
        elif event.kind in (CORE_REST, CORE_RESUME):
            try:
                # Main.rest() asks no other core.
                assert isinstance(self._core, RestingCore)
                if event.kind == CORE_REST:
                    self._core.rest()
                else:
                    self._core.resume(event.stop.reason)
            except BaseException as error:
                fail(event.core, error)
            else:
                answer("sc_core_rested" if event.kind == CORE_REST else "sc_core_resumed", event.core)
        elif event.kind in self._asked:
            with self._lock:
                asked = self._asked[event.kind].popleft()
            _settle(asked, event.error, None)
        elif event.kind == RESULT:
            with self._lock:
                future = self._requests.pop(event.request)
            if not _settle(future, event.error, event.result) and event.result.kind == "message":
                # The future was cancelled. This thread does not wait for the store: the next event may be one to stop.
                end_later(event.result.give_back)
        elif event.kind == STARTED:
            _settle(self._started, event.error, None)
        elif event.kind == ENDED:
            _settle(self._ended, event.error, None)

    def _request(self, name: str, *arguments: object) -> None:
        """Makes a call that an event answers. The thread that has the event waits for the lock of the caller.

        :raises SharedCoreError: no event comes any more.
        """
        if self._end is not None:
            raise self._end
        call(name, self._handle, *arguments)

    def _ask(self, name: str, kind: int) -> None:
        """Makes a call, and waits for the event of a kind that answers it."""
        future: Future[None] = Future()
        self._require_other_thread()
        with self._lock:
            self._request(name)
            self._asked[kind].append(future)
        future.result()

    def _require_other_thread(self) -> None:
        """Raises on the thread of the participant, which alone handles the event that a call waits for."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("A core cannot wait for its own participant: the events of both come on one thread.")

    def _give(self, core: Core | None, event: ParticipantEvent) -> bool:
        """Has a core give a baton where a Main takes one. Returns False where it is to stop without."""
        if not event.stop.takes or not isinstance(core, MovingCore):
            return False
        try:
            baton = core.hand_over(event.stop)
        except BaseException:
            LOGGER.exception("The core could not hand its calls over.")
            return False
        if baton is None:
            answer("sc_core_stopped", event.core)
            return True
        self._given[event.core] = core
        try:
            give(event.core, baton)
        except Exception:
            # Also one of a baton with values of another type.
            LOGGER.exception("The baton was not taken.")
            del self._given[event.core]
            self._end_core(event.core, lambda: core.baton_ended(BatonEnd("refused")))
        return True

    @staticmethod
    def _end_core(core: int, body: Callable[[], None]) -> None:
        """Runs the last call of a core, and says that it has stopped."""
        try:
            body()
        except BaseException:
            LOGGER.exception("The stop of the core failed.")
        finally:
            answer("sc_core_stopped", core)

    def wait_until_ended(self, timeout: float | None = None) -> None:
        """Waits for the end of the participation, at most so many seconds.

        :raises SharedCoreError: why it has ended, if not by :meth:`close`.
        :raises TimeoutError: it has not ended.
        """
        self._require_other_thread()
        refuse_forked_child()
        result_within(self._ended, timeout)


def _settle(future: Future[Any], error: BaseException | None, value: object) -> bool:
    """Gives a future its result or its error. Returns False where it was cancelled."""
    if future.done():
        return not future.cancelled()
    if not future.set_running_or_notify_cancel():
        return False
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)
    return True


class Main(_Participant):
    """The long-lived process: it owns, and its core runs.

    >>> with Group(directory, role="main") as group, Main(group, MailCore) as main:
    ...     main.wait_until_started()
    """

    def __init__(self, group: Group, core: Callable[[], Core], **options: Unpack[ParticipantOptions]) -> None:
        """Begins to take part: ``core`` makes the core of each ownership."""
        super().__init__(open_participant("sc_main_start", group, **options), core)

    def wait_until_started(self, timeout: float | None = None) -> None:
        """Waits until the core runs, at most so many seconds.

        :raises RefusedError: another Main that answers owns.
        :raises TimeoutError: it does not run by then.
        """
        self._require_other_thread()
        refuse_forked_child()
        result_within(self._started, timeout)

    def acknowledge(self, call_id: str, sequence: str | None = None) -> bool:
        """Says that a message of exactly this identity was shown. Returns whether it waited to be."""
        return acknowledge(self._handle, call_id, sequence)

    def pushes(self) -> Pushes:
        """Begins to take the pushes that the host routes to Main. Those of an earlier call end."""
        return begin_pushes(self._handle)

    def rest(self) -> None:
        """Lets this Main sleep: its core is made quiet, and the holder of the group owns for it (contract C26).

        :raises SharedCoreError: ``unavailable`` without a holder, ``unsupported`` for a core that is no :class:`RestingCore`,
            and others, where the core goes on in place of resting.
        """
        require_rest(isinstance(self._core, RestingCore))
        self._ask("sc_main_rest", RESTED)

    def resume(self) -> None:
        """Owns for itself again. Returns when the core goes on."""
        self._ask("sc_main_resume", RESUMED)


class Executor(_Participant):
    """The short-lived process: it gets the message of its call-id, from the owner or with a core of its own.

    >>> with Group(directory, role="executor") as group, Executor(group, MailCore) as executor:
    ...     result = executor.message("id", timeout=20)
    """

    def __init__(self, group: Group, core: Callable[[], Core], **options: Unpack[ParticipantOptions]) -> None:
        """Takes part when it is asked: ``core`` makes the core of each ownership."""
        super().__init__(open_participant("sc_executor_open", group, **options), core)

    def ask(
        self, call_id: str, timeout: float, *, sequence: str | None = None, insists: bool = False
    ) -> Future[Result]:
        """Asks for the message of a call-id, of any sequence or of one. The future has the result or the error.

        With ``insists`` a core of this Executor has to run; it is refused while a Main owns.
        """
        request = c_uint64()
        future: Future[Result] = Future()
        with self._lock:
            self._request(
                "sc_executor_insist" if insists else "sc_executor_ask", c.c_text(call_id),
                c.optional_c_text(sequence), milliseconds(timeout), byref(request),
            )
            self._requests[request.value] = future
        return future

    def message(self, call_id: str, timeout: float, *, sequence: str | None = None) -> Result:
        """Waits for the message of a call-id, at most so many seconds: of any sequence, or of one.

        :raises WaitTimeoutError: it has not come.
        """
        self._require_other_thread()
        return self.ask(call_id, timeout, sequence=sequence).result()

    def finish(self) -> None:
        """Returns when the core, where it runs here, has served all calls and stopped."""
        self._ask("sc_executor_finish", FINISHED)


class _NoCore:
    def start(self, context: CoreContext) -> None:
        """A holder starts no core."""

    def stop(self, request: StopRequest) -> None:
        """A holder stops no core."""


class Holder(_Participant):
    """A process that owns for a Main that rests. Its group has another role than ``main`` and ``executor``."""

    def __init__(self, group: Group, **options: Unpack[ParticipantOptions]) -> None:
        super().__init__(open_participant("sc_holder_open", group, **options), _NoCore)
