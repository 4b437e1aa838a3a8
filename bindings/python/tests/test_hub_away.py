"""Groups over a hub that is away for a while: what was begun for a cancelled task ends all the same, and other groups go on."""

import asyncio
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
from sharedcore import Call, Group, Message, StopRequest, aio
from sharedcore import group as groups


class AsyncCore:
    """A core that keeps its context."""

    def __init__(self) -> None:
        self.context: aio.CoreContext | None = None

    async def start(self, context: aio.CoreContext) -> None:
        self.context = context

    async def stop(self, request: StopRequest) -> None:
        pass


class Core:
    """The same, with calls that block."""

    def start(self, context: sharedcore.CoreContext) -> None:
        self.context = context

    def stop(self, request: StopRequest) -> None:
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

    def open_blocking(self, role: str = "tool") -> Group:
        group = Group(os.path.join(self.folder, "group"), role=role, **self.options)
        self.addCleanup(group.close)
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
                    async with asyncio.timeout(5):
                        self.assertEqual((await local.get("k")).value, b"v")
                # A group is also closed then, although all of its threads wait.
                async with asyncio.timeout(8):
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
            self.assertLess(time.monotonic() - begun, 6)
            self.assertEqual(child.wait(30), 0)
            self.assertLess(time.monotonic() - begun, 8)


if __name__ == "__main__":
    unittest.main()
