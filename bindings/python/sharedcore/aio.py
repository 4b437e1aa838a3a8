"""The package for asyncio: each call that blocks in :mod:`sharedcore` is a coroutine here, under the same name.

Calls that block run on threads of their group, those that wait for another process on threads of their own, and events on
the loop.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from ctypes import byref, c_uint64
from itertools import chain
from typing import Any, Protocol, Self, Unpack, runtime_checkable

from . import _library as c
from . import participants
from ._async import (
    Activity, CallChanges, Calling, Command, Delivery, Mailbox, Observation, OpenCall, Pushes, ReceivedBaton, Request,
    Responder, Result, Scoped, TakenPush, Watch, run_whole, wait_until_readable,
)
from ._library import Owned, SharedCoreError, call, duration, error_of, milliseconds
from ._threads import LOGGER, Threads, end_later
from .batons import Baton, BatonEnd, give
from .calls import Call
from .group import Entry, Guard, Notification, Operation, PendingRequest, Snapshot
from .group import Group as BlockingGroup
from .messages import InboxPage, Message, MessageState
from .participants import CoreContext as BlockingContext
from .participants import (
    ParticipantEvent, ParticipantOptions, StopRequest, answer, end_of, fail, next_event, open_participant,
)
from .pushes import begin_pushes
from .status import Status, TimelinePage

__all__ = [
    "Activity",
    "CallChanges",
    "Command",
    "Core",
    "CoreContext",
    "Delivery",
    "Executor",
    "Group",
    "Holder",
    "Mailbox",
    "Main",
    "MovingCore",
    "Observation",
    "OpenCall",
    "Pushes",
    "ReceivedBaton",
    "Request",
    "Responder",
    "RestingCore",
    "Result",
    "TakenPush",
    "Watch",
]


async def _open_group(body: Callable[[], BlockingGroup]) -> BlockingGroup:
    """Opens a group, which may wait for a hub. One that is opened for a task which is cancelled meanwhile is closed."""
    return await run_whole(body, BlockingGroup.close, threads=None)


class Group(Scoped, Calling):
    """An open group.

    >>> async with await Group.open("/run/user/1000/chat") as group:
    ...     async for event in await group.watch("members"): ...
    """

    def __init__(self, blocking: BlockingGroup, threads: Threads | None = None) -> None:
        #: The same handle, with calls that block.
        self.blocking = blocking
        self._threads = threads or Threads()

    @classmethod
    async def open(cls, directory: str, **options: Any) -> Self:
        """Joins a group, with the options of :class:`sharedcore.Group`."""
        return cls(await _open_group(lambda: BlockingGroup(directory, **options)))

    @classmethod
    async def configured(cls, settings: Mapping[str, str] | None = None, **options: Any) -> Self:
        """Joins a group, with the options of :meth:`sharedcore.Group.configured`."""
        return cls(await _open_group(lambda: BlockingGroup.configured(settings, **options)))

    async def aclose(self) -> None:
        """Leaves the group."""
        await run_whole(self.blocking.close, threads=None)

    @property
    def session(self) -> int:
        """The identity of this participation; 0 where the group is open to read only."""
        return self.blocking.session

    @property
    def is_open(self) -> bool:
        """Whether it was not closed."""
        return self.blocking.is_open

    async def sync(self) -> None:
        """Returns when this handle shows everything that was committed before. Its watches have it soon."""
        await self._call(self.blocking.sync)

    async def get(self, key: str) -> Entry | None:
        return await self._call(self.blocking.get, key)

    async def list(self, prefix: str = "") -> Snapshot:
        return await self._call(self.blocking.list, prefix)

    async def put(self, key: str, value: bytes) -> int:
        return await self._call(self.blocking.put, key, value)

    async def delete(self, key: str) -> int:
        return await self._call(self.blocking.delete, key)

    async def commit(
        self, operations: Sequence[Operation], guards: Sequence[Guard] = (), *, request_number: int = 0
    ) -> int:
        return await self._call(self.blocking.commit, operations, guards, request_number=request_number)

    async def watch(self, prefix: str = "", *, after: int | None = None, snapshot: bool = True) -> Watch:
        return Watch(await self._call(self.blocking.watch, prefix, after=after, snapshot=snapshot), self._threads)

    async def post(self, name: str, state: int | None = None) -> int:
        return await self._call(self.blocking.post, name, state)

    async def state(self, name: str) -> Notification:
        return await self._call(self.blocking.state, name)

    async def observe(self, name: str) -> Observation:
        return Observation(await self._call(self.blocking.observe, name), self._threads)

    async def request(self, name: str, message: bytes, **options: Any) -> bytes:
        """Sends a request, and waits for the reply, with the options of :meth:`sharedcore.Group.request`.

        No thread waits. The end of a task that is cancelled ends the wait; the request stays in the group until it is answered
        or its timeout has passed.
        """
        with PendingRequest(self.blocking, name, message, **options) as pending:
            while (reply := pending.take(0)) is None:
                await wait_until_readable(pending, None)
            return reply

    async def responder(self, name: str, *, codec: str = "bytes") -> Responder:
        """Returns the requests of a name, for a program that answers them."""
        return Responder(await self._call(self.blocking.responder, name, codec=codec), self._threads)

    async def calls(self) -> tuple[Call, ...]:
        return await self._call(self.blocking.calls)

    async def watch_calls(self) -> CallChanges:
        return CallChanges(await self._call(self.blocking.watch_calls), self._threads)

    async def command(self, call_id: str, command: str, *, timeout: float = 5) -> None:
        await run_whole(lambda: self.blocking.command(call_id, command, timeout=timeout), threads=None)

    async def acknowledge_call(self, call_id: str) -> bool:
        return await self._call(self.blocking.acknowledge_call, call_id)

    async def status(self) -> Status:
        return await self._call(self.blocking.status)

    async def timeline(self, *, after: int = 0, limit: int = 100) -> TimelinePage:
        return await self._call(self.blocking.timeline, after=after, limit=limit)

    async def inbox(self, *, after: int = 0, limit: int = 100) -> InboxPage:
        return await self._call(self.blocking.inbox, after=after, limit=limit)

    async def message_state(self, call_id: str, sequence: str | None = None) -> MessageState:
        return await self._call(self.blocking.message_state, call_id, sequence)

    async def mailbox(self, path: str, *, capacity: int = 0, drops_oldest: bool = False) -> Mailbox:
        """Returns the mailbox at a path of the group."""
        blocking = await self._call(self.blocking.mailbox, path, capacity=capacity, drops_oldest=drops_oldest)
        return Mailbox(blocking, self._threads)


class CoreContext(Calling):
    """The access of a running core to the group, as :class:`sharedcore.CoreContext`."""

    def __init__(self, blocking: BlockingContext, threads: Threads | None = None) -> None:
        #: The same, with calls that block.
        self.blocking = blocking
        self._threads = threads or Threads()
        #: The revision that fences the core's writes.
        self.epoch = blocking.epoch
        #: What a former owner has given, for the start of the core; else None.
        self.baton = None if blocking.baton is None else ReceivedBaton(blocking.baton, self._threads)

    async def deliver(self, message: Message) -> bool:
        """Stores a message; only then may the core acknowledge it to its server. Returns False for a duplicate."""
        return await self._call(self.blocking.deliver, message)

    async def update(self, message: Message) -> str:
        """Replaces the content of a message that waits, and returns as :meth:`sharedcore.CoreContext.update`."""
        return await self._call(self.blocking.update, message)

    async def withdraw(self, call_id: str, sequence: str | None = None) -> str:
        """Takes back a message that waits: a wait for it ends with nothing to show. Returns as :meth:`update` does."""
        return await self._call(self.blocking.withdraw, call_id, sequence)

    async def report(self, problem: str) -> None:
        """Puts a sentence about something that the core had to set aside on the timeline."""
        await self._call(self.blocking.report, problem)

    async def group(self) -> Group:
        """Returns the group with the epoch as a guard on every write. Close it after use."""
        return Group(await self._call(self.blocking.group), self._threads)

    async def begin_call(self, description: Call) -> OpenCall:
        """Begins a call, which keeps this core until it ends. One that is open when the ownership is over is lost.

        The call of a task that is cancelled meanwhile ends as ``failed``.
        """
        begin, undo = self.blocking.begin_call, lambda begun: begun.end("failed", "cancelled")
        return OpenCall(await run_whole(lambda: begin(description), undo, threads=self._threads), self._threads)

    async def begin_activity(self, kind: str, id: str, *, bound: float | None = None) -> Activity:
        """Begins a ``call`` (4 hours at most), a ``transfer`` (10 minutes), or work of another name with its bound in seconds."""
        begin = self.blocking.begin_activity
        begun = await run_whole(
            lambda: begin(kind, id, bound=bound), lambda begun: begun.end(), threads=self._threads
        )
        return Activity(begun, self._threads)

    @asynccontextmanager
    async def critical_section(self, maximum: float) -> AsyncIterator[None]:
        """A section of work that a request for hand-over waits for, so many seconds at most (contract C3).

        It is also left where its end raises because the store cannot be reached, as
        :meth:`sharedcore.CoreContext.critical_section`.

        :raises GuardFailedError: a request is pending, the core is in a section already, or it is superseded.
        """
        section, limit = self.blocking._section, duration(maximum, "maximum of a section")
        await run_whole(lambda: section.enter(limit), lambda done: section.abandon(), threads=self._threads)
        try:
            yield
        finally:
            # On a thread of its own, which goes on where this task is cancelled or the loop ends.
            await run_whole(section.leave, threads=None)

    async def fail(self, reason: str) -> None:
        """Says that the core has ended by itself."""
        await self._call(self.blocking.fail, reason)


class Core(Protocol):
    """The part of an application that runs once in a group."""

    async def start(self, context: CoreContext) -> None:
        """Connects. An exception fails the start."""

    async def stop(self, request: StopRequest) -> None:
        """Disconnects. Called also after a start that raised."""


@runtime_checkable
class RestingCore(Core, Protocol):
    """A core that can be quiet and stay registered, as :class:`sharedcore.RestingCore`."""

    async def rest(self) -> None:
        """Sends and writes nothing from now on. An exception fails the core."""

    async def resume(self, wake: str) -> None:
        """Goes on; ``wake`` says what for: ``call``, ``push``, ``user`` or another. An exception fails the core."""


@runtime_checkable
class MovingCore(Core, Protocol):
    """A core whose calls move to the next owner, as :class:`sharedcore.MovingCore`."""

    async def hand_over(self, request: StopRequest) -> Baton | None:
        """In place of ``stop``, for a Main that takes batons: sends nothing from now on, and returns a baton.

        The core keeps its sockets open until ``baton_ended``. One that cannot move its calls stops, and returns None.
        """

    async def baton_ended(self, end: BatonEnd) -> None:
        """Ends the calls over the network where ``end.is_own``, and closes what is open."""


class _Participant(Scoped, Calling, Owned):
    """A participant whose events the loop handles."""

    def __init__(self, handle: int, core: Callable[[], Core], threads: Threads) -> None:
        self._handle = handle
        self._threads = threads
        self._make = core
        self._core: Core | None = None
        #: The cores that have given a baton, until its end is known.
        self._given: dict[int, MovingCore] = {}
        self._loop = asyncio.get_running_loop()
        self._requests: dict[int, asyncio.Future[Result]] = {}
        #: The calls that an event of a kind will answer, the oldest first.
        self._asked: dict[int, deque[asyncio.Future[None]]] = {
            kind: deque() for kind in (participants.FINISHED, participants.RESTED, participants.RESUMED)
        }
        self._started: asyncio.Future[None] = self._loop.create_future()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._over: asyncio.Future[None] = self._loop.create_future()
        #: Why no event comes any more.
        self._end: SharedCoreError | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        #: Held while a call of the core runs: one may take longer than the group waits, and the core is told to stop after it.
        self._turn = asyncio.Lock()
        #: The start of the core, which is cancelled when the core is told to stop.
        self._starting: asyncio.Task[None] | None = None
        self._descriptor = self.fileno()
        self._loop.add_reader(self._descriptor, self._take)

    async def aclose(self) -> None:
        """Ends the participation: its core is told to stop, and its ownership is released.

        Within a call of its own core other than ``start`` it ends the participation at once, as :meth:`close`.
        """
        if not self._handle:
            return
        task = asyncio.current_task()
        # The stop of the core waits for the end of such a call. A start is cancelled, and does not wait here.
        if task in self._tasks and task is not self._starting:
            self.close()
            return
        call("sc_participant_end", self._handle)
        # A task that is cancelled here leaves the end, and the calls of the core, to the next one.
        await asyncio.shield(self._over)
        if others := self._tasks - {task}:
            await asyncio.wait(others)
        await run_whole(super().close, threads=None)

    def close(self) -> None:
        """Ends the participation at once, without the last calls of its core. Idempotent; for the thread of the loop."""
        over = getattr(self, "_over", None)
        # The descriptor must not be closed while the loop polls it.
        if over is not None and not over.done() and not self._loop.is_closed():
            self._finish(error_of(c.CLOSED, "The participant was closed.", "participant"))
            self._end_start()
        super().close()

    def _take(self) -> None:
        try:
            while (event := next_event(self._handle, 0)) is not None:
                self._handle_event(event)
        except (StopIteration, SharedCoreError) as error:
            self._finish(end_of(error, self.is_open))

    def _finish(self, end: SharedCoreError) -> None:
        """Takes no more events, and ends the waits for them."""
        self._loop.remove_reader(self._descriptor)
        self._end = end
        waiting: list[asyncio.Future[Any]] = [
            self._started, self._ended, *self._requests.values(), *chain(*self._asked.values()),
        ]
        for each in waiting:
            if not each.done():
                each.set_exception(end)
                # A caller that does not wait for it has no use for the error.
                each.exception()
        self._over.set_result(None)

    def _handle_event(self, event: ParticipantEvent) -> None:
        if event.kind == participants.CORE_START:
            self._turn = asyncio.Lock()
            self._starting = self._run(self._start(event, self._turn))
        elif event.kind == participants.CORE_STOP:
            # The group does not wait for a start when it tells the core to stop.
            self._end_start()
            self._run(self._stop(event, self._turn))
        elif event.kind == participants.BATON_ENDED:
            given = self._given.pop(event.core)
            self._run(self._end_core(event.core, lambda: given.baton_ended(event.baton_end)))
        elif event.kind in (participants.CORE_REST, participants.CORE_RESUME):
            self._run(self._rest(event))
        elif event.kind in self._asked:
            _settle(self._asked[event.kind].popleft(), event.error, None)
        elif event.kind == participants.RESULT:
            future = self._requests.pop(event.request)
            if future.cancelled() and event.result.kind == "message":
                end_later(event.result.give_back)
            _settle(future, event.error, Result(event.result, self._threads))
        elif event.kind == participants.STARTED:
            _settle(self._started, event.error, None)
        elif event.kind == participants.ENDED:
            _settle(self._ended, event.error, None)

    def _run(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _end_start(self) -> None:
        """Cancels the start of the core where it has not returned. It holds the turn until it has ended."""
        starting, self._starting = self._starting, None
        if starting is not None:
            starting.cancel()

    async def _start(self, event: ParticipantEvent, turn: asyncio.Lock) -> None:
        try:
            async with turn:
                self._core = core = self._make()
                await core.start(CoreContext(BlockingContext(event.core, event.epoch, event.baton), self._threads))
        except BaseException as error:
            # Also CancelledError, of what the core waits for.
            fail(event.core, error)
            if not isinstance(error, (Exception, asyncio.CancelledError)):
                raise
        else:
            answer("sc_core_started", event.core)

    async def _rest(self, event: ParticipantEvent) -> None:
        core, is_rest = self._core, event.kind == participants.CORE_REST
        try:
            # Main.rest() asks no other core.
            assert isinstance(core, RestingCore)
            async with self._turn:
                await (core.rest() if is_rest else core.resume(event.stop.reason))
        except BaseException as error:
            fail(event.core, error)
            if not isinstance(error, (Exception, asyncio.CancelledError)):
                raise
        else:
            answer("sc_core_rested" if is_rest else "sc_core_resumed", event.core)

    async def _stop(self, event: ParticipantEvent, turn: asyncio.Lock) -> None:
        core, self._core = self._core, None
        async with turn:
            if not await self._give(core, event):
                await self._end_core(event.core, lambda: core.stop(event.stop) if core is not None else None)

    async def _give(self, core: Core | None, event: ParticipantEvent) -> bool:
        """Has a core give a baton where a Main takes one. Returns False where it is to stop without."""
        if not event.stop.takes or not isinstance(core, MovingCore):
            return False
        try:
            baton = await core.hand_over(event.stop)
        except (Exception, asyncio.CancelledError):
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
            await self._end_core(event.core, lambda: core.baton_ended(BatonEnd("refused")))
        return True

    @staticmethod
    async def _end_core(core: int, body: Callable[[], Awaitable[None] | None]) -> None:
        """Runs the last call of a core, and says that it has stopped."""
        try:
            ending = body()
            if ending is not None:
                await ending
        except Exception:
            LOGGER.exception("The stop of the core failed.")
        finally:
            answer("sc_core_stopped", core)

    def _request(self, name: str, *arguments: object) -> None:
        """Makes a call that an event answers.

        :raises SharedCoreError: no event comes any more.
        """
        if self._end is not None:
            raise self._end
        call(name, self._handle, *arguments)

    async def _ask(self, name: str, kind: int) -> None:
        """Makes a call, and waits for the event of a kind that answers it."""
        self._request(name)
        future: asyncio.Future[None] = self._loop.create_future()
        self._asked[kind].append(future)
        await future

    async def wait_until_ended(self, timeout: float | None = None) -> None:
        """Waits for the end of the participation, at most so many seconds.

        :raises SharedCoreError: why it has ended, if not by :meth:`aclose`.
        :raises TimeoutError: it has not ended.
        """
        await _result_within(self._ended, timeout)


async def _result_within(future: asyncio.Future[None], timeout: float | None) -> None:
    """Waits for a future, which goes on without this task."""
    limit = milliseconds(timeout)
    await asyncio.wait([future], timeout=None if limit < 0 else limit / 1000)
    if not future.done():
        raise TimeoutError
    future.result()


def _settle(future: asyncio.Future[Any], error: BaseException | None, value: object) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
        future.exception()


class Main(_Participant):
    """The long-lived process: it owns, and its core runs."""

    def __init__(self, group: Group, core: Callable[[], Core], **options: Unpack[ParticipantOptions]) -> None:
        super().__init__(open_participant("sc_main_start", group.blocking, **options), core, group._threads)

    async def wait_until_started(self, timeout: float | None = None) -> None:
        """Waits until the core runs, at most so many seconds.

        :raises RefusedError: another Main that answers owns.
        :raises TimeoutError: it does not run by then.
        """
        await _result_within(self._started, timeout)

    async def acknowledge(self, call_id: str, sequence: str | None = None) -> bool:
        """Says that a message of exactly this identity was shown. Returns whether it waited to be."""
        return await self._call(participants.acknowledge, self._handle, call_id, sequence)

    async def rest(self) -> None:
        """Lets this Main sleep: its core is made quiet, and the holder of the group owns for it (contract C26).

        :raises SharedCoreError: ``unavailable`` without a holder, ``unsupported`` for a core that is no :class:`RestingCore`,
            and others, where the core goes on in place of resting.
        """
        participants.require_rest(isinstance(self._core, RestingCore))
        await self._ask("sc_main_rest", participants.RESTED)

    async def resume(self) -> None:
        """Owns for itself again. Returns when the core goes on."""
        await self._ask("sc_main_resume", participants.RESUMED)

    async def pushes(self) -> Pushes:
        """Begins to take the pushes that the host routes to Main, for ``async for``. Those of an earlier call end."""
        return Pushes(await self._call(begin_pushes, self._handle), self._threads)


class Executor(_Participant):
    """The short-lived process: it gets the message of its call-id, from the owner or with a core of its own."""

    def __init__(self, group: Group, core: Callable[[], Core], **options: Unpack[ParticipantOptions]) -> None:
        super().__init__(open_participant("sc_executor_open", group.blocking, **options), core, group._threads)

    def ask(
        self, call_id: str, timeout: float, *, sequence: str | None = None, insists: bool = False
    ) -> asyncio.Future[Result]:
        """Asks for the message of a call-id, of any sequence or of one. The future has the result or the error.

        With ``insists`` a core of this Executor has to run; it is refused while a Main owns. A message that comes to a
        future that is cancelled is given back.
        """
        request = c_uint64()
        self._request(
            "sc_executor_insist" if insists else "sc_executor_ask", c.c_text(call_id), c.optional_c_text(sequence),
            milliseconds(timeout), byref(request),
        )
        future: asyncio.Future[Result] = self._loop.create_future()
        self._requests[request.value] = future
        return future

    async def message(self, call_id: str, timeout: float, *, sequence: str | None = None) -> Result:
        """Waits for the message of a call-id, at most so many seconds: of any sequence, or of one.

        A message that comes to a task that is cancelled is given back.

        :raises WaitTimeoutError: it has not come.
        """
        future = self.ask(call_id, timeout, sequence=sequence)
        try:
            return await future
        except asyncio.CancelledError:
            # The message may have come just before: this task does not get it any more.
            if future.done() and not future.cancelled() and future.exception() is None:
                result = future.result()
                if result.kind == "message":
                    end_later(result.blocking.give_back)
            raise

    async def finish(self) -> None:
        """Returns when the core, where it runs here, has served all calls and stopped."""
        await self._ask("sc_executor_finish", participants.FINISHED)


class _NoCore:
    async def start(self, context: CoreContext) -> None:
        """A holder starts no core."""

    async def stop(self, request: StopRequest) -> None:
        """A holder stops no core."""


class Holder(_Participant):
    """A process that owns for a Main that rests. Its group has another role than ``main`` and ``executor``.

    >>> async with await Holder.open(group) as holder: ...
    """

    @classmethod
    async def open(cls, group: Group, **options: Unpack[ParticipantOptions]) -> Self:
        """Begins to own for a Main that rests, with the options of :class:`sharedcore.Holder`."""
        opened = await run_whole(
            lambda: open_participant("sc_holder_open", group.blocking, **options), c.close_handle, threads=None
        )
        return cls(opened, _NoCore, group._threads)
