"""The calls on groups: blocking, with asyncio, and across a fork."""

import asyncio
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import tomllib
import unittest
from multiprocessing.queues import SimpleQueue
from pathlib import Path

import sharedcore
from sharedcore import Executor, Group, Guard, Operation, aio, calls


class IdleCore:
    def start(self, context: sharedcore.CoreContext) -> None:
        pass

    def stop(self, request: sharedcore.StopRequest) -> None:
        pass


class GroupTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = os.path.join(folder.name, "group")

    def test_entries(self) -> None:
        with Group(self.directory, name="test") as group:
            self.assertIsNone(group.get("a/1"))
            revision = group.put("a/1", b"one\0two")
            entry = group.get("a/1")
            self.assertEqual((entry.key, entry.value, entry.revision), ("a/1", b"one\0two", revision))
            self.assertEqual((entry.origin, entry.lifetime), (group.session, "persistent"))
            group.put("a/ä\0", b"")
            self.assertEqual([each.key for each in group.list("a").entries], ["a/1", "a/ä\0"])
            group.delete("a/1")
            self.assertIsNone(group.get("a/1"))
        with self.assertRaises(sharedcore.HandleError):
            group.get("a/1")

    def test_transactions(self) -> None:
        with Group(self.directory) as group:
            steps = [Operation.put("t", b"x", expires_after=60), Operation.post("bell", 7)]
            revision = group.commit(steps, [Guard.absent("t")])
            with self.assertRaises(sharedcore.GuardFailedError) as caught:
                group.commit(steps, [Guard.absent("t")])
            self.assertEqual((caught.exception.index, caught.exception.found_revision), (0, revision))
            self.assertEqual(caught.exception.name, "guardFailed")
            self.assertEqual(group.get("t").expires_after, 60)
            self.assertEqual(group.state("bell").state, 7)
            group.commit([Operation.delete_all("t")], [Guard.epoch("t", revision)])
            self.assertEqual(group.list().entries, ())

    def test_watches(self) -> None:
        with Group(self.directory) as group:
            group.put("w/1", b"old")
            with group.watch("w") as watch, group.observe("calls") as calls:
                self.assertEqual(next(watch).kind, "snapshot")
                self.assertIsNone(watch.next(timeout=0.02))
                group.put("w/1", b"new")
                change = watch.next().changes[0]
                self.assertEqual((change.kind, change.new.value, change.old.value), ("put", b"new", b"old"))
                group.delete("w/1")
                self.assertEqual(watch.next().changes[0].kind, "deleted")
                group.post("calls", 3)
                self.assertEqual(calls.next().state, 3)
                # Closing the group ends what it has open.
                threading.Timer(0.1, group.close).start()
                self.assertEqual(list(watch), [])

    def test_sync(self) -> None:
        with Group(self.directory) as group, Group(self.directory) as other, group.watch(snapshot=False) as watch:
            other.put("a", b"1")
            group.sync()
            self.assertEqual(watch.next(timeout=30).changes[0].new.value, b"1")
        with self.assertRaises(sharedcore.HandleError):
            group.sync()

    def test_wrong_arguments(self) -> None:
        """Each names what was expected."""
        with Group(Path(self.directory)) as group, group.mailbox("m") as mailbox:
            for words, error, wrong in (
                ("str, not bytes", TypeError, lambda: group.get(b"k")),
                ("str, not int", TypeError, lambda: group.put(1, b"")),
                ("str, not bytes", TypeError, lambda: group.post(b"n")),
                ("not nan", ValueError, lambda: mailbox.take(math.nan)),
                ("answer, decline", ValueError, lambda: group.command("call-1", "sing")),
            ):
                with self.subTest(words), self.assertRaisesRegex(error, words):
                    wrong()
            self.assertIsNone(mailbox.take(-1))

    def test_mailbox(self) -> None:
        with Group(self.directory) as group, group.mailbox("outbox", capacity=1) as outbox:
            self.assertIsNone(outbox.take(0))
            outbox.send(b"hello")
            with self.assertRaises(sharedcore.SharedCoreError) as caught:
                outbox.send(b"again")
            self.assertEqual(caught.exception.name, "limitExceeded")
            delivery = outbox.take(timeout=5)
            self.assertEqual(delivery.message, b"hello")
            self.assertTrue(delivery.acknowledge())
            with self.assertRaises(sharedcore.HandleError):
                delivery.acknowledge()
            threading.Timer(0.1, outbox.close).start()
            with self.assertRaises(sharedcore.ClosedError):
                outbox.take(timeout=None)

    def test_acknowledge_with(self) -> None:
        with Group(self.directory) as group, group.mailbox("orders") as orders:
            orders.send(b"one")
            delivery = orders.take(timeout=5)
            group.put("seen/1", b"")
            with self.assertRaises(sharedcore.GuardFailedError) as caught:
                delivery.acknowledge_with([Operation.put("done", b"1")], [Guard.exists("seen/1"), Guard.absent("seen/1")])
            self.assertEqual(caught.exception.index, 1)
            self.assertIsNone(group.get("done"))
            # The message is still taken, and its removal and what is stored of it are one commit.
            with Group(self.directory) as other, group.watch(snapshot=False) as watch:
                with other.mailbox("orders") as same:
                    self.assertIsNone(same.take(0))
                    revision = delivery.acknowledge_with([Operation.put("done", b"1")], [Guard.absent("done")])
                    event = watch.next(timeout=30)
                    self.assertEqual(event.revision, revision)
                    self.assertEqual(group.get("done").revision, revision)
                    self.assertIn("deleted", [change.kind for change in event.changes])
                    with self.assertRaises(sharedcore.HandleError):
                        delivery.acknowledge_with([])
                    self.assertIsNone(same.take(0))

    def test_acknowledge_with_of_a_lost_take(self) -> None:
        """Nothing is stored where the message was taken away."""
        with Group(self.directory) as group, group.mailbox("orders") as orders:
            orders.send(b"one")
            delivery = orders.take(timeout=5)
            group.commit([Operation.delete_all("orders")])
            self.assertIsNone(delivery.acknowledge_with([Operation.put("done", b"1")]))
            self.assertIsNone(group.get("done"))
            self.assertFalse(delivery.is_open)

    def test_asyncio(self) -> None:
        async def story() -> list[bytes]:
            async with await aio.Group.open(self.directory) as group:
                found: list[bytes] = []

                async def follow() -> None:
                    with await group.watch("n", snapshot=False) as watch:
                        ready.set()
                        async for event in watch:
                            found.append(event.changes[0].new.value)
                            if len(found) == 3:
                                return

                ready = asyncio.Event()
                task = asyncio.create_task(follow())
                await ready.wait()
                for number in range(3):
                    await group.put("n", b"%d" % number)
                await asyncio.wait_for(task, 30)
                return found

        self.assertEqual(asyncio.run(story()), [b"0", b"1", b"2"])

    def test_timeouts(self) -> None:
        with Group(self.directory) as group, group.mailbox("m") as mailbox:
            mailbox.send(b"now")
            self.assertEqual(mailbox.take(timeout=float("inf")).message, b"now")
            self.assertIsNone(mailbox.take(timeout=-1))
            with self.assertRaises(ValueError):
                mailbox.take(timeout=float("nan"))

    def test_without_libzmq(self) -> None:
        """Groups in files work, and a group over a hub raises an error of its own type that says what to install."""
        # A file that is no library, which the loader finds before the system's.
        folder = os.path.join(os.path.dirname(self.directory), "libraries")
        os.mkdir(folder)
        Path(folder, "libzmq.so.5").touch()
        program = """if True:
            import sys
            from sharedcore import Group, UnsupportedError
            with Group(sys.argv[1]) as group:
                group.put("a", b"1")
            try:
                Group(sys.argv[1] + "-hub", backend="zmq", settings={"zmq.endpoint": "ipc://" + sys.argv[1] + ".ipc"})
            except UnsupportedError as error:
                print(error.name, error.message)
        """
        child = subprocess.run(
            [sys.executable, "-c", program, self.directory], check=True, stdout=subprocess.PIPE, text=True, timeout=60,
            env=os.environ | {"LD_LIBRARY_PATH": folder + ":" + os.environ.get("LD_LIBRARY_PATH", "")},
        )
        self.assertRegex(child.stdout, "^unsupported .*install it .*libzmq5")

    def test_one_version(self) -> None:
        text = (Path(__file__).parents[1] / "pyproject.toml").read_text()
        self.assertEqual(sharedcore.version(), tomllib.loads(text)["project"]["version"])

    def test_forked_child(self) -> None:
        with Group(self.directory) as group:
            group.put("a", b"1")
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    group.get("a")
                except sharedcore.ForkedError:
                    group.close()
                    status = 0
                finally:
                    os._exit(status)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(group.get("a").value, b"1")

    def test_each_call_in_a_forked_child(self) -> None:
        """Also those that have not been made in the parent, and those that open."""
        with Group(self.directory) as group:
            watch, observation, mailbox = group.watch(), group.observe("n"), group.mailbox("m")
            bodies = [
                lambda: Group(self.directory), lambda: Group.configured({}), group.sync, group.list, group.status,
                lambda: group.post("n"), lambda: group.request("r", b"", timeout=None), lambda: mailbox.send(b""),
                lambda: mailbox.take(None), watch.next, observation.next, watch.fileno,
                lambda: asyncio.run(aio.Group.open(self.directory)),
                lambda: sharedcore.Main(group, object), lambda: sharedcore.Executor(group, object),
            ]
            child = os.fork()
            if child == 0:
                refused = 0
                try:
                    for body in bodies:
                        try:
                            body()
                        except sharedcore.ForkedError:
                            refused += 1
                    for each in (watch, observation, mailbox, group):
                        each.close()
                finally:
                    os._exit(0 if refused == len(bodies) else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            mailbox.send(b"1")
            self.assertEqual(mailbox.take(0).message, b"1")

    def test_locks_in_a_forked_child(self) -> None:
        """A thread that is not there does not keep a lock before the call, and no wait for a thread has no end."""
        with (
            Group(self.directory, role="executor") as group, group.mailbox("m") as mailbox, group.responder("r") as responder,
            Executor(group, IdleCore) as executor,
        ):
            mailbox.send(b"1")
            delivery = mailbox.take(30)
            thread = threading.Thread(target=lambda: self.assertRaises(sharedcore.RefusedError, group.request, "r", b"", timeout=60))
            thread.start()
            request = responder.take(60)
            command = calls.Command(delivery._handle, "answer")
            bodies = [
                delivery.acknowledge, delivery.give_back, lambda: delivery.acknowledge_with([]),
                lambda: request.reply(b""), lambda: request.refuse("no"), request.give_back,
                command.accept, lambda: command.refuse("no"),
                lambda: executor.message("none", 20), executor.finish, executor.wait_until_ended,
            ]
            with delivery._lock, request._lock, command._lock, executor._lock:
                child = os.fork()
                if child == 0:
                    refused = 0
                    try:
                        # Ends a child that waits.
                        signal.signal(signal.SIGALRM, signal.SIG_DFL)
                        signal.alarm(20)
                        for body in bodies:
                            try:
                                body()
                            except sharedcore.ForkedError:
                                refused += 1
                    finally:
                        os._exit(0 if refused == len(bodies) else 1)
                self.assertEqual(os.waitpid(child, 0)[1], 0)
            # The handle is that of the delivery.
            command._handle = 0
            self.assertTrue(delivery.acknowledge())
            request.refuse("no")
            thread.join()

    def test_multiprocessing(self) -> None:
        """A child of spawn or forkserver opens anew. One of fork gets the typed error, also where it opens a group."""
        for method, expected in (("spawn", "put"), ("forkserver", "put"), ("fork", "forked")):
            with self.subTest(method), Group(self.directory) as group:
                context = multiprocessing.get_context(method)
                answers = context.SimpleQueue()
                process = context.Process(target=put_from_child, args=[self.directory, method, answers])
                process.start()
                process.join(60)
                self.assertEqual(process.exitcode, 0)
                self.assertEqual(answers.get(), expected)
                found = group.get(method)
                self.assertEqual(found and found.value, b"here" if expected == "put" else None)


def put_from_child(directory: str, key: str, answers: SimpleQueue) -> None:
    try:
        with Group(directory) as group:
            group.put(key, b"here")
    except sharedcore.ForkedError:
        answers.put("forked")
    else:
        answers.put("put")


if __name__ == "__main__":
    unittest.main()
