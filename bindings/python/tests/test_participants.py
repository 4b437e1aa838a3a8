"""Main and Executor with cores in Python, of several processes."""

import asyncio
import ctypes
import multiprocessing
import os
import select
import signal
import tempfile
import threading
import time
import unittest
from unittest import mock

import sharedcore
from sharedcore import CoreContext, Executor, Group, Main, Message, StopRequest, aio
from sharedcore._library import call, library
from sharedcore.participants import open_participant


class MailCore:
    """A core whose server is what was put under "server": it delivers all of that at its start."""

    runs = 0

    def __init__(self, events: list[str]) -> None:
        self.events = events

    def start(self, context: CoreContext) -> None:
        self.events.append("start")
        with context.group() as group:
            for entry in group.list("server").entries:
                context.deliver(Message(entry.key.removeprefix("server/"), sender="ann", text=entry.value.decode()))

    def stop(self, request: StopRequest) -> None:
        self.events.append("stop " + request.reason)


class FailingCore:
    def start(self, context: CoreContext) -> None:
        raise OSError("no network")

    def stop(self, request: StopRequest) -> None:
        pass


def run_main(directory: str, ready: "multiprocessing.synchronize.Event") -> None:
    """Owns until it is killed, with a core that delivers nothing."""

    class IdleCore:
        def start(self, context: CoreContext) -> None:
            pass

        def stop(self, request: StopRequest) -> None:
            pass

    with Group(directory, role="main", name="first") as group, Main(group, IdleCore) as main:
        main.wait_until_started(60)
        ready.set()
        threading.Event().wait()


class ParticipantTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = os.path.join(folder.name, "group")

    def test_main_and_executor(self) -> None:
        events: list[str] = []
        with Group(self.directory, role="main") as group, Group(self.directory, role="executor") as other:
            group.put("server/7", b"hello")
            with Main(group, lambda: MailCore(events)) as main:
                main.wait_until_started(60)
                with Executor(other, lambda: MailCore(events)) as executor:
                    result = executor.message("7", timeout=30)
                    self.assertEqual(result.message, Message("7", sender="ann", text="hello"))
                    self.assertFalse(result.from_core)
                    self.assertTrue(result.acknowledge())
                    executor.finish()
                    with self.assertRaises(sharedcore.WaitTimeoutError):
                        executor.message("8", timeout=0.05)
            self.assertEqual(events, ["start", "stop closing"])

    def test_dropped_result_is_closed(self) -> None:
        """Its message stays taken, and the library keeps nothing of it."""
        with Group(self.directory, role="main") as group, Group(self.directory, role="executor") as other:
            group.put("server/7", b"hello")
            with Main(group, lambda: MailCore([])) as main, Executor(other, lambda: MailCore([])) as executor:
                main.wait_until_started(60)
                future = executor.ask("7", timeout=30)
                handle = future.result(60)._taken._handle
                closed: list[int] = []
                close = library.sc_close
                with mock.patch.object(library, "sc_close", lambda handle: (closed.append(handle), close(handle))[1]):
                    del future
                    # The thread of the participant drops its event soon after.
                    deadline = time.monotonic() + 30
                    while handle not in closed:
                        self.assertLess(time.monotonic(), deadline)
                        time.sleep(0.005)
                self.assertEqual(group.message_state("7").state, "taken")

    def test_untaken_result_is_given_back(self) -> None:
        """A participant that is closed with a message in an event gives it back: its session goes on."""
        with Group(self.directory, role="main") as group, Group(self.directory, role="executor") as first:
            group.put("server/7", b"hello")
            with Main(group, lambda: MailCore([])) as main:
                main.wait_until_started(60)
                handle, descriptor = open_participant("sc_executor_open", first), ctypes.c_int32()
                call("sc_executor_ask", handle, b"7", None, 30000, None)
                call("sc_descriptor", handle, ctypes.byref(descriptor))
                self.assertTrue(select.select([descriptor.value], [], [], 30)[0])
                library.sc_close(handle)
                with Group(self.directory, role="executor") as second:
                    with Executor(second, lambda: MailCore([])) as executor:
                        self.assertEqual(executor.message("7", timeout=5).message.text, "hello")

    def test_second_main_is_refused(self) -> None:
        events: list[str] = []
        with Group(self.directory, role="main") as group, Group(self.directory, role="main") as other:
            with Main(group, lambda: MailCore(events)) as main:
                main.wait_until_started(60)
                with Main(other, lambda: MailCore(events)) as second:
                    with self.assertRaises(sharedcore.RefusedError):
                        second.wait_until_started(60)
                    with self.assertRaises(sharedcore.RefusedError):
                        second.wait_until_ended(60)
                    second._thread.join(60)
                    # No event answers any more.
                    with self.assertRaises(sharedcore.ClosedError):
                        second.resume()

    def test_core_that_fails(self) -> None:
        with Group(self.directory, role="main") as group, Main(group, FailingCore) as main:
            with self.assertRaises(sharedcore.SharedCoreError) as caught:
                main.wait_until_started(60)
            self.assertEqual(caught.exception.name, "coreFailed")
            self.assertIn("no network", caught.exception.message)

    def test_core_whose_stop_fails(self) -> None:
        """It has stopped all the same, and its participant hears of what comes after."""

        class StubbornCore(MailCore):
            def stop(self, request: StopRequest) -> None:
                raise OSError("no network")

        with Group(self.directory, role="executor") as group:
            group.put("server/1", b"x")
            with Executor(group, lambda: StubbornCore([])) as executor:
                executor.message("1", timeout=30).acknowledge()
                with self.assertLogs("sharedcore", "ERROR"):
                    executor.finish()
                with self.assertRaises(sharedcore.WaitTimeoutError):
                    executor.message("8", timeout=0.05)

    def test_each_finish_waits(self) -> None:
        """Also a later one waits for the core that runs then."""
        events: list[str] = []

        class SlowCore(MailCore):
            def stop(self, request: StopRequest) -> None:
                threading.Event().wait(0.1)
                super().stop(request)

        with Group(self.directory, role="executor") as group, Executor(group, lambda: SlowCore(events)) as executor:
            for call_id in ("1", "2"):
                events.clear()
                group.put("server/" + call_id, b"x")
                executor.message(call_id, timeout=30).acknowledge()
                executor.finish()
                self.assertEqual(events, ["start", "stop served"])

    def test_core_that_fails_while_it_runs(self) -> None:
        """It is told to stop, its Main starts the next one, and the timeline has the reason."""
        contexts: list[CoreContext] = []
        reasons: list[str] = []

        class Core:
            def start(self, context: CoreContext) -> None:
                contexts.append(context)

            def stop(self, request: StopRequest) -> None:
                reasons.append(request.reason)

        with Group(self.directory, role="main") as group, Main(group, Core) as main:
            main.wait_until_started(60)
            contexts[0].fail("the server is gone")
            deadline = time.monotonic() + 60
            while len(contexts) < 2:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.005)
            self.assertEqual(reasons, ["failed"])
            self.assertGreater(contexts[1].epoch, contexts[0].epoch)
            sentences = [entry.sentence for entry in group.timeline().entries]
            self.assertTrue(any("the server is gone" in sentence for sentence in sentences), sentences)

    def test_executor_that_insists(self) -> None:
        """A core of its own has to run, also when the inbox has the message; it is refused while a Main owns."""
        events: list[str] = []
        with Group(self.directory, role="main") as group, Group(self.directory, role="executor") as other:
            group.put("server/7", b"hello")
            with Executor(other, lambda: MailCore(events)) as executor:
                with Main(group, lambda: MailCore(events)) as main:
                    main.wait_until_started(60)
                    with self.assertRaises(sharedcore.RefusedError):
                        executor.ask("7", timeout=60, insists=True).result(60)
                self.assertEqual(events, ["start", "stop closing"])
                self.assertEqual(executor.message("7", timeout=30).kind, "message")
                self.assertEqual(events, ["start", "stop closing"])
                executor.ask("7", timeout=30, insists=True)
                deadline = time.monotonic() + 60
                while len(events) < 3:
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.005)
                self.assertEqual(events[2], "start")

    def test_main_takes_over(self) -> None:
        events: list[str] = []
        with Group(self.directory, role="main") as group, Group(self.directory, role="main") as other:
            with Main(group, lambda: MailCore(events), handover_timeout=60, handover_maximum_timeout=60) as main:
                main.wait_until_started(60)
                with Main(
                    other, lambda: MailCore(events), handover_timeout=60, handover_maximum_timeout=60, takes_over=True
                ) as second:
                    second.wait_until_started(60)
                    self.assertEqual(events, ["start", "stop handover", "start"])
                    with self.assertRaises(sharedcore.SharedCoreError) as caught:
                        main.wait_until_ended(60)
                    self.assertEqual(caught.exception.name, "superseded")

    def test_main_that_insists(self) -> None:
        """It does not wait for the activities of the owner; one that does not insist waits."""
        contexts: list[CoreContext] = []

        class Core(MailCore):
            def start(self, context: CoreContext) -> None:
                super().start(context)
                contexts.append(context)

        for insists in (False, True):
            with (
                self.subTest(insists=insists),
                Group(self.directory, role="executor") as group,
                Group(self.directory, role="main") as other,
                Executor(group, lambda: Core([])) as executor,
            ):
                contexts.clear()
                executor.ask("none", timeout=120)
                while not contexts:
                    time.sleep(0.005)
                activity = contexts[0].begin_activity("sync", "1", bound=60)
                with Main(other, lambda: MailCore([]), insists=insists) as main:
                    if insists:
                        main.wait_until_started(30)
                    else:
                        with self.assertRaises(TimeoutError):
                            main.wait_until_started(1)
                        activity.end()
                        main.wait_until_started(30)

    def test_executor_hands_over_to_main(self) -> None:
        events: list[str] = []
        with Group(self.directory, role="executor") as group, Group(self.directory, role="main") as other:
            group.put("server/1", b"x")
            with Executor(group, lambda: MailCore(events), core_linger=60) as executor:
                result = executor.message("1", timeout=30)
                self.assertTrue(result.from_core)
                result.acknowledge()
                with Main(other, lambda: MailCore(events)) as main:
                    main.wait_until_started(60)
            self.assertEqual(events, ["start", "stop handover", "start", "stop closing"])

    def test_executor_takes_over_from_killed_main(self) -> None:
        context = multiprocessing.get_context("spawn")
        ready = context.Event()
        process = context.Process(target=run_main, args=[self.directory, ready])
        process.start()
        self.addCleanup(process.join)
        self.addCleanup(process.kill)
        self.assertTrue(ready.wait(60))
        events: list[str] = []
        with Group(self.directory, role="executor") as group:
            group.put("server/9", b"after")
            with Executor(group, lambda: MailCore(events)) as executor:
                future = executor.ask("9", timeout=60)
                os.kill(process.pid, signal.SIGKILL)
                result = future.result(60)
                self.assertEqual(result.message.text, "after")
                self.assertTrue(result.from_core)
                result.acknowledge()
                executor.finish()
        self.assertEqual(events, ["start", "stop served"])

    def test_asyncio(self) -> None:
        events: list[str] = []

        class Core:
            async def start(self, context: aio.CoreContext) -> None:
                events.append("start")
                message = Message("5", text="over asyncio", body=b"\0\1")
                await context.deliver(message)

            async def stop(self, request: StopRequest) -> None:
                events.append("stop " + request.reason)

        async def story() -> Message:
            async with (
                await aio.Group.open(self.directory, role="main") as group,
                await aio.Group.open(self.directory, role="executor") as other,
                aio.Main(group, Core) as main,
                aio.Executor(other, Core) as executor,
            ):
                await asyncio.wait_for(main.wait_until_started(), 60)
                result = await executor.message("5", timeout=30)
                await result.acknowledge()
                await executor.finish()
                return result.message

        found = asyncio.run(story())
        self.assertEqual((found.text, found.body), ("over asyncio", b"\0\1"))
        self.assertEqual(events, ["start", "stop closing"])


if __name__ == "__main__":
    unittest.main()
