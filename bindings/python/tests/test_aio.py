"""Participants of asyncio: rests and their holder, calls that move, and pushes."""

import asyncio
import os
import socket
import tempfile
import threading
import unittest
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from unittest import mock

import sharedcore
from program import PROGRAM, push
from sharedcore import Baton, BatonEnd, Call, Message, Push, StopRequest, _library, aio, calls, participants
from sharedcore.aio import CoreContext, OpenCall
from sharedcore.participants import ParticipantEvent


class PlainCore:
    """A core that notes what it is told."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.context: CoreContext | None = None

    async def start(self, context: CoreContext) -> None:
        self.context = context

    async def stop(self, request: StopRequest) -> None:
        self.events.append("stop " + request.reason)


class QuietCore(PlainCore):
    """A core that stays registered in a rest, and says when each call of it begins and ends."""

    def __init__(self) -> None:
        super().__init__()
        self.quiet = asyncio.Event()
        self.quiet.set()

    async def rest(self) -> None:
        self.events.append("rest")
        await self.quiet.wait()
        self.events.append("quiet")

    async def resume(self, wake: str) -> None:
        self.events.append("resume " + wake)


class LineCore(PlainCore):
    """A core whose one call moves with its socket."""

    def __init__(self) -> None:
        super().__init__()
        self.call: OpenCall | None = None
        self.line: socket.socket | None = None
        self.ended = asyncio.Event()

    async def start(self, context: CoreContext) -> None:
        await super().start(context)
        if context.baton is not None:
            self.events.append(f"{context.baton.kind} {context.baton.data!r} {context.baton.calls}")
            [descriptor] = await context.baton.take_descriptors()
            self.line = socket.socket(fileno=descriptor)
            self.call = (await context.baton.apply())["call-1"]

    async def hand_over(self, request: StopRequest) -> Baton | None:
        self.events.append(f"hand over {request.takes} {request.reach}")
        await asyncio.sleep(0)
        return Baton("line/1", b"a\0b", ["call-1"], [self.line.fileno()])

    async def baton_ended(self, end: BatonEnd) -> None:
        await asyncio.sleep(0)
        self.events.append(f"{end.kind} {end.is_own}")
        self.line.close()
        self.ended.set()


class AioTests(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.directory = os.path.join(folder.name, "group")

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not condition():
                await asyncio.sleep(0.005)

    async def available(self, call: Callable[[], Awaitable[None]]) -> None:
        """Repeats a rest until the Main has learned of the holder, by its watch."""
        async with asyncio.timeout(60):
            while True:
                try:
                    return await call()
                except sharedcore.SharedCoreError as error:
                    if error.name != "unavailable":
                        raise

    async def test_rest(self) -> None:
        core = QuietCore()
        async with (
            await aio.Group.open(self.directory, role="main") as group,
            await aio.Group.open(self.directory, role="holder") as other,
            aio.Main(group, lambda: core) as main,
        ):
            await asyncio.wait_for(main.wait_until_started(), 60)
            with self.assertRaises(sharedcore.SharedCoreError) as caught:
                await main.rest()
            self.assertEqual(caught.exception.name, "unavailable")
            async with await aio.Holder.open(other) as holder:
                await self.available(main.rest)
                self.assertEqual((await group.status()).owner.session, other.session)
                core.events.clear()
                await main.resume()
                self.assertEqual((await group.status()).owner.session, group.session)
                self.assertEqual(core.events, ["resume user"])
                self.assertTrue(holder.is_open)
            core.events.clear()
        self.assertEqual(core.events, ["stop closing"])

    async def test_core_that_cannot_rest(self) -> None:
        async with await aio.Group.open(self.directory, role="main") as group, aio.Main(group, PlainCore) as main:
            await asyncio.wait_for(main.wait_until_started(), 60)
            with self.assertRaises(sharedcore.SharedCoreError) as caught:
                await main.rest()
            self.assertEqual(caught.exception.name, "unsupported")

    async def test_core_that_fails_to_rest(self) -> None:
        class LoudCore(QuietCore):
            async def rest(self) -> None:
                raise OSError("no line")

        core = LoudCore()
        async with (
            await aio.Group.open(self.directory, role="main") as group,
            await aio.Group.open(self.directory, role="holder") as other,
            await aio.Holder.open(other),
            aio.Main(group, lambda: core) as main,
        ):
            await asyncio.wait_for(main.wait_until_started(), 60)
            with self.assertRaises(sharedcore.SharedCoreError) as caught:
                await self.available(main.rest)
            self.assertEqual(caught.exception.name, "coreFailed")
            self.assertIn("no line", caught.exception.message)
            await self.until(lambda: core.events != [])

    async def test_calls_of_a_core_take_turns(self) -> None:
        """A core that is not quiet in time is told to stop when the call has returned, not within it."""
        core = QuietCore()
        core.quiet.clear()
        async with (
            await aio.Group.open(self.directory, role="main") as group,
            await aio.Group.open(self.directory, role="holder") as other,
            await aio.Holder.open(other),
        ):
            async with aio.Main(group, lambda: core, stop_timeout=0.5) as main:
                await asyncio.wait_for(main.wait_until_started(), 60)
                with self.assertRaises(sharedcore.SharedCoreError) as caught:
                    await self.available(main.rest)
                self.assertEqual(caught.exception.name, "coreFailed")
                closing = asyncio.create_task(main.aclose())
                # The participant does not wait for the core longer than its time.
                await asyncio.wait_for(main.wait_until_ended(), 60)
                before = list(core.events)
                core.quiet.set()
                await asyncio.wait_for(closing, 60)
            self.assertNotIn("stop closing", before)
            self.assertEqual(core.events[-2:], ["quiet", "stop closing"])

    async def test_start_ends_before_the_stop(self) -> None:
        """A core that is told to stop while it starts: its start is cancelled, and nothing of it runs beside the stop."""
        connected, going_on = asyncio.Event(), asyncio.Event()

        class SlowCore(PlainCore):
            async def start(self, context: CoreContext) -> None:
                self.events.append("start")
                try:
                    await connected.wait()
                finally:
                    self.events.append("cancelled")
                    await going_on.wait()
                    self.events.append("ended")

        core = SlowCore()
        async with await aio.Group.open(self.directory, role="main") as group:
            async with aio.Main(group, lambda: core) as main:
                await self.until(lambda: core.events == ["start"])
                closing = asyncio.create_task(main.aclose())
                await self.until(lambda: len(core.events) > 1)
                before = list(core.events)
                going_on.set()
                connected.set()
                await asyncio.wait_for(closing, 60)
            self.assertEqual(before, ["start", "cancelled"])
            self.assertEqual(core.events, ["start", "cancelled", "ended", "stop closing"])

    async def test_close_cancels_the_start(self) -> None:
        ends: list[str] = []
        connected = asyncio.Event()

        class SlowCore(PlainCore):
            async def start(self, context: CoreContext) -> None:
                self.events.append("start")
                try:
                    await connected.wait()
                finally:
                    ends.append("cancelled")

        core = SlowCore()
        async with await aio.Group.open(self.directory, role="main") as group:
            main = aio.Main(group, lambda: core)
            await self.until(lambda: core.events == ["start"])
            main.close()
            await self.until(lambda: ends == ["cancelled"])
            self.assertEqual(core.events, ["start"])

    async def test_the_loop_does_not_wait_for_the_store(self) -> None:
        """The calls that begin something by the store are made on other threads."""
        made: dict[str, threading.Thread] = {}

        def recording(name: str, *arguments: object) -> int:
            if name in ("sc_descriptor", "sc_call_next_command", "sc_holder_open"):
                made.setdefault(name, threading.current_thread())
            return original(name, *arguments)

        original = _library.call
        core = PlainCore()
        async with (
            await aio.Group.open(self.directory, role="main") as group,
            await aio.Group.open(self.directory, role="holder") as other,
            aio.Main(group, lambda: core) as main,
        ):
            await asyncio.wait_for(main.wait_until_started(), 60)
            async with await core.context.begin_call(Call("c-1", state="ringing")) as call:
                with (
                    mock.patch.object(_library, "call", recording),
                    mock.patch.object(participants, "call", recording),
                    mock.patch.object(calls, "call", recording),
                ):
                    self.assertIsNone(await call.next(timeout=0.01))
                    first = next(iter(made))
                    async with await aio.Holder.open(other):
                        pass
                await call.end("hungUp")
        loop = threading.current_thread()
        # The first use of the descriptor or of the commands begins to take them.
        self.assertIsNot(made[first], loop, first)
        self.assertIsNot(made["sc_holder_open"], loop)

    @asynccontextmanager
    async def asked(self, first: LineCore, second: Callable[[], aio.Core]) -> AsyncIterator[tuple[aio.Group, socket.socket]]:
        """A call of an Executor's core, and a Main that has asked for it and owns."""
        first.line, other_end = socket.socketpair()
        with first.line, other_end:
            async with (
                await aio.Group.open(self.directory, role="executor") as group,
                await aio.Group.open(self.directory, role="main") as other,
                aio.Executor(group, lambda: first) as executor,
            ):
                waiting = executor.ask("none", timeout=120)
                await self.until(lambda: first.context is not None)
                call = await first.context.begin_call(Call("call-1", state="answered"))
                await call.set_moves("line/1")
                async with aio.Main(
                    other, second, takes_batons=["line/1"], handover_timeout=60, handover_maximum_timeout=60
                ) as main:
                    await asyncio.wait_for(main.wait_until_started(), 60)
                    yield other, other_end
                waiting.cancel()

    async def test_call_moves(self) -> None:
        first, second = LineCore(), LineCore()
        async with self.asked(first, lambda: second) as (group, other_end):
            await asyncio.wait_for(first.ended.wait(), 20)
            self.assertEqual(first.events, ["hand over ('line/1',) descriptors", "applied False"])
            self.assertEqual(second.events, ["line/1 b'a\\x00b' ('call-1',)"])
            second.line.sendall(b"x")
            self.assertEqual(other_end.recv(1), b"x")
            await second.call.end("hungUp")
            second.line.close()
            self.assertEqual([call.end_reason for call in await group.calls()], ["hungUp"])

    async def test_core_that_refuses_a_baton(self) -> None:
        class RefusingCore(PlainCore):
            async def start(self, context: CoreContext) -> None:
                await context.baton.refuse("no line")
                try:
                    await context.baton.apply()
                except sharedcore.GuardFailedError:
                    refused.set()

        refused = asyncio.Event()
        first = LineCore()
        async with self.asked(first, RefusingCore) as (group, _):
            await asyncio.wait_for(first.ended.wait(), 20)
            self.assertTrue(refused.is_set())
            self.assertEqual(first.events[-1], "failed True")
            self.assertEqual([call.end_reason for call in await group.calls()], ["lost"])

    async def test_core_that_gives_no_baton(self) -> None:
        """One that cannot has stopped; one that raises, or gives a wrong one, is told to stop, or that it was refused."""

        class EmptyCore(LineCore):
            async def hand_over(self, request: StopRequest) -> Baton | None:
                return None

        class RaisingCore(LineCore):
            async def hand_over(self, request: StopRequest) -> Baton | None:
                raise OSError("no line")

        class WrongCore(LineCore):
            async def hand_over(self, request: StopRequest) -> Baton | None:
                return Baton("line/1", b"", [])

        class ConfusedCore(LineCore):
            async def hand_over(self, request: StopRequest) -> Baton | None:
                return Baton("line/1", b"a", ["call-1"], [self.line])

        for make, events, log in (
            (EmptyCore, [], False),
            (RaisingCore, ["stop handover"], True),
            (WrongCore, ["refused True"], True),
            (ConfusedCore, ["refused True"], True),
        ):
            with self.subTest(make.__name__):
                first = make()
                with self.assertLogs("sharedcore", "ERROR") if log else self.assertNoLogs("sharedcore"):
                    async with self.asked(first, PlainCore):
                        await self.until(lambda: first.events == events)
                async with await aio.Group.open(self.directory) as group:
                    self.assertEqual([call.end_reason for call in await group.calls()], ["lost"])
                    self.assertTrue(await group.acknowledge_call("call-1"))
                    self.assertFalse(await group.acknowledge_call("call-1"))

    async def test_core_that_closes_its_participant(self) -> None:
        """A call of the core does not wait for itself: the participation ends at once, as where the calls block."""
        for where in ("start", "stop", "rest", "resume"):
            mains: list[aio.Main] = []
            closed: list[str] = []

            class Core(QuietCore):
                async def close_in(self, name: str) -> None:
                    if name == where:
                        await mains[0].aclose()
                        closed.append(name)

                async def start(self, context: CoreContext) -> None:
                    await self.close_in("start")

                async def stop(self, request: StopRequest) -> None:
                    self.events.append("stop")
                    await self.close_in("stop")

                async def rest(self) -> None:
                    await self.close_in("rest")

                async def resume(self, wake: str) -> None:
                    await self.close_in("resume")

            core = Core()
            with self.subTest(where):
                async with (
                    await aio.Group.open(self.directory, role="main") as group,
                    await aio.Group.open(self.directory, role="holder") as other,
                    await aio.Holder.open(other),
                ):
                    main = aio.Main(group, lambda: core)
                    mains.append(main)
                    async with asyncio.timeout(30):
                        if where == "start":
                            with self.assertRaises(sharedcore.SharedCoreError):
                                await main.wait_until_started()
                            # The start was cancelled, and the core told to stop.
                            await main.aclose()
                            self.assertEqual(core.events, ["stop"])
                        else:
                            await main.wait_until_started()
                            try:
                                if where != "stop":
                                    await self.available(main.rest)
                                    await main.resume()
                            except sharedcore.ClosedError:
                                pass
                            await main.aclose()
                            await self.until(lambda: closed == [where])
                    self.assertFalse(main.is_open)
                    await self.until(lambda: not main._tasks)

    async def test_timeouts_of_a_participant(self) -> None:
        connected = asyncio.Event()

        class SlowCore(PlainCore):
            async def start(self, context: CoreContext) -> None:
                await connected.wait()

        async with await aio.Group.open(self.directory, role="main") as group, aio.Main(group, SlowCore) as main:
            for timeout in (0.05, 0, -1):
                with self.assertRaises(TimeoutError):
                    await main.wait_until_started(timeout)
            with self.assertRaises(ValueError):
                await main.wait_until_started(float("nan"))
            # A wait that ends leaves the others alone, and one that is cancelled is cancelled.
            waits = [asyncio.create_task(main.wait_until_started(each)) for each in (None, 60, float("inf"))]
            cancelled = asyncio.create_task(main.wait_until_started(60))
            await asyncio.sleep(0.01)
            cancelled.cancel()
            connected.set()
            async with asyncio.timeout(60):
                await asyncio.gather(*waits)
                await main.wait_until_started(0)
                await asyncio.wait([cancelled])
            self.assertTrue(cancelled.cancelled())
            with self.assertRaises(TimeoutError):
                await main.wait_until_ended(0.01)
            await main.aclose()
            await main.wait_until_ended(0)

    async def test_each_finish_waits(self) -> None:
        """Also a later one waits for the core that runs then."""
        events: list[str] = []

        class Core(PlainCore):
            async def start(self, context: CoreContext) -> None:
                events.append("start")
                for call_id in ("1", "2"):
                    await context.deliver(Message(call_id))

            async def stop(self, request: StopRequest) -> None:
                await asyncio.sleep(0.1)
                events.append("stop " + request.reason)

        async with await aio.Group.open(self.directory, role="executor") as group, aio.Executor(group, Core) as executor:
            for call_id in ("1", "2"):
                events.clear()
                result = await executor.ask(call_id, timeout=30, insists=True)
                self.assertTrue(await result.acknowledge())
                await asyncio.wait_for(executor.finish(), 60)
                self.assertEqual(events, ["start", "stop served"])

    async def test_message_for_a_cancelled_task_is_given_back(self) -> None:
        core = PlainCore()
        async with (
            await aio.Group.open(self.directory, role="main") as group,
            await aio.Group.open(self.directory, role="executor") as other,
            await aio.Group.open(self.directory, role="executor") as third,
            aio.Main(group, lambda: core) as main,
            aio.Executor(other, PlainCore) as executor,
            aio.Executor(third, PlainCore) as next_executor,
        ):
            await asyncio.wait_for(main.wait_until_started(), 60)
            waiting = executor.ask("7", timeout=60)
            waiting.cancel()
            await core.context.deliver(Message("7", text="hello"))
            result = await asyncio.wait_for(next_executor.message("7", timeout=60), 60)
            self.assertEqual(result.message.text, "hello")

    async def test_message_that_comes_in_the_moment_of_the_cancellation_is_given_back(self) -> None:
        """The future has the message, and its task is cancelled before it goes on."""
        core = PlainCore()
        async with (
            await aio.Group.open(self.directory, role="main") as group,
            await aio.Group.open(self.directory, role="executor") as other,
            await aio.Group.open(self.directory, role="executor") as third,
            aio.Main(group, lambda: core) as main,
            aio.Executor(other, PlainCore) as executor,
            aio.Executor(third, PlainCore) as next_executor,
        ):
            await asyncio.wait_for(main.wait_until_started(), 60)
            task = asyncio.create_task(executor.message("7", timeout=60))
            await self.until(lambda: bool(executor._requests))
            [future] = executor._requests.values()
            handle = executor._handle_event

            def handle_and_cancel(event: ParticipantEvent) -> None:
                handle(event)
                if event.kind == participants.RESULT:
                    task.cancel()

            executor._handle_event = handle_and_cancel
            await core.context.deliver(Message("7", text="hello"))
            with self.assertRaises(asyncio.CancelledError):
                await asyncio.wait_for(task, 60)
            self.assertTrue(future.done() and not future.cancelled())
            result = await asyncio.wait_for(next_executor.message("7", timeout=60), 60)
            self.assertEqual(result.message.text, "hello")

    async def test_close_ends_the_waits(self) -> None:
        """Also those that begin later, and the descriptor may be another file's after it."""
        async with await aio.Group.open(self.directory, role="main") as group:
            main = aio.Main(group, PlainCore)
            await asyncio.wait_for(main.wait_until_started(), 60)
            waiting = asyncio.create_task(main.wait_until_ended())
            await asyncio.sleep(0)
            main.close()
            main.close()
            for wait in (waiting, main.wait_until_ended()):
                with self.assertRaises(sharedcore.ClosedError):
                    await asyncio.wait_for(wait, 60)
            watch = await group.watch("k")
            await group.put("k", b"1")
            while (event := await watch.next(60)) is not None and not any(each.key == "k" for each in event.changes):
                pass
            self.assertIsNotNone(event)
            await main.aclose()

    async def test_executor_that_insists(self) -> None:
        async with (
            await aio.Group.open(self.directory, role="main") as group,
            await aio.Group.open(self.directory, role="executor") as other,
            aio.Main(group, PlainCore) as main,
            aio.Executor(other, PlainCore) as executor,
        ):
            await asyncio.wait_for(main.wait_until_started(), 60)
            with self.assertRaises(sharedcore.RefusedError):
                await asyncio.wait_for(executor.ask("7", timeout=60, insists=True), 60)

    async def test_calls_of_a_core(self) -> None:
        """What a core and the takers of its work call: all of it by coroutines."""
        core = PlainCore()
        async with (
            await aio.Group.open(self.directory, role="main") as group,
            await aio.Group.open(self.directory, role="executor") as other,
            aio.Main(group, lambda: core) as main,
            aio.Executor(other, PlainCore) as executor,
        ):
            await asyncio.wait_for(main.wait_until_started(), 60)
            context = core.context
            async with await context.group() as fenced:
                await fenced.put("k", b"1")
            async with context.critical_section(5):
                with self.assertRaises(sharedcore.GuardFailedError):
                    async with context.critical_section(5):
                        self.fail("a section within a section")
            activity = await context.begin_activity("sync", "1", bound=60)
            self.assertEqual([each.id for each in (await group.status()).activities], ["1"])
            await activity.end()
            await context.report("a letter has no sender")
            self.assertEqual((await group.timeline()).entries[-1].reason, "a letter has no sender")
            self.assertTrue(await context.deliver(Message("7", text="one")))
            self.assertEqual(await context.update(Message("7", text="two")), "changed")
            result = await executor.message("7", timeout=30)
            self.assertEqual(result.message.text, "two")
            await result.give_back()
            self.assertEqual(await context.withdraw("7"), "changed")

    async def test_commands(self) -> None:
        core = PlainCore()
        async with await aio.Group.open(self.directory, role="main") as group, aio.Main(group, lambda: core) as main:
            await asyncio.wait_for(main.wait_until_started(), 60)
            async with await group.watch_calls() as changes, await core.context.begin_call(Call("c-1", state="ringing")) as call:
                self.assertIsNone(await call.next(timeout=0.01))
                commanding = asyncio.create_task(group.command("c-1", "answer", timeout=30))
                command = await call.next(timeout=30)
                self.assertEqual(command.kind, "answer")
                await call.change("answered")
                await command.accept()
                await commanding
                await call.change_media(audio=True, video=True)
                commanding = asyncio.create_task(group.command("c-1", "hold", timeout=30))
                await (await anext(call)).refuse("no hold")
                with self.assertRaises(sharedcore.RefusedError):
                    await commanding
                await call.end("hungUp")
                async with asyncio.timeout(30):
                    async for calls in changes:
                        if [each.end_reason for each in calls] == ["hungUp"]:
                            break

    async def test_objects(self) -> None:
        """Mailboxes, watches and observations with their timeouts."""
        async with await aio.Group.open(self.directory) as group:
            async with (
                await group.mailbox("m", capacity=1) as mailbox,
                await group.watch("k", snapshot=False) as watch,
                await group.observe("bell") as observation,
            ):
                await mailbox.send(b"1")
                delivery = await mailbox.take(30)
                self.assertIsNotNone(await delivery.acknowledge_with([sharedcore.Operation.put("k", b"v")]))
                self.assertEqual((await watch.next(timeout=30)).changes[0].new.value, b"v")
                self.assertIsNone(await watch.next(timeout=0.01))
                await group.post("bell", 7)
                self.assertEqual((await observation.next()).state, 7)
                with self.assertRaises(ValueError):
                    await observation.next(timeout=float("nan"))
            self.assertFalse(mailbox.is_open or watch.is_open or observation.is_open)
            with self.assertRaises(sharedcore.HandleError):
                await mailbox.send(b"2")
            self.assertTrue(group.is_open)

    async def test_sync(self) -> None:
        async with await aio.Group.open(self.directory) as group:
            await group.sync()
        with self.assertRaises(sharedcore.HandleError):
            await group.sync()

    async def test_calls_of_an_ended_participant(self) -> None:
        """None waits for an event that does not come."""
        async with (
            await aio.Group.open(self.directory, role="main") as group,
            await aio.Group.open(self.directory, role="main") as other,
            aio.Main(group, PlainCore) as main,
        ):
            await asyncio.wait_for(main.wait_until_started(), 60)
            async with aio.Main(other, PlainCore) as second:
                for call in (second.wait_until_started, second.wait_until_ended):
                    with self.assertRaises(sharedcore.RefusedError):
                        await asyncio.wait_for(call(), 60)
                with self.assertRaises(sharedcore.ClosedError):
                    await asyncio.wait_for(second.resume(), 30)

    @unittest.skipUnless(PROGRAM, "SHAREDCORE_PROGRAM names the built program")
    async def test_pushes(self) -> None:
        async def follow() -> None:
            async for taken in pushes:
                # The first one is given back once, and comes again.
                if not found:
                    await taken.give_back()
                else:
                    self.assertTrue(await taken.acknowledge())
                # Behind the call: the test ends the Main when all are there.
                found.append(taken.push)

        found: list[Push] = []
        async with await aio.Group.open(self.directory, role="main") as group:
            async with aio.Main(group, PlainCore) as main:
                await asyncio.wait_for(main.wait_until_started(), 60)
                pushes = await main.pushes()
                # A task that is cancelled takes none.
                waiting = asyncio.create_task(anext(pushes))
                await asyncio.sleep(0.05)
                waiting.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await waiting
                following = asyncio.create_task(follow())
                await asyncio.to_thread(push, self.folder, "1", b"\0\xff")
                await self.until(lambda: len(found) == 2)
                await asyncio.to_thread(push, self.folder, "2", b"")
                await self.until(lambda: len(found) == 3)
            # They end with the Main.
            await asyncio.wait_for(following, 60)
            pushes.close()
        first = Push("1", "call", "work", b"\0\xff")
        self.assertEqual(found, [first, first, Push("2", "call", "work", b"")])


if __name__ == "__main__":
    unittest.main()
