"""The objects of a group for asyncio. Each has the blocking one of the same name in ``blocking``."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any, Generic, ParamSpec, Self, TypeVar

from . import batons, calls, group, participants, pushes
from ._library import HandleError, Owned, closed_meanwhile, copied_descriptor, milliseconds, refuse_forked_child
from ._stream import Stream as BlockingStream
from ._threads import Threads, end_later, start_thread
from .calls import Call
from .group import Event, Guard, Notification, Operation
from .messages import Message
from .pushes import Push

Blocking = TypeVar("Blocking", bound=Owned)
Element = TypeVar("Element")
Taken = TypeVar("Taken")
Done = TypeVar("Done")
Arguments = ParamSpec("Arguments")
Source = TypeVar("Source", group.Mailbox, group.Responder)


async def readable(descriptor: int, timeout: float | None) -> None:
    """Returns when a descriptor is readable.

    It has a future of its own in place of ``asyncio.wait_for``, which of Python 3.11 returns the result to a task that is
    cancelled when the result is there: the task would go on.

    :raises TimeoutError: not within so many seconds.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[bool] = loop.create_future()

    def wake(is_readable: bool) -> None:
        if not future.done():
            future.set_result(is_readable)

    loop.add_reader(descriptor, wake, True)
    timer = None if timeout is None else loop.call_later(timeout, wake, False)
    try:
        if not await future:
            raise TimeoutError
    finally:
        loop.remove_reader(descriptor)
        if timer is not None:
            timer.cancel()


async def wait_until_readable(source: Owned, timeout: float | None) -> bool:
    """Waits until a source has something to take. Returns False where it was closed meanwhile.

    :raises TimeoutError: not within so many seconds.
    """
    # A copy: each task polls its own, and that of a source which another task closes is not another file's.
    copy = copied_descriptor(source)
    if copy is None:
        return False
    try:
        await readable(copy, timeout)
    finally:
        os.close(copy)
    return source.is_open


async def run_whole(
    body: Callable[[], Done], undo: Callable[[Done], object] | None = None, *, threads: Threads | None
) -> Done:
    """Runs a call on a thread. A task that is cancelled does not wait for it, and its result is undone.

    The thread does not belong to a task: the end of a loop, which cancels all tasks, does not cancel the undoing. While the
    store cannot be reached, the undoing is repeated, so ``undo`` may be called several times.

    :param threads: those of the group. None is a thread of its own: for a call whose return another process decides, and for
        one that ends something, which must not wait for others.
    """
    if threads is not None:
        # They are not there in a forked child.
        refuse_forked_child()
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    # The result or the error. Cancelled where the task does not wait any more.
    outcome: Future[Done] = Future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    def run() -> None:
        # A thread of its own makes also the call of a cancelled task that ends something.
        if threads is not None and outcome.cancelled():
            return
        try:
            done = body()
        except BaseException as error:
            with suppress(InvalidStateError):
                outcome.set_exception(error)
        else:
            try:
                outcome.set_result(done)
            except InvalidStateError:
                if undo is not None:
                    end_later(lambda: undo(done))
                return
        # The loop may be closed: its task has not waited to the end.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(wake)

    if threads is None:
        start_thread(run)
    else:
        threads.run(run)
    try:
        await ready
    except BaseException:
        # Also that of a task which is destroyed. A future that cannot be cancelled has its result or its error.
        if not outcome.cancel() and outcome.exception() is None and undo is not None:
            done = outcome.result()
            end_later(lambda: undo(done))
        raise
    return outcome.result()


class Calling:
    """An object whose calls run on the threads of its group."""

    _threads: Threads

    async def _call(
        self, body: Callable[Arguments, Done], *arguments: Arguments.args, **options: Arguments.kwargs
    ) -> Done:
        """Makes a call that waits for the store alone."""
        return await run_whole(lambda: body(*arguments, **options), threads=self._threads)


