"""Rests, batons, critical sections and pushes of participants in Python."""

import os
import socket
import tempfile
import threading
import time
import unittest

import sharedcore
from sharedcore import (
    Baton, BatonEnd, Call, CoreContext, Executor, Group, Holder, Main, Message, OpenCall, Push, StopRequest,
)
from program import PROGRAM, push


class PlainCore:
    """A core that stays registered in a rest, and notes what it is told."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.context: CoreContext | None = None

    def start(self, context: CoreContext) -> None:
        self.context = context

    def stop(self, request: StopRequest) -> None:
        self.events.append("stop " + request.reason)


class QuietCore(PlainCore):
    def rest(self) -> None:
        self.events.append("rest")

    def resume(self, wake: str) -> None:
        self.events.append("resume " + wake)


class LineCore(PlainCore):
    """A core whose one call moves with its socket."""

    def __init__(self) -> None:
        super().__init__()
        self.call: OpenCall | None = None
        self.line: socket.socket | None = None
        self.ended = threading.Event()

    def start(self, context: CoreContext) -> None:
        super().start(context)
        if context.baton is not None:
            self.events.append(f"{context.baton.kind} {context.baton.data!r} {context.baton.calls}")
            [descriptor] = context.baton.take_descriptors()
            self.line = socket.socket(fileno=descriptor)
            self.call = context.baton.apply()["call-1"]

    def hand_over(self, request: StopRequest) -> Baton | None:
        self.events.append(f"hand over {request.takes} {request.reach}")
        return Baton("line/1", b"a\0b", ["call-1"], [self.line.fileno()])

    def baton_ended(self, end: BatonEnd) -> None:
        self.events.append(f"{end.kind} {end.is_own}")
        self.line.close()
        self.ended.set()


class MainTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.directory = os.path.join(folder.name, "group")

    def test_rest(self) -> None:
        core = QuietCore()
        with (
            Group(self.directory, role="main") as group,
            Group(self.directory, role="holder") as other,
            Main(group, lambda: core) as main,
        ):
            main.wait_until_started(60)
            with self.assertRaises(sharedcore.SharedCoreError) as caught:
                main.rest()
            self.assertEqual(caught.exception.name, "unavailable")
            with Holder(other):
                deadline = time.monotonic() + 60
                # The Main learns of the holder by its watch.
                while True:
                    try:
                        main.rest()
                        break
                    except sharedcore.SharedCoreError as error:
                        self.assertEqual(error.name, "unavailable")
                        self.assertLess(time.monotonic(), deadline)
                        core.events.clear()
                main.resume()
            self.assertEqual(core.events, ["rest", "resume user"])

    def test_two_rests_at_once(self) -> None:
        """Each has an answer."""
        told, quiet = threading.Event(), threading.Event()

        class SlowCore(QuietCore):
            def rest(self) -> None:
                told.set()
                quiet.wait(60)

        def rest() -> None:
            try:
                main.rest()
            except sharedcore.SharedCoreError as error:
                answers.append(error.name)
            else:
                answers.append("rested")

        answers: list[str] = []
        with (
            Group(self.directory, role="main") as group,
            Group(self.directory, role="holder") as other,
            Holder(other),
            Main(group, SlowCore) as main,
        ):
            main.wait_until_started(60)
            threads = [threading.Thread(target=rest, daemon=True) for _ in range(2)]
            threads[0].start()
            self.assertTrue(told.wait(60), answers)
            threads[1].start()
            time.sleep(0.1)
            quiet.set()
            for thread in threads:
                thread.join(30)
            self.assertEqual(sorted(answers), ["refused", "rested"])

    def test_core_that_cannot_rest(self) -> None:
        with Group(self.directory, role="main") as group, Main(group, PlainCore) as main:
            main.wait_until_started(60)
            with self.assertRaises(sharedcore.SharedCoreError) as caught:
                main.rest()
            self.assertEqual(caught.exception.name, "unsupported")

    def test_call_moves(self) -> None:
        first, second = LineCore(), LineCore()
        first.line, other_end = socket.socketpair()
        self.addCleanup(other_end.close)
        with (
            Group(self.directory, role="executor") as group,
            Group(self.directory, role="main") as other,
            Executor(group, lambda: first) as executor,
        ):
            waiting = executor.ask("none", timeout=120)
            while first.context is None:
                time.sleep(0.005)
            call = first.context.begin_call(Call("call-1", state="answered"))
            call.set_moves("line/1")
            with Main(
                other, lambda: second, takes_batons=["line/1"], handover_timeout=60, handover_maximum_timeout=60
            ) as main:
                main.wait_until_started(60)
                self.assertTrue(first.ended.wait(20), (first.events, second.events))
                self.assertEqual(first.events, ["hand over ('line/1',) descriptors", "applied False"])
                self.assertEqual(second.events, ["line/1 b'a\\x00b' ('call-1',)"])
                second.line.sendall(b"x")
                self.assertEqual(other_end.recv(1), b"x")
                second.call.end("hungUp")
                second.line.close()
                self.assertEqual([call.end_reason for call in other.calls()], ["hungUp"])
            self.assertFalse(waiting.done() and waiting.exception() is None)

    def test_core_that_refuses_a_baton(self) -> None:
        """The calls are over, and the former owner ends them."""

        class RefusingCore(PlainCore):
            def start(self, context: CoreContext) -> None:
                context.baton.refuse("no line")
                try:
                    context.baton.apply()
                except sharedcore.GuardFailedError:
                    refused.set()

        refused = threading.Event()
        first = LineCore()
        first.line, other_end = socket.socketpair()
        self.addCleanup(other_end.close)
        with (
            Group(self.directory, role="executor") as group,
            Group(self.directory, role="main") as other,
            Executor(group, lambda: first) as executor,
        ):
            executor.ask("none", timeout=120)
            while first.context is None:
                time.sleep(0.005)
            call = first.context.begin_call(Call("call-1", state="answered"))
            call.set_moves("line/1")
            with Main(other, RefusingCore, takes_batons=["line/1"], handover_timeout=60, handover_maximum_timeout=60) as main:
                main.wait_until_started(60)
                self.assertTrue(first.ended.wait(20), first.events)
                self.assertTrue(refused.is_set())
                self.assertEqual(first.events[-1], "failed True")
                self.assertEqual([call.end_reason for call in other.calls()], ["lost"])

    def test_core_that_gives_a_wrong_baton(self) -> None:
        """It is told that the baton was refused, and the thread of the participant goes on."""

        class ConfusedCore(LineCore):
            def hand_over(self, request: StopRequest) -> Baton | None:
                return Baton("line/1", b"a", ["call-1"], [self.line])

        first = ConfusedCore()
        first.line, other_end = socket.socketpair()
        self.addCleanup(other_end.close)
        with (
            Group(self.directory, role="executor") as group,
            Group(self.directory, role="main") as other,
            Executor(group, lambda: first) as executor,
        ):
            executor.ask("none", timeout=120)
            while first.context is None:
                time.sleep(0.005)
            first.context.begin_call(Call("call-1", state="answered")).set_moves("line/1")
            with self.assertLogs("sharedcore", "ERROR"):
                with Main(other, PlainCore, takes_batons=["line/1"], handover_timeout=60, handover_maximum_timeout=60) as main:
                    main.wait_until_started(60)
                    self.assertTrue(first.ended.wait(20), first.events)
                    self.assertEqual(first.events[-1], "refused True")

    def test_message_for_a_cancelled_future_is_given_back(self) -> None:
        core = PlainCore()
        with (
            Group(self.directory, role="main") as group,
            Group(self.directory, role="executor") as other,
            Group(self.directory, role="executor") as third,
            Main(group, lambda: core) as main,
            Executor(other, PlainCore) as executor,
            Executor(third, PlainCore) as next_executor,
        ):
            main.wait_until_started(60)
            self.assertTrue(executor.ask("7", timeout=60).cancel())
            core.context.deliver(Message("7", text="hello"))
            self.assertEqual(next_executor.message("7", timeout=60).message.text, "hello")

    def test_options(self) -> None:
        with Group(self.directory, role="main") as group:
            with self.assertRaises(TypeError):
                Main(group, PlainCore, takes_baton=["line/1"])
            with self.assertRaises(sharedcore.SharedCoreError) as caught:
                Main(group, PlainCore, takes_batons=["Not A Kind"])
            self.assertEqual(caught.exception.name, "invalidArgument")

    def test_critical_section(self) -> None:
        core = PlainCore()
        with Group(self.directory, role="main") as group, Main(group, lambda: core) as main:
            main.wait_until_started(60)
            with core.context.critical_section(60):
                with self.assertRaises(sharedcore.GuardFailedError):
                    with core.context.critical_section(60):
                        self.fail("A core is in one section at a time.")
            with core.context.critical_section(60):
                pass

    @unittest.skipUnless(PROGRAM, "SHAREDCORE_PROGRAM names the built program")
    def test_pushes(self) -> None:
        with Group(self.directory, role="main") as group, Main(group, PlainCore) as main:
            main.wait_until_started(60)
            pushes = main.pushes()
            self.assertIsNone(pushes.next(timeout=0.05))
            push(self.folder, "1", b"\0\xff")
            taken = pushes.next(timeout=60)
            self.assertEqual(taken.push, Push("1", "call", "work", b"\0\xff"))
            taken.give_back()
            taken = pushes.next(timeout=60)
            self.assertTrue(taken.acknowledge())
            with self.assertRaises(sharedcore.HandleError):
                taken.acknowledge()
            push(self.folder, "2", b"")
            self.assertEqual(next(pushes).push.call_id, "2")
            main.close()
            self.assertEqual(list(pushes), [])
            pushes.close()


if __name__ == "__main__":
    unittest.main()
