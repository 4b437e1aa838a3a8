"""The status and the timeline of a group, and a reader that leaves no trace."""

import asyncio
import os
import tempfile
import time
import unittest

import sharedcore
from program import PROGRAM, program_status, push
from sharedcore import CallCounts, CoreContext, Executor, Group, Holder, Main, PushCounts, StopRequest, aio


class BusyCore:
    """A core with an activity, which a Main waits for."""

    def __init__(self) -> None:
        self.activity: sharedcore.Activity | None = None

    def start(self, context: CoreContext) -> None:
        self.activity = context.begin_activity("sync", "nine", bound=60)
        context.report("a letter has no sender")

    def stop(self, request: StopRequest) -> None:
        pass


class QuietCore:
    """A core that can rest."""

    def start(self, context: CoreContext) -> None:
        self.context = context

    def stop(self, request: StopRequest) -> None:
        pass

    def rest(self) -> None:
        pass

    def resume(self, wake: str) -> None:
        pass


class StatusTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = os.path.join(folder.name, "group")

    def eventually(self, condition) -> None:
        deadline = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_owners(self) -> None:
        core = BusyCore()
        with (
            Group(self.directory, role="executor", name="push") as group,
            Group(self.directory, role="main", name="chat") as other,
            Group(self.directory, read_only=True) as reader,
        ):
            status = reader.status()
            self.assertEqual((status.owner, status.asked, status.activities), (None, None, ()))
            self.assertEqual(
                [(each.session, each.role, each.name) for each in status.sessions],
                [(group.session, "executor", "push"), (other.session, "main", "chat")],
            )
            self.assertEqual(reader.timeline().entries, ())
            with Executor(group, lambda: core) as executor:
                future = executor.ask("id", timeout=60)
                self.eventually(lambda: (owner := reader.status().owner) and owner.state == "running")
                with Main(other, BusyCore) as main:
                    self.eventually(lambda: reader.status().asked)
                    status = reader.status()
                    owner, asked, activity = status.owner, status.asked, status.activities[0]
                    self.assertEqual((owner.session, owner.role, owner.name), (group.session, "executor", "push"))
                    self.assertEqual((owner.process.pid, len(owner.process.boot_id)), (os.getpid(), 32))
                    now = time.clock_gettime(time.CLOCK_BOOTTIME)
                    self.assertTrue(now - 600 < owner.since <= asked.since <= now)
                    self.assertEqual((asked.session, asked.name), (other.session, "chat"))
                    self.assertEqual((asked.process.pid, asked.takes_over, asked.insists), (os.getpid(), False, False))
                    self.assertEqual((activity.kind, activity.id, activity.expected_end), ("sync", "nine", None))
                    self.assertAlmostEqual(activity.latest_end, activity.begun + 60)
                    core.activity.end()
                    main.wait_until_started(60)
                    self.assertEqual(reader.status().owner.session, other.session)
                    future.cancel()
            entries = reader.timeline().entries
            paged, page = [], reader.timeline(limit=1)
            while page.next:
                paged += page.entries
                page = reader.timeline(after=page.next, limit=1)
            self.assertEqual((*paged, *page.entries), entries)
            # The Executor, whose call still waits, owns again after Main.
            first, second = [entry for entry in entries if entry.event == "acquired"][:2]
            self.assertEqual((first.role, first.epoch, first.previous_end), ("executor", owner.epoch, None))
            self.assertEqual((second.role, second.previous_epoch, second.previous_end), ("main", owner.epoch, "released"))
            self.assertIn("owns the core now", first.sentence)
            request = next(entry for entry in entries if entry.event == "asked")
            self.assertEqual((request.other, request.epoch, request.name), (owner.epoch, None, "chat"))
            self.assertGreater(request.bound, 0)
            problem = next(entry for entry in entries if entry.event == "problem")
            self.assertEqual((problem.reason, problem.bound), ("a letter has no sender", None))
            states = [(entry.before, entry.after) for entry in entries if entry.event == "stateChanged"]
            self.assertEqual(states[:2], [("starting", "running"), ("running", "stopping")])

    def test_rest_calls_and_pushes(self) -> None:
        """A Main that rests, the number of calls, and that of pushes: as ``sharedcore status --json`` has them."""
        folder = os.path.dirname(self.directory)
        core = QuietCore()
        with (
            Group(self.directory, role="main", name="chat") as group,
            Group(self.directory, role="holder", name="light") as other,
            Group(self.directory, read_only=True) as reader,
            Holder(other),
            Main(group, lambda: core) as main,
        ):
            main.wait_until_started(60)
            status = reader.status()
            self.assertEqual((status.rest, status.calls), (None, CallCounts(0, 0, 0)))
            self.assertEqual(status.pushes, PushCounts(0, 0, 0, 0))
            call = core.context.begin_call(sharedcore.Call("c-1", state="answered"))
            self.assertEqual(reader.status().calls, CallCounts(1, 0, 0))
            call.end("hungUp")
            self.assertEqual(reader.status().calls, CallCounts(0, 0, 1))
            deadline = time.monotonic() + 60
            while True:
                try:
                    main.rest()
                    break
                except sharedcore.SharedCoreError as error:
                    # The Main has not learned of the holder, or of the call's end, yet.
                    if error.name not in ("unavailable", "refused") or time.monotonic() > deadline:
                        raise
            status = reader.status()
            rest = status.rest
            self.assertEqual((rest.session, rest.name, rest.wake), (group.session, "chat", None))
            self.assertEqual((rest.process.pid, rest.holder.pid, rest.epoch), (os.getpid(), os.getpid(), status.owner.epoch))
            self.assertEqual(status.owner.session, other.session)
            if PROGRAM:
                self.assertEqual(program_status(folder)["rest"]["name"], "chat")
            main.resume()
            self.assertIsNone(reader.status().rest)
            if PROGRAM:
                push(folder, "7", b"")
                # The Main has begun to take none.
                self.assertEqual(reader.status().pushes, PushCounts(0, 0, 0, 1))
                shown = program_status(folder)
                self.assertEqual(
                    shown["pushes"], {"waiting": 0, "taken": 0, "givenUp": 0, "forMain": 1, "paused": False})
                self.assertEqual(shown["calls"], {"open": 0, "moving": 0, "ended": 1})

    def test_reader_leaves_no_trace(self) -> None:
        with self.assertRaises(sharedcore.SharedCoreError) as caught:
            Group(self.directory, read_only=True)
        self.assertEqual(caught.exception.name, "unavailable")
        self.assertFalse(os.path.exists(self.directory))
        with Group(self.directory) as group:
            group.put("a", b"1")
        state = os.path.dirname(self.directory)
        for open_reader in (
            lambda: Group(self.directory, role="main", read_only=True),
            lambda: Group.configured(
                {"stateDirectory": state, "group": "group"}, file="/dev/null", role="main", read_only=True
            ),
        ):
            before = self.files()
            with open_reader() as reader:
                self.assertEqual(reader.session, 0)
                self.assertEqual(reader.get("a").value, b"1")
                self.assertEqual(reader.status().sessions, ())
                self.assertEqual(reader.timeline().entries, ())
                self.assertEqual(reader.inbox().messages, ())
                with self.assertRaises(sharedcore.SharedCoreError) as caught:
                    reader.put("a", b"2")
                self.assertEqual(caught.exception.name, "forbidden")
                with self.assertRaises(sharedcore.SharedCoreError) as caught:
                    Main(reader, BusyCore)
                self.assertEqual(caught.exception.name, "forbidden")
            self.assertEqual(self.files(), before)

    def files(self) -> dict[str, tuple[int, int]]:
        """The sizes and times of all files of the group."""
        paths = [os.path.join(folder, name) for folder, _, names in os.walk(self.directory) for name in [*names, "."]]
        return {path: (os.stat(path).st_size, os.stat(path).st_mtime_ns) for path in paths}

    def test_asyncio(self) -> None:
        async def story() -> None:
            async with await aio.Group.open(self.directory, name="async") as group:
                self.assertEqual([each.name for each in (await group.status()).sessions], ["async"])
                self.assertEqual((await group.timeline()).entries, ())

        asyncio.run(story())


if __name__ == "__main__":
    unittest.main()