class Scoped:
    """An object that the end of ``async with`` closes."""

    async def aclose(self) -> None:
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Object(Scoped, Calling, Generic[Blocking]):
    """An object with a handle, for ``with`` and ``async with``. The garbage collector closes it as well."""

    def __init__(self, blocking: Blocking, threads: Threads | None = None) -> None:
        #: The same object, with calls that block.
        self.blocking = blocking
        self._threads = threads or Threads()

    @property
    def is_open(self) -> bool:
        """Whether it was not closed."""
        return self.blocking.is_open

    def close(self) -> None:
        """Closes the object, as :meth:`aclose` does, on the thread of the loop."""
        self.blocking.close()

    async def aclose(self) -> None:
        """Closes the object. Idempotent."""
        await run_whole(self.blocking.close, threads=None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def deadline(timeout: float | None) -> float | None:
    """Returns the loop's time at which a wait ends; None for one without an end.

    :raises TypeError: a timeout that is no number.
    :raises ValueError: the timeout is ``nan``.
    """
    limit = milliseconds(timeout)
    return None if limit < 0 else asyncio.get_running_loop().time() + limit / 1000


def time_left(end: float | None) -> float | None:
    return None if end is None else end - asyncio.get_running_loop().time()


async def next_element(source: BlockingStream[Element], end: float | None, threads: Threads | None) -> Element | None:
    """Waits for the next element until a time of the loop, and returns None then.

    :raises StopAsyncIteration: the sequence has ended.
    """
    try:
        if source._begins_by_store and source.is_open:
            try:
                await run_whole(source.fileno, threads=threads)
            except HandleError:
                if source.is_open:
                    raise
                raise StopAsyncIteration from None
        element = source._take(0)
        while element is None:
            left = time_left(end)
            if left is not None and left <= 0:
                return None
            try:
                if not await wait_until_readable(source, left):
                    raise StopAsyncIteration
                element = source._take(0)
            except TimeoutError:
                return None
            except HandleError:
                if source.is_open:
                    raise
                raise StopAsyncIteration from None
    except StopIteration:
        raise StopAsyncIteration from None
    return element


class Stream(Object[BlockingStream[Any]], Generic[Element]):
    """A sequence of elements, for ``async for`` and :meth:`next`. No thread waits: the loop polls the descriptor."""

    def _convert(self, element: Any) -> Element:
        return element  # type: ignore[no-any-return]

    async def next(self, timeout: float | None = None) -> Element | None:
        """Waits for the next element. Returns None after ``timeout`` seconds, and at the end; None waits without an end."""
        try:
            element = await next_element(self.blocking, deadline(timeout), self._threads)
        except StopAsyncIteration:
            return None
        return None if element is None else self._convert(element)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        return self._convert(await next_element(self.blocking, None, self._threads))


class Watch(Stream[Event]):
    """A running watch."""


class Observation(Stream[Notification]):
    """A running observation of a name."""


class CallChanges(Stream[tuple[Call, ...]]):
    """The lists of a group's calls, one for each change."""


async def take(
    source: Source, timeout: float | None, threads: Threads, convert: Callable[[Any, Threads], Taken]
) -> Taken | None:
    """Takes from a mailbox or a responder, and waits so many seconds for a message; None waits without an end.

    No thread waits. What comes to a task that is cancelled is given back.

    :raises ClosedError: the mailbox was closed meanwhile, or its group was closed.
    :raises HandleError: the mailbox was closed before.
    """
    end = deadline(timeout)
    taken = await _take_now(source, threads)
    while taken is None:
        left = time_left(end)
        if left is not None and left <= 0:
            return None
        with closed_meanwhile(source):
            # The first use of the descriptor waits for the store. It is readable then if a message has come before.
            await run_whole(source.fileno, threads=threads)
            try:
                await wait_until_readable(source, left)
            except TimeoutError:
                return None
            taken = await _take_now(source, threads)
    return convert(taken, threads)


async def _take_now(
    source: group.Mailbox | group.Responder, threads: Threads
) -> group.Delivery | group.Request | None:
    def undo(taken: group.Delivery | group.Request | None) -> None:
        if taken is not None:
            taken.give_back()

    return await run_whole(lambda: source.take(0), undo, threads=threads)


class Mailbox(Object[group.Mailbox]):
    """A queue of messages that are kept until they are acknowledged."""

    async def send(self, message: bytes) -> int:
        """Puts a message at the end. Returns the revision."""
        return await self._call(self.blocking.send, message)

    async def take(self, timeout: float | None = None) -> Delivery | None:
        """Takes a message, and waits so many seconds for one; None waits without an end.

        No thread waits. A message that comes to a task that is cancelled is given back.

        :raises ClosedError: the mailbox was closed meanwhile, or its group was closed.
        :raises HandleError: the mailbox was closed before.
        """
        return await take(self.blocking, timeout, self._threads, Delivery)


class Delivery(Object[group.Delivery]):
    """A message that was taken: acknowledge it, or give it back."""

    def __init__(self, blocking: group.Delivery, threads: Threads | None = None) -> None:
        super().__init__(blocking, threads)
        #: The message.
        self.message = blocking.message

    async def acknowledge(self) -> bool:
        """Removes the message. Returns False where the take did not stand any more."""
        return await self._call(self.blocking.acknowledge)

    async def acknowledge_with(self, operations: Sequence[Operation], guards: Sequence[Guard] = ()) -> int | None:
        """Removes the message in one commit with operations, as :meth:`sharedcore.Delivery.acknowledge_with`."""
        return await self._call(self.blocking.acknowledge_with, operations, guards)

    async def give_back(self) -> None:
        """Lets others take the message."""
        await self._call(self.blocking.give_back)


class Responder(Object[group.Responder]):
    """The requests of a name, which programs that answer share between them."""

    async def take(self, timeout: float | None = None) -> Request | None:
        """Takes a request, as :meth:`Mailbox.take` takes a message."""
        return await take(self.blocking, timeout, self._threads, Request)


class Request(Object[group.Request]):
    """A request that was taken: reply to it, refuse it, or give it back."""

    def __init__(self, blocking: group.Request, threads: Threads | None = None) -> None:
        super().__init__(blocking, threads)
        #: The request.
        self.message = blocking.message

    async def reply(self, message: bytes) -> bool:
        """Replies. Returns False where the request was not this program's any more."""
        return await self._call(self.blocking.reply, message)

    async def refuse(self, reason: str) -> bool:
        """Refuses: the requester gets the reason. Returns as :meth:`reply` does."""
        return await self._call(self.blocking.refuse, reason)

    async def give_back(self) -> None:
        """Lets another program take the request."""
        await self._call(self.blocking.give_back)


class Command(Object[calls.Command]):
    """A command for a call: carry it out and accept it, or refuse it."""

    def __init__(self, blocking: calls.Command, threads: Threads | None = None) -> None:
        super().__init__(blocking, threads)
        #: ``answer``, ``decline``, ``hold``, ``resume`` or ``hangUp``.
        self.kind = blocking.kind

    async def accept(self) -> None:
        """Says that the command was carried out."""
        await self._call(self.blocking.accept)

    async def refuse(self, reason: str) -> None:
        """Says that the command is not carried out."""
        await self._call(self.blocking.refuse, reason)


class OpenCall(Stream[Command]):
    """A call of a core, and the commands for it. The first wait begins to take commands: answer each from then on."""

    blocking: calls.OpenCall

    def _convert(self, element: Any) -> Command:
        return Command(element, self._threads)

    async def change(self, state: str) -> None:
        """Changes the state: a state of :class:`sharedcore.Call` other than ``ended``."""
        await self._call(self.blocking.change, state)

    async def change_media(self, *, audio: bool, video: bool) -> None:
        """Says what media the call has from now on: none while it is held."""
        await self._call(self.blocking.change_media, audio=audio, video=video)

    async def set_moves(self, kind: str | None, *, needs_descriptors: bool = True) -> None:
        """Says that the call moves with a baton of a kind, as :meth:`sharedcore.OpenCall.set_moves`."""
        await self._call(self.blocking.set_moves, kind, needs_descriptors=needs_descriptors)

    async def end(self, reason: str, text: str = "") -> None:
        """Ends the call, such as by ``hungUp``, or by ``failed`` with a text for people."""
        await self._call(self.blocking.end, reason, text)


class Activity(Object[calls.Activity]):
    """Work of a core that a hand-over waits for, within its bound."""

    async def end(self) -> None:
        """Ends the activity."""
        await self._call(self.blocking.end)


def _close_all(descriptors: list[int]) -> None:
    for each in descriptors:
        os.close(each)


class ReceivedBaton(Calling):
    """The baton of a former owner, for the start of a core, as :class:`sharedcore.ReceivedBaton`."""

    def __init__(self, blocking: batons.ReceivedBaton, threads: Threads | None = None) -> None:
        self.blocking = blocking
        self._threads = threads or Threads()
        self.kind = blocking.kind
        self.data = blocking.data
        self.calls = blocking.calls
        #: The epoch that gave it.
        self.from_epoch = blocking.from_epoch

    async def take_descriptors(self) -> list[int]:
        """Returns the descriptors, once. They are the program's to close. A task that is cancelled has none to close."""
        return await run_whole(self.blocking.take_descriptors, _close_all, threads=self._threads)

    async def apply(self) -> dict[str, OpenCall]:
        """Takes the calls over, and returns those that are open, by their ids.

        The calls of a task that is cancelled meanwhile end as ``failed``.

        :raises GuardFailedError: the baton is over, or the core is to stop. Send nothing for the calls then.
        """

        def undo(found: dict[str, calls.OpenCall]) -> None:
            for each in found.values():
                end_later(partial(each.end, "failed", "cancelled"))

        found = await run_whole(self.blocking.apply, undo, threads=self._threads)
        return {id: OpenCall(each, self._threads) for id, each in found.items()}

    async def refuse(self, reason: str) -> None:
        """Says that this core cannot use it: the calls are over, and the former owner ends them."""
        await self._call(self.blocking.refuse, reason)


class Result(Calling):
    """The answer to a call-id: ``message``, ``call`` or ``nothing``. Acknowledge a message when it was shown."""

    def __init__(self, blocking: participants.Result, threads: Threads | None = None) -> None:
        self.blocking = blocking
        self._threads = threads or Threads()
        self.kind = blocking.kind
        self.message: Message | None = blocking.message
        self.from_core = blocking.from_core

    async def acknowledge(self) -> bool:
        """Says that the message was shown. Returns False where it was not this participant's any more."""
        return await self._call(self.blocking.acknowledge)

    async def give_back(self) -> None:
        """Lets other participants have the message."""
        await self._call(self.blocking.give_back)


class TakenPush(Object[pushes.TakenPush]):
    """A push in a Main's hand. After ``close`` alone it stays there until the group is closed."""

    def __init__(self, blocking: pushes.TakenPush, threads: Threads | None = None) -> None:
        super().__init__(blocking, threads)
        self.push: Push = blocking.push

    async def acknowledge(self) -> bool:
        """Says that the push was dealt with. Returns False where it was not this Main's any more."""
        return await self._call(self.blocking.acknowledge)

    async def give_back(self) -> None:
        """Lets a Main take the push again."""
        await self._call(self.blocking.give_back)


class Pushes(Stream[TakenPush]):
    """The pushes for a Main, the oldest first. It ends with the Main."""

    def _convert(self, element: Any) -> TakenPush:
        return TakenPush(element, self._threads)
