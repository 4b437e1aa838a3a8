"""Mailboxes and responders in a loop that polls, without a thread for each take."""

import asyncio
import os
import select
import tempfile
import threading
import unittest

import sharedcore
from sharedcore import Group, aio


class MailboxTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = os.path.join(folder.name, "group")

    def test_descriptor(self) -> None:
        with Group(self.directory) as group, group.mailbox("m") as mailbox, group.mailbox("m") as other:
            self.assertIsNone(mailbox.take(0))
            while select.select([mailbox], [], [], 0.05)[0]:
                self.assertIsNone(mailbox.take(0))
            other.send(b"1")
            self.assertTrue(select.select([mailbox], [], [], 30)[0])
            self.assertEqual(mailbox.take(0).message, b"1")

    def run_story(self, story) -> None:
        async def run() -> None:
            async with await aio.Group.open(self.directory) as group:
                await asyncio.wait_for(story(group), 60)

        asyncio.run(run())

    def test_tasks_wait_without_threads(self) -> None:
        async def story(group: aio.Group) -> None:
            with await group.mailbox("m") as mailbox:
                taken: list[bytes] = []

                async def work() -> None:
                    delivery = await mailbox.take()
                    taken.append(delivery.message)
                    await delivery.acknowledge()

                # More than the threads of the group, or of the loop's executor. All other calls go on.
                tasks = [asyncio.create_task(work()) for _ in range(100)]
                await asyncio.sleep(0.2)
                self.assertEqual((await group.list("none")).entries, ())
                for number in range(100):
                    await mailbox.send(b"%d" % number)
                await asyncio.gather(*tasks)
                self.assertEqual(sorted(taken, key=int), [b"%d" % number for number in range(100)])

        self.run_story(story)

    def test_timeouts(self) -> None:
        async def story(group: aio.Group) -> None:
            with await group.mailbox("m") as mailbox:
                before = len(os.listdir("/proc/self/fd"))
                self.assertIsNone(await mailbox.take(timeout=0))
                self.assertIsNone(await mailbox.take(timeout=0.05))
                for _ in range(5):
                    self.assertIsNone(await mailbox.take(timeout=0.01))
                # The descriptor and what its watch needs, once.
                self.assertLess(len(os.listdir("/proc/self/fd")), before + 4)
                with self.assertRaises(ValueError):
                    await mailbox.take(timeout=float("nan"))
                await mailbox.send(b"x")
                self.assertEqual((await mailbox.take(timeout=float("inf"))).message, b"x")

        self.run_story(story)

    def test_closing_wakes_tasks(self) -> None:
        async def story(group: aio.Group) -> None:
            mailbox = await group.mailbox("m")
            tasks = [asyncio.create_task(mailbox.take()) for _ in range(3)]
            await asyncio.sleep(0.2)
            mailbox.close()
            for task in tasks:
                with self.assertRaises(sharedcore.ClosedError):
                    await task

        self.run_story(story)

    def test_cancelled_task_takes_nothing(self) -> None:
        async def story(group: aio.Group) -> None:
            with await group.mailbox("m") as mailbox:
                # One that waits, which a later message does not go to.
                task = asyncio.create_task(mailbox.take())
                await asyncio.sleep(0.1)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                await mailbox.send(b"1")
                delivery = await mailbox.take(timeout=30)
                self.assertEqual(delivery.message, b"1")
                await delivery.acknowledge()

                # One whose attempt has the message already, when the task is cancelled.
                await mailbox.send(b"2")
                taking, going_on = threading.Event(), threading.Event()

                class Slow:
                    is_open = True

                    def take(self, timeout: float | None = 0) -> sharedcore.Delivery | None:
                        found = mailbox.blocking.take(timeout)
                        taking.set()
                        going_on.wait(30)
                        return found

                task = asyncio.create_task(aio.Mailbox(Slow()).take())
                await asyncio.to_thread(taking.wait, 30)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                going_on.set()
                delivery = await mailbox.take(timeout=30)
                self.assertEqual(delivery.message, b"2")

        self.run_story(story)

    def test_requests(self) -> None:
        async def story(group: aio.Group) -> None:
            with await group.responder("double") as responder:

                async def answer() -> None:
                    request = await responder.take()
                    await request.give_back()
                    with self.assertRaises(sharedcore.HandleError):
                        await request.give_back()
                    request = await responder.take()
                    await request.reply(request.message * 2)

                task = asyncio.create_task(answer())
                self.assertEqual(await group.request("double", b"ab", timeout=30), b"abab")
                await task

        self.run_story(story)


if __name__ == "__main__":
    unittest.main()
