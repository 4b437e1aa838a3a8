"""Groups over a hub that is away for a while: what was begun for a cancelled task ends all the same, and other groups go on."""

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from collections.abc import Callable
from typing import Any
from unittest import mock

import sharedcore
from program import PROGRAM
from sharedcore import Call, StopRequest, aio, calls, participants
from sharedcore import group as groups
from sharedcore._library import call


class AsyncCore:
    """A core that keeps its context."""

    def __init__(self) -> None:
        self.context: aio.CoreContext | None = None

    async def start(self, context: aio.CoreContext) -> None:
        self.context = context

    async def stop(self, request: StopRequest) -> None:
        pass


@unittest.skipUnless(PROGRAM, "SHAREDCORE_PROGRAM names the built program")
class HubCase(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.endpoint = f"ipc://{self.folder}/hub"
        self.hub: subprocess.Popen[bytes] | None = None
        self.start_hub()
        self.addCleanup(self.kill_hub)

    def start_hub(self) -> None:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SHAREDCORE_")}
        environment |= {
            "SHAREDCORE_CONFIG": "/dev/null", "SHAREDCORE_BACKEND": "zmq", "SHAREDCORE_STATE_DIRECTORY": self.folder,
            "SHAREDCORE_ZMQ_ENDPOINT": self.endpoint, "SHAREDCORE_GROUP": "group",
        }
        self.hub = subprocess.Popen(
            [PROGRAM, "hub"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def kill_hub(self) -> None:
        if self.hub is not None:
            self.hub.kill()
            self.hub.wait()
            self.hub = None

    @property
    def options(self) -> dict[str, Any]:
        return {"backend": "zmq", "settings": {"zmq.endpoint": self.endpoint, "zmq.hub": "none"}, "open_timeout": 30}

    async def open(self, role: str = "tool") -> aio.Group:
        group = await aio.Group.open(os.path.join(self.folder, "group"), role=role, **self.options)
        self.addCleanup(group.blocking.close)
        return group

    async def until(self, condition: Callable[[], Any], timeout: float = 40) -> None:
        async with asyncio.timeout(timeout):
            while not await condition():
                await asyncio.sleep(0.05)


class ThreadTests(HubCase):
    """Calls that wait for one hub hold up neither another group nor the end of a loop or of the program."""

    async def test_other_groups(self) -> None:
        away = await self.open()
        boxes = [await away.mailbox(f"box-{each}") for each in range(40)]
        async with await aio.Group.open(os.path.join(self.folder, "local")) as local:
            await local.put("k", b"v")
            self.kill_hub()

            async def poll(box: aio.Mailbox) -> None:
                while True:
                    try:
                        await box.take(1)
                    except sharedcore.SharedCoreError:
                        pass

            polls = [asyncio.create_task(poll(each)) for each in boxes]
            try:
                await asyncio.sleep(0.5)
                for _ in range(10):
                    # A call that waits for the hub does so for 10 s.
                    async with asyncio.timeout(9):
                        self.assertEqual((await local.get("k")).value, b"v")
                # A group is also closed then, although all of its threads wait.
                async with asyncio.timeout(9):
                    await boxes[0].aclose()
            finally:
                for each in polls:
                    each.cancel()
                await asyncio.wait(polls)

    async def test_end_of_a_loop(self) -> None:
        """Neither the loop nor the program waits for a call that was cancelled."""
        program = textwrap.dedent(
            """
            import asyncio, sys, time
            from sharedcore import aio

            async def main():
                # They outlive the loop: a group that is closed ends the calls that wait.
                global group, mailbox
                group = await aio.Group.open(sys.argv[1], backend="zmq", settings={"zmq.endpoint": sys.argv[2]})
                mailbox = await group.mailbox("box")
                await mailbox.send(b"1")
                taken = asyncio.create_task(mailbox.take(0))
                await asyncio.sleep(0)
                # The thread has taken it, and the task does not know it yet.
                time.sleep(0.5)
                print("ready", flush=True)
                sys.stdin.readline()
                taken.cancel()
                try:
                    await asyncio.wait_for(mailbox.take(None), 0.5)
                except TimeoutError:
                    pass

            asyncio.run(main())
            print("ended", flush=True)
            """
        )
        with subprocess.Popen(
            [sys.executable, "-c", program, os.path.join(self.folder, "group"), self.endpoint],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        ) as child:
            self.addCleanup(child.kill)
            self.assertEqual(child.stdout.readline(), "ready\n")
            self.kill_hub()
            begun = time.monotonic()
            child.stdin.write("\n")
            child.stdin.flush()
            self.assertEqual(child.stdout.readline(), "ended\n")
            self.assertLess(time.monotonic() - begun, 9)
            self.assertEqual(child.wait(30), 0)
            self.assertLess(time.monotonic() - begun, 9)


class UndoTests(HubCase):
    """What was begun for a cancelled task, or is left while the hub is away, ends when the hub is back."""

    async def test_cancelled_tasks(self) -> None:
        core, made, going_on = AsyncCore(), threading.Semaphore(0), threading.Event()

        def slow(called: str, *arguments: object) -> int:
            """Returns when the hub is away: what has begun is not known to its task yet."""
            code = call(called, *arguments)
            if called in ("sc_take", "sc_activity_begin", "sc_call_begin", "sc_core_enter_critical_section"):
                made.release()
                going_on.wait(60)
            return code

        group, other = await self.open("main"), await self.open()
        mailbox, other_mailbox = await group.mailbox("box"), await other.mailbox("box")
        await mailbox.send(b"1")
        async with aio.Main(group, lambda: core) as main:
            await main.wait_until_started()
            context = core.context
            with (
                mock.patch.object(groups, "call", slow), mock.patch.object(calls, "call", slow),
                mock.patch.object(participants, "call", slow),
            ):
                tasks = []
                for begin in (
                    mailbox.take(0), context.begin_activity("transfer", "1"), context.begin_call(Call("c-1")),
                    enter(context),
                ):
                    tasks.append(asyncio.create_task(begin))
                    self.assertTrue(await asyncio.to_thread(made.acquire, timeout=60))
            self.kill_hub()
            for each in tasks:
                each.cancel()
            found = await asyncio.gather(*tasks, return_exceptions=True)
            self.assertEqual([type(each) for each in found], [asyncio.CancelledError] * 4)
            going_on.set()
            # Longer than one call waits for the hub.
            await asyncio.sleep(12)
            self.start_hub()

            async def is_over() -> bool:
                with contextlib.suppress(sharedcore.SharedCoreError):
                    status = await other.status()
                    return not (
                        status.activities or status.calls.open or await other.get(".sharedcore/ownership/critical")
                    )
                return False

            await self.until(is_over)
            self.assertEqual((await other_mailbox.take(30)).message, b"1")

    async def test_left_section(self) -> None:
        """A section that is left while the hub is away raises, and is over all the same."""
        core = AsyncCore()
        other = await self.open()
        async with aio.Main(await self.open("main"), lambda: core) as main:
            await main.wait_until_started()
            with self.assertRaises(sharedcore.SharedCoreError) as caught:
                async with core.context.critical_section(60):
                    self.assertIsNotNone(await other.get(".sharedcore/ownership/critical"))
                    self.kill_hub()
            self.assertIn(caught.exception.name, ("unavailable", "outcomeUnknown"))
            self.start_hub()

            async def is_left() -> bool:
                with contextlib.suppress(sharedcore.SharedCoreError):
                    return await other.get(".sharedcore/ownership/critical") is None
                return False

            await self.until(is_left)
            async with core.context.critical_section(1):
                pass


async def enter(context: aio.CoreContext) -> None:
    async with context.critical_section(60):
        pass


if __name__ == "__main__":
    unittest.main()
