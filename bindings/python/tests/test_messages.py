"""Messages with all that they may have, their changes, and the inbox."""

import asyncio
import os
import tempfile
import unittest
from collections.abc import Callable

import sharedcore
from sharedcore import CoreContext, Executor, Group, Main, Message, StopRequest, aio

FULL = Message(
    "id-1",
    sender="sip:ann@example.org",
    recipient="sip:bob@example.org",
    text="ä good tea",
    body=b"\0\xff",
    kind="reaction",
    sequence="2",
    account="work",
    conversation="tea-club",
    time=-1.5,
    content_type="text/plain",
    fields={"x-subject": "Tea", "priority": ""},
)


class HeldCore:
    """A core that gives its context to the test."""

    def __init__(self, keep: Callable[[CoreContext], None]) -> None:
        self.keep = keep

    def start(self, context: CoreContext) -> None:
        self.keep(context)

    def stop(self, request: StopRequest) -> None:
        pass


class MessageTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = os.path.join(folder.name, "group")

    def test_messages(self) -> None:
        contexts: list[CoreContext] = []
        with (
            Group(self.directory, role="main") as group,
            Group(self.directory, role="executor") as other,
            Main(group, lambda: HeldCore(contexts.append)) as main,
            Executor(other, lambda: HeldCore(contexts.append)) as executor,
        ):
            main.wait_until_started(60)
            context = contexts[0]
            self.assertEqual(context.update(FULL), "absent")
            self.assertTrue(context.deliver(FULL))
            self.assertFalse(context.deliver(FULL))
            self.assertTrue(context.deliver(Message("id-1", sequence="10")))
            self.assertTrue(context.deliver(Message("id-2", time=1700000000.123)))

            page = group.inbox(limit=2)
            self.assertEqual([each.message for each in page.messages], [FULL, Message("id-1", sequence="10")])
            self.assertEqual((page.messages[0].state, page.messages[0].taken_by), ("stored", None))
            self.assertEqual(page.next, page.messages[1].stored_at)
            last = group.inbox(after=page.next, limit=2)
            self.assertEqual([each.message for each in last.messages], [Message("id-2", time=1700000000.123)])
            self.assertIsNone(last.next)

            result = executor.message("id-1", timeout=30, sequence="10")
            self.assertEqual(result.message.sequence, "10")
            state = group.message_state("id-1", "10")
            self.assertEqual((state.state, state.taken_by), ("taken", other.session))
            self.assertTrue(result.acknowledge())
            self.assertEqual(group.message_state("id-1", "10").state, "acknowledged")

            result = executor.message("id-1", timeout=30)
            self.assertEqual(result.message, FULL)
            self.assertEqual(group.inbox().messages[0].state, "taken")
            self.assertEqual(context.update(Message("id-1", text="no tea", sequence="2")), "changedInHand")
            self.assertFalse(result.acknowledge())
            self.assertEqual(executor.message("id-1", timeout=30).message.text, "no tea")
            self.assertEqual(context.withdraw("id-2"), "changed")
            self.assertEqual(context.withdraw("id-2"), "over")
            self.assertEqual(group.message_state("id-2").state, "nothing")
            self.assertEqual(executor.message("id-2", timeout=30).kind, "nothing")
            self.assertFalse(main.acknowledge("id-1"))
            self.assertTrue(main.acknowledge("id-1", "2"))
            self.assertEqual(group.inbox().messages, ())

    def test_values_that_break_their_rules(self) -> None:
        contexts: list[CoreContext] = []
        with Group(self.directory, role="main") as group, Main(group, lambda: HeldCore(contexts.append)) as main:
            main.wait_until_started(60)
            for wrong in [
                Message("id", sequence="a b"),
                Message("id", kind="Not A Kind"),
                Message("id", account="a\nb"),
                Message("id", conversation="a" * 513),
                Message("id", content_type="a" * 257),
                Message("id", time=2.0**60),
                Message("id", fields={"a": "x" * 1025}),
                Message("id", fields={"A": "x"}),
                Message("id", fields={f"f{number}": "x" for number in range(33)}),
                Message(""),
            ]:
                with self.subTest(wrong), self.assertRaises(sharedcore.SharedCoreError) as caught:
                    contexts[0].deliver(wrong)
                self.assertEqual(caught.exception.name, "invalidArgument")
            with self.assertRaises(ValueError):
                contexts[0].deliver(Message("id", text="a\0b"))
            with self.assertRaises(sharedcore.SharedCoreError):
                group.inbox(limit=0)
            self.assertEqual(group.inbox().messages, ())

    def test_asyncio(self) -> None:
        class Core:
            async def start(self, context: aio.CoreContext) -> None:
                await context.deliver(FULL)

            async def stop(self, request: StopRequest) -> None:
                pass

        async def story() -> None:
            async with (
                await aio.Group.open(self.directory, role="main") as group,
                await aio.Group.open(self.directory, role="executor") as other,
                aio.Main(group, Core) as main,
                aio.Executor(other, Core) as executor,
            ):
                await asyncio.wait_for(main.wait_until_started(), 60)
                self.assertEqual([each.message for each in (await group.inbox()).messages], [FULL])
                result = await executor.message("id-1", timeout=30, sequence="2")
                self.assertEqual(result.message, FULL)
                self.assertEqual((await group.message_state("id-1")).state, "taken")
                self.assertTrue(await main.acknowledge("id-1", "2"))
                self.assertEqual((await group.message_state("id-1")).state, "acknowledged")

        asyncio.run(story())


if __name__ == "__main__":
    unittest.main()
