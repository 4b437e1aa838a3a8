"""Requests with replies; calls and activities of a core, seen and commanded by another participant."""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import sharedcore
from sharedcore import Call, CoreContext, Executor, Group, Main, StopRequest, aio

PROGRAM = os.environ.get("SHAREDCORE_PROGRAM")


class Telephone:
    """A core that begins one call and carries out its commands on a thread."""

    def start(self, context: CoreContext) -> None:
        call = context.begin_call(Call("c-1", sender="ann", recipient="bob", video=True, state="ringing"))
        context.begin_activity("sync", "1", bound=60).end()
        self.thread = threading.Thread(target=self.follow, args=[call])
        self.thread.start()

    def follow(self, call: sharedcore.OpenCall) -> None:
        for command in call:
            if command.kind == "answer":
                call.change("answered")
                call.change_media(audio=True, video=False)
                command.accept()
            elif command.kind == "hangUp":
                command.accept()
                call.end("hungUp")
                return
            else:
                command.refuse("not now")

    def stop(self, request: StopRequest) -> None:
        pass


class CallTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = os.path.join(folder.name, "group")

    def test_requests(self) -> None:
        def answer(group: Group) -> None:
            with group.responder("double", codec="json") as responder:
                ready.set()
                for _ in range(2):
                    request = responder.take(timeout=30)
                    number = json.loads(request.message)
                    done = request.reply(json.dumps(number * 2).encode()) if number else request.refuse("zero")
                    self.assertTrue(done)
                    with self.assertRaises(sharedcore.HandleError):
                        request.reply(b"")

        ready = threading.Event()
        with Group(self.directory) as group, Group(self.directory) as other:
            with self.assertRaises(sharedcore.WaitTimeoutError):
                group.request("double", b"1", timeout=0.05)
            thread = threading.Thread(target=answer, args=[other])
            thread.start()
            ready.wait()
            self.assertEqual(group.request("double", b"21", timeout=30, codec="json"), b"42")
            with self.assertRaises(sharedcore.RefusedError) as caught:
                group.request("double", b"0", timeout=30, codec="json")
            self.assertEqual(caught.exception.message, "zero")
            thread.join()

    def test_asyncio_requests(self) -> None:
        async def exchange() -> bytes:
            async with await aio.Group.open(self.directory) as group:
                with await group.responder("echo") as responder:

                    async def answer() -> None:
                        request = await responder.take()
                        await request.reply(request.message)

                    task = asyncio.create_task(answer())
                    reply = await group.request("echo", b"hello", timeout=30)
                    await task
                    return reply

        self.assertEqual(asyncio.run(exchange()), b"hello")

    def test_calls(self) -> None:
        with Group(self.directory, role="main") as own, Group(self.directory) as group:
            changes = group.watch_calls()
            self.assertEqual(next(changes), ())
            with Main(own, Telephone) as main:
                main.wait_until_started(60)
                call = next(changes)[0]
                self.assertEqual((call.id, call.sender, call.state, call.video), ("c-1", "ann", "ringing", True))
                self.assertEqual(call.holder, own.session)
                group.command("c-1", "answer", timeout=30)
                answered = group.calls()[0]
                self.assertIsNotNone(answered.answered)
                self.assertEqual((answered.audio, answered.video), (True, False))
                with self.assertRaises(sharedcore.RefusedError) as caught:
                    group.command("c-1", "hold", timeout=30)
                self.assertIn("not now", caught.exception.message)
                group.command("c-1", "hangUp", timeout=30)
                for calls in changes:
                    if calls[0].end_reason:
                        break
                self.assertEqual((calls[0].state, calls[0].end_reason), ("ended", "hungUp"))
                with self.assertRaises(sharedcore.SharedCoreError) as missing:
                    group.command("c-1", "hold")
                self.assertEqual(missing.exception.name, "notFound")
                self.assertTrue(group.acknowledge_call("c-1"))
                self.assertEqual(group.calls(), ())
            changes.close()

    def test_command_after_an_error_of_the_store(self) -> None:
        """A command that the core could not take, because no file could grow, is taken by a later call."""
        program = """if True:
            import sys
            from sharedcore import Group
            with Group(sys.argv[1]) as group:
                print("ready", flush=True)
                sys.stdin.readline()
                group.command("c-1", "answer", timeout=60)
        """
        calls: list[sharedcore.OpenCall] = []

        class Core:
            def start(self, context: CoreContext) -> None:
                calls.append(context.begin_call(Call("c-1", state="ringing")))

            def stop(self, request: StopRequest) -> None:
                pass

        with Group(self.directory, role="main") as own, Main(own, Core) as main:
            main.wait_until_started(60)
            [call] = calls
            self.assertIsNone(call.next(0))
            with subprocess.Popen(
                [sys.executable, "-c", program, self.directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            ) as sender:
                self.assertEqual(sender.stdout.readline(), "ready\n")
                former = resource.getrlimit(resource.RLIMIT_FSIZE)
                resource.setrlimit(resource.RLIMIT_FSIZE, (0, former[1]))
                try:
                    sender.stdin.write("\n")
                    sender.stdin.flush()
                    with self.assertRaises(sharedcore.SharedCoreError) as caught:
                        call.next(30)
                finally:
                    resource.setrlimit(resource.RLIMIT_FSIZE, former)
                self.assertIn(caught.exception.name, ("storageFull", "system"))
                command = self.next_command(call)
                self.assertEqual(command.kind, "answer")
                command.accept()
                self.assertEqual(sender.wait(60), 0)

    def next_command(self, call: sharedcore.OpenCall) -> sharedcore.Command:
        """Takes a command, and tries again after an error, which was found before the files could grow."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                command = call.next(60)
            except sharedcore.SharedCoreError:
                continue
            self.assertIsNotNone(command, "the commands have ended")
            return command
        self.fail("no command")

    def test_lost_call(self) -> None:
        with Group(self.directory, role="main") as own, Group(self.directory) as group:
            with Main(own, Telephone) as main:
                main.wait_until_started(60)
            self.assertEqual(group.calls()[0].end_reason, "lost")

    def test_executor_with_activity(self) -> None:
        """An activity keeps the core past its budget, until it ends."""
        events: list[str] = []
        activities: list[sharedcore.Activity] = []

        class Core:
            def start(self, context: CoreContext) -> None:
                activities.append(context.begin_activity("sync", "1", bound=60))

            def stop(self, request: StopRequest) -> None:
                events.append(request.reason)

        with Group(self.directory, role="executor") as group:
            with Executor(group, Core, executor_budget=0.3) as executor:
                future = executor.ask("none", timeout=60)
                with self.assertRaises(TimeoutError):
                    future.result(1.5)
                self.assertEqual(events, [])
                activities[0].end()
                for _ in range(600):
                    if events:
                        break
                    threading.Event().wait(0.05)
                self.assertEqual(events, ["budget"])

    @unittest.skipUnless(PROGRAM, "SHAREDCORE_PROGRAM names the built program")
    def test_calls_beside_the_program(self) -> None:
        """The program lists a call of a core in Python, and commands it."""
        folder, name = os.path.split(self.directory)
        flags = ["--state-directory", folder, "--group", name]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SHAREDCORE_")}
        environment["SHAREDCORE_CONFIG"] = "/dev/null"

        def run(*words: str) -> str:
            done = subprocess.run([PROGRAM, *words, *flags], env=environment, check=True, stdout=subprocess.PIPE, text=True)
            return done.stdout

        with Group(self.directory, role="main") as own, Main(own, Telephone) as main:
            main.wait_until_started(60)
            self.assertIn("c-1", run("calls", "list"))
            run("calls", "answer", "c-1")
            self.assertEqual(own.calls()[0].state, "answered")


if __name__ == "__main__":
    unittest.main()
