"""Waits that end early: by a signal, by another thread or task, by a cancelled task, by a core that raises anything."""

import asyncio
import math
import os
import select
import signal
import tempfile
import threading
import time
import unittest
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from unittest import mock

import sharedcore
from sharedcore import Baton, Call, Executor, Group, Guard, Main, Message, Operation, StopRequest, _threads, aio, participants
from sharedcore import group as groups
from sharedcore._library import call, duration, error_of, milliseconds, open_timeout
from sharedcore.batons import give
from sharedcore.messages import c_message


class Interrupted(Exception):
    """What the handler of a signal raises, as that of Ctrl-C does."""


class PlainCore:
    def start(self, context: sharedcore.CoreContext) -> None:
        self.context = context

    def stop(self, request: StopRequest) -> None:
        pass


class GroupCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = os.path.join(folder.name, "group")

    def open(self, role: str = "tool") -> Group:
        group = Group(self.directory, role=role)
        self.addCleanup(group.close)
        return group


class SignalTests(GroupCase):
    def test_wait_of_thirty_days(self) -> None:
        """It is more than one call of poll(2) takes."""
        group = self.open()
        watch = group.watch("k", snapshot=False)
        putting = threading.Timer(0.2, lambda: group.put("k", b"1"))
        putting.start()
        self.addCleanup(putting.join)
        self.assertEqual([each.key for each in watch.next(30 * 86400).changes], ["k"])

    def interrupt(self, body: Callable[[], Any]) -> None:
        """Runs a call that waits, and checks that the exception of a signal's handler ends it."""

        def handle(number: int, frame: object) -> None:
            raise Interrupted

        former = signal.signal(signal.SIGALRM, handle)
        begun = time.monotonic()
        try:
            with self.assertRaises(Interrupted):
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.2)
                    body()
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
        finally:
            signal.signal(signal.SIGALRM, former)
        # A call that no signal interrupts returns at its own timeout, and the handler runs then.
        self.assertLess(time.monotonic() - begun, 15)

    def test_streams(self) -> None:
        group = self.open()
        with group.watch("a", snapshot=False) as watch, group.observe("b") as posts, group.watch_calls() as calls:
            next(calls)
            for stream in (watch, posts, calls):
                with self.subTest(type(stream).__name__):
                    self.interrupt(lambda: stream.next(20))
            # They still deliver.
            group.put("a", b"1")
            self.assertEqual(watch.next(30).changes[0].new.value, b"1")

    def test_mailbox_and_requests(self) -> None:
        group = self.open()
        mailbox, responder = group.mailbox("m"), group.responder("r")
        self.interrupt(lambda: mailbox.take(20))
        self.interrupt(lambda: responder.take(20))
        self.interrupt(lambda: group.request("nobody", b"", timeout=20))
        mailbox.send(b"1")
        self.assertEqual(mailbox.take(30).message, b"1")

    def test_opening(self) -> None:
        """The exception of a handler ends it, and a group that is opened all the same is closed."""
        group = self.open()
        opened, going_on = threading.Event(), threading.Event()
        threads: list[threading.Thread] = []

        def slow(name: str, *arguments: object) -> int:
            code = call(name, *arguments)
            if name == "sc_open":
                threads.append(threading.current_thread())
                opened.set()
                going_on.wait(60)
            return code

        with mock.patch.object(groups, "call", slow):
            self.interrupt(lambda: Group(self.directory))
            self.assertTrue(opened.wait(60))
        # On the main thread no handler runs while a call of the library waits.
        self.assertIsNot(threads[0], threading.main_thread())
        self.assertEqual(len(group.status().sessions), 2)
        going_on.set()
        deadline = time.monotonic() + 60
        while len(group.status().sessions) > 1:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.005)

    def test_handlers_that_return(self) -> None:
        """A signal whose handler returns does not end a wait, and the handler runs at once."""
        group, ran, in_time = self.open(), threading.Event(), []
        former = signal.signal(signal.SIGALRM, lambda number, frame: ran.set())
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            mailbox = group.mailbox("m")
            threading.Thread(target=lambda: (in_time.append(ran.wait(15)), mailbox.send(b"1"))).start()
            self.assertEqual(mailbox.take(60).message, b"1")
            self.assertEqual(in_time, [True])
        finally:
            signal.signal(signal.SIGALRM, former)


class ClosingTests(GroupCase):
    def test_main_thread(self) -> None:
        """Another thread closes what the main thread waits for."""
        group = self.open()
        watch, mailbox = group.watch("a", snapshot=False), group.mailbox("m")
        threading.Timer(0.1, watch.close).start()
        self.assertIsNone(watch.next(60))
        self.assertFalse(watch.is_open)
        threading.Timer(0.1, mailbox.close).start()
        with self.assertRaises(sharedcore.ClosedError):
            mailbox.take(60)
        other = group.mailbox("m")
        threading.Timer(0.1, group.close).start()
        with self.assertRaises(sharedcore.ClosedError):
            other.take(60)


    def test_closed_before_and_meanwhile(self) -> None:
        """HandleError is for an object that was closed before the call, ClosedError for one closed during it."""
        group = self.open()
        for make in (group.mailbox, group.responder):
            for moment in ("before", "meanwhile", "at the end of the wait"):
                for thread in ("main", "another", "loop"):
                    # A name of its own: a request of an earlier turn would be taken at once.
                    name = f"{moment} {thread}"
                    source = make(name)
                    opened = source._take

                    def take(timeout: int) -> Any:
                        is_first = not takes
                        takes.append(timeout)
                        if is_first and moment == "meanwhile":
                            threading.Timer(0.3, source.close).start()
                        elif not is_first and moment == "at the end of the wait":
                            # Another thread closes before the message is taken.
                            source.close()
                        found = opened(timeout)
                        if is_first and moment == "at the end of the wait":
                            threading.Thread(target=self.fill, args=[group, source, name]).start()
                        return found

                    takes: list[int] = []
                    source._take = take
                    expected = sharedcore.HandleError if moment == "before" else sharedcore.ClosedError
                    if moment == "before":
                        source.close()
                    elif moment == "at the end of the wait" and thread == "another":
                        # It waits within the library.
                        continue
                    with self.subTest(make=make.__name__, moment=moment, thread=thread):
                        with self.assertRaises(expected):
                            if thread == "main":
                                source.take(60)
                            elif thread == "another":
                                with ThreadPoolExecutor(1) as pool:
                                    pool.submit(source.take, 60).result()
                            else:
                                wrapped = (aio.Mailbox if make == group.mailbox else aio.Responder)(source)
                                asyncio.run(wrapped.take(60))
        # The mailboxes of a closed group are not closed.
        mailbox = group.mailbox("m")
        group.close()
        with self.assertRaises(sharedcore.ClosedError):
            mailbox.take(0)

    @staticmethod
    def fill(group: Group, source: Any, name: str) -> None:
        if isinstance(source, sharedcore.Mailbox):
            group.mailbox(name).send(b"1")
        else:
            with suppress(sharedcore.SharedCoreError):
                group.request(name, b"", timeout=0.5)


class ArgumentTests(GroupCase):
    def test_words(self) -> None:
        """ctypes would cut a number beyond 64 bits, and store another one."""
        group = self.open()
        for body in (
            lambda: group.post("a", 2**64), lambda: group.post("a", -1), lambda: group.watch("a", after=-1),
            lambda: group.mailbox("m", capacity=-1), lambda: group.commit([Operation.post("a", 2**64)]),
            lambda: group.commit([], [Guard.at_revision("a", -1)]), lambda: group.commit([], request_number=-1),
        ):
            with self.assertRaises(ValueError):
                body()
        self.assertEqual(group.state("a").count, 0)
        group.post("a", 2**64 - 1)
        self.assertEqual(group.state("a").state, 2**64 - 1)

    def test_pages(self) -> None:
        group = self.open()
        for body in (
            lambda: group.inbox(after=-1), lambda: group.inbox(limit=2**64 + 5), lambda: group.timeline(after=2**64),
            lambda: group.timeline(limit=2**64 + 5), lambda: group.timeline(limit=-1),
        ):
            with self.assertRaises(ValueError):
                body()

    def test_durations(self) -> None:
        """One without an end, which the library would take for none, is refused, and a short one is not the default."""
        main, executor = self.open("main"), self.open("executor")
        for time_limit in (float("inf"), float("nan"), -1):
            for body in (
                lambda: Executor(executor, PlainCore, executor_budget=time_limit),
                lambda: Main(main, PlainCore, stop_timeout=time_limit),
                lambda: Operation.put("a", b"1", expires_after=time_limit),
            ):
                with self.assertRaises(ValueError):
                    body()
        self.assertEqual([duration(each, "time") for each in (0, 0.0001, 0.0015, 2)], [0, 1, 1, 2000])
        self.assertEqual([open_timeout(each) for each in (None, 0, 0.5, float("inf"))], [0, 1, 500, 2**62])

    def test_timeouts_of_any_size(self) -> None:
        """A negative one is 0, also without an end, and one beyond the range of the library waits as long as that."""
        group = self.open()
        mailbox, watch = group.mailbox("m"), group.watch("a", snapshot=False)
        for timeout in (-math.inf, -1, -1e306, -10**400, 0, False):
            self.assertIsNone(mailbox.take(timeout))
            self.assertIsNone(watch.next(timeout))
            self.assertIsNone(asyncio.run(aio.Mailbox(mailbox).take(timeout)))
            self.assertIsNone(asyncio.run(aio.Watch(watch).next(timeout)))
        for timeout in (1e306, 10**400, math.inf):
            mailbox.send(b"1")
            self.assertEqual(mailbox.take(timeout).message, b"1")
            mailbox.send(b"2")
            self.assertEqual(asyncio.run(aio.Mailbox(mailbox).take(timeout)).message, b"2")
            group.put("a", b"1")
            self.assertEqual(asyncio.run(aio.Watch(watch).next(timeout)).kind, "changes")
            Group(self.directory, open_timeout=timeout).close()
        self.assertEqual([milliseconds(each) for each in (1e306, 10**400, -math.inf)], [2**62, 2**62, 0])

    def test_timeout_of_another_type(self) -> None:
        group = self.open()
        mailbox, watch = group.mailbox("m"), group.watch("a", snapshot=False)
        for timeout in ("1", b"1", [1]):
            for body in (
                lambda: mailbox.take(timeout), lambda: watch.next(timeout),
                lambda: asyncio.run(aio.Mailbox(mailbox).take(timeout)),
                lambda: asyncio.run(aio.Watch(watch).next(timeout)),
                lambda: Operation.put("a", b"", expires_after=timeout),
                lambda: Group(self.directory, open_timeout=timeout),
            ):
                with self.assertRaisesRegex(TypeError, "number of seconds"):
                    body()

    def test_timeouts_of_a_participant(self) -> None:
        with Main(self.open("main"), PlainCore) as main:
            for timeout in (1e306, math.inf, None):
                main.wait_until_started(timeout)
            for timeout in (0, -1, -math.inf):
                with self.assertRaises(TimeoutError):
                    main.wait_until_ended(timeout)
            for wait in (main.wait_until_started, main.wait_until_ended):
                with self.assertRaises(ValueError):
                    wait(math.nan)
                with self.assertRaisesRegex(TypeError, "number of seconds"):
                    wait("1")

    def test_durations_of_any_size(self) -> None:
        self.assertEqual(duration(1e306, "time"), 2**62)
        group = self.open()
        group.commit([Operation.put("e", b"", expires_after=1e306)])
        self.assertGreater(group.get("e").expires_after, 86400)
        with Main(self.open("main"), PlainCore, stop_timeout=1e306) as main:
            main.wait_until_started(60)

    def test_times_of_a_message(self) -> None:
        for time_sent in (math.inf, -math.inf, math.nan):
            with self.assertRaisesRegex(ValueError, "time of a message"):
                c_message(Message("1", time=time_sent))
        # The library refuses a time beyond its range.
        self.assertEqual(c_message(Message("1", time=1e306)).time, 2**63 - 1)
        self.assertEqual(c_message(Message("1", time=-1e306)).time, 1 - 2**63)

    def test_lifetime_of_a_baton(self) -> None:
        group = self.open("main")
        for lifetime in (0.5, 61):
            with self.assertRaisesRegex(ValueError, "1 to 60 seconds"):
                Main(group, PlainCore, baton_lifetime=lifetime)
        for lifetime in (0, 1, 60):
            Main(group, PlainCore, baton_lifetime=lifetime).close()

    def test_text_for_texts(self) -> None:
        """A text is a sequence of texts, and one of its characters each is not meant."""
        with self.assertRaisesRegex(TypeError, "takes_batons"):
            Main(self.open("main"), PlainCore, takes_batons="abc")
        with self.assertRaisesRegex(TypeError, "calls"):
            give(0, Baton("line/1", b"", "abc"))

    def test_limits_of_pages(self) -> None:
        """The error names the number that the program gave."""
        group = self.open()
        for limit in (2**63, 2**64 - 1):
            for body in (lambda: group.inbox(limit=limit), lambda: group.timeline(limit=limit)):
                with self.assertRaisesRegex(ValueError, f"not {limit}"):
                    body()
        self.assertEqual(group.inbox(limit=2**63 - 1).messages, ())

    def test_text_as_bytes(self) -> None:
        group = self.open()
        for body in (
            lambda: group.put("a", "text"), lambda: group.commit([Operation.put("a", "text")]),
            lambda: group.mailbox("m").send("text"), lambda: group.request("r", "text", timeout=1),
        ):
            with self.assertRaisesRegex(TypeError, "is bytes, not str"):
                body()


class RaisingCoreTests(GroupCase):
    def start(self, error: BaseException) -> sharedcore.SharedCoreError:
        """Returns the error of a Main whose core raises in its start."""

        class Core(PlainCore):
            def start(self, context: sharedcore.CoreContext) -> None:
                raise error

        with Main(self.open("main"), Core) as main:
            with self.assertRaises(sharedcore.SharedCoreError) as caught:
                main.wait_until_started(60)
        self.assertEqual(caught.exception.name, "coreFailed")
        return caught.exception

    def test_starts(self) -> None:
        class Unprintable(Exception):
            def __str__(self) -> str:
                raise ValueError

        self.assertIn("3", self.start(SystemExit(3)).message)
        self.assertIn("KeyboardInterrupt", self.start(KeyboardInterrupt()).message)
        self.assertIn("Unprintable", self.start(Unprintable()).message)
        # Text that is not UTF-8, longer than the library takes.
        self.assertIn("?", self.start(OSError("\udc80\0ä" * 4000)).message)

    def test_stop(self) -> None:
        """The participant goes on after a stop that raises what would end its thread."""

        class Core(PlainCore):
            def start(self, context: sharedcore.CoreContext) -> None:
                context.deliver(Message(f"call-{context.epoch}", text="hello"))

            def stop(self, request: StopRequest) -> None:
                raise SystemExit(3)

        with Executor(self.open("executor"), Core, core_linger=0.01) as executor:
            with self.assertLogs("sharedcore", "ERROR"):
                for number in range(2):
                    with self.assertRaises(sharedcore.WaitTimeoutError):
                        executor.message(f"absent-{number}", 0.3)
                    executor.finish()

    def test_own_thread(self) -> None:
        """A core that waits for its own participant would wait for itself."""
        raised: list[BaseException] = []

        class Core(PlainCore):
            def start(self, context: sharedcore.CoreContext) -> None:
                for body in (
                    lambda: executor.message("other", 20), executor.finish, lambda: executor.wait_until_ended(20),
                ):
                    try:
                        body()
                    except BaseException as error:
                        raised.append(error)

        with Executor(self.open("executor"), Core) as executor:
            with self.assertRaises(sharedcore.WaitTimeoutError):
                executor.message("call-1", 5)
        self.assertEqual([type(each) for each in raised[:3]], [RuntimeError] * 3)

    def test_core_closes_its_participant(self) -> None:
        mains: list[Main] = []
        made = threading.Event()

        class Core(PlainCore):
            def start(self, context: sharedcore.CoreContext) -> None:
                made.wait(60)
                mains[0].close()

        mains.append(Main(self.open("main"), Core))
        made.set()
        with self.assertRaises(sharedcore.ClosedError):
            mains[0].wait_until_started(60)


class SectionTests(GroupCase):
    """A critical section that cannot be left, because the store cannot be reached for a while."""

    def setUp(self) -> None:
        super().setUp()
        self.failures, self.made = 0, []
        patch = mock.patch.object(participants, "call", self.call)
        patch.start()
        self.addCleanup(patch.stop)
        self.core = PlainCore()
        main = Main(self.open("main"), lambda: self.core)
        self.addCleanup(main.close)
        main.wait_until_started(60)

    def call(self, name: str, *arguments: object) -> int:
        if name.endswith("critical_section"):
            self.made.append(name.split("_")[2])
            if self.failures:
                self.failures -= 1
                raise error_of(11 if name.startswith("sc_core_leave") else 7, "The hub does not answer.", "test")
        return call(name, *arguments)

    def is_inside(self) -> bool:
        return self.open().get(".sharedcore/ownership/critical") is not None

    def until_left(self) -> None:
        deadline = time.monotonic() + 60
        while self.is_inside():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def leave_with_failures(self, count: int) -> None:
        with self.assertRaises(sharedcore.SharedCoreError) as caught:
            with self.core.context.critical_section(60):
                self.failures = count
        self.assertEqual(caught.exception.name, "unavailable")

    def test_background(self) -> None:
        self.leave_with_failures(2)
        self.assertTrue(self.is_inside())
        self.until_left()
        self.assertEqual(self.made, ["enter", "leave", "leave", "leave"])

    def test_next_section(self) -> None:
        """The next one leaves it, and a late try does not leave the next one."""
        self.leave_with_failures(2)
        while len(self.made) < 3:
            time.sleep(0.01)
        with self.core.context.critical_section(60):
            time.sleep(1.5)
            self.assertTrue(self.is_inside())
        self.assertEqual(self.made, ["enter", "leave", "leave", "leave", "enter", "leave"])

    def test_entered_with_an_unknown_outcome(self) -> None:
        self.failures = 2
        with self.assertRaises(sharedcore.SharedCoreError):
            with self.core.context.critical_section(60):
                self.fail("a section that may not have begun")
        while len(self.made) < 3:
            time.sleep(0.01)
        self.assertEqual(self.made, ["enter", "leave", "leave"])
        # One that is refused within a section does not leave that.
        with self.core.context.critical_section(60):
            self.failures = 1
            with self.assertRaises(sharedcore.SharedCoreError):
                with self.core.context.critical_section(60):
                    self.fail("a section within a section")
            time.sleep(0.2)
            self.assertTrue(self.is_inside())


class ThreadsTests(unittest.TestCase):
    def test_threads_of_a_group(self) -> None:
        """At most so many run, each function is run, and threads without work end."""
        threads, running, most, lock = _threads.Threads(), 0, 0, threading.Lock()
        done = threading.Semaphore(0)

        def work() -> None:
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.001)
            with lock:
                running -= 1
            done.release()

        with mock.patch.object(_threads, "_LIMIT", 3), mock.patch.object(_threads, "_IDLE_SECONDS", 0.01):
            for _ in range(20):
                for _ in range(20):
                    threads.run(work)
                for _ in range(20):
                    self.assertTrue(done.acquire(timeout=30))
                time.sleep(0.01)
            deadline = time.monotonic() + 30
            while threads._count:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.005)
        self.assertEqual(most, 3)


class UndoTests(GroupCase):
    def test_end(self) -> None:
        """The undoing ends when there is nothing to undo, and after a minute."""
        for code, count in ((0, 1), (4, 1), (5, 1), (40, 1), (3, 1), (11, 4), (7, 4)):
            calls: list[int] = []

            def body() -> None:
                calls.append(code)
                if code:
                    raise error_of(code, "It fails.", "test")

            clock = iter([0, 20, 40, 59, 61])
            with (
                self.subTest(code=code),
                mock.patch.object(_threads, "time", mock.Mock(monotonic=lambda: next(clock), sleep=lambda seconds: None)),
                mock.patch.object(_threads, "start_thread", lambda run: run()),
                self.assertLogs("sharedcore", "WARNING") if count > 1 else self.assertNoLogs("sharedcore"),
            ):
                _threads.end_later(body)
                self.assertEqual(len(calls), count)


class AsyncCore:
    def __init__(self) -> None:
        self.context: aio.CoreContext | None = None
        self.stopped = False

    async def start(self, context: aio.CoreContext) -> None:
        self.context = context

    async def stop(self, request: StopRequest) -> None:
        self.stopped = True


class LoopEndTests(GroupCase):
    """A loop that ends cancels all of its tasks, and waits for the threads of its executor."""

    def run_story(self, story: Callable[[], Coroutine[Any, Any, None]]) -> None:
        thread = threading.Thread(target=lambda: asyncio.run(story()))
        thread.start()
        thread.join(20)
        self.assertFalse(thread.is_alive())

    def test_message_of_a_loop_that_ends(self) -> None:
        """A take that has the message when its loop ends gives it back."""
        group = self.open()
        mailbox = group.mailbox("m")
        mailbox.send(b"1")
        taking, going_on = threading.Event(), threading.Event()

        class Slow:
            is_open = True

            def take(self, timeout: float | None = 0) -> sharedcore.Delivery | None:
                found = mailbox.take(timeout)
                taking.set()
                going_on.wait(60)
                return found

        async def take() -> None:
            try:
                await aio.Mailbox(Slow()).take()
            finally:
                # Behind the end of the take: its thread goes on when its task is over.
                asyncio.get_running_loop().call_soon(going_on.set)

        async def story() -> None:
            task = asyncio.create_task(take())
            while not taking.is_set():
                await asyncio.sleep(0.005)
            self.assertFalse(task.done())

        self.run_story(story)
        self.assertEqual(mailbox.take(30).message, b"1")

    def test_request_of_a_loop_that_ends(self) -> None:
        """The loop does not wait for a reply that does not come."""

        async def story() -> None:
            group = await aio.Group.open(self.directory)
            # The session of the loop's program goes on.
            self.addCleanup(group.blocking.close)
            request = asyncio.create_task(group.request("nobody", b"", timeout=60))
            while not (await group.list(".sharedcore/mailboxes")).entries:
                await asyncio.sleep(0.005)
            self.assertFalse(request.done())

        self.run_story(story)


class TaskTests(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = os.path.join(folder.name, "group")

    async def test_cancelled_when_the_element_is_there(self) -> None:
        """A cancellation that a task has accepted ends it, also in the turns in which it learns of its element."""
        async with await aio.Group.open(self.directory) as group:
            mailbox, responder = await group.mailbox("m"), await group.responder("r")
            watch, observation = await group.watch("a", snapshot=False), await group.observe("n")
            requests: list[asyncio.Task[bytes]] = []

            async def send_request() -> None:
                requests.append(asyncio.create_task(group.request("r", b"1", timeout=60)))

            async def put() -> None:
                group.blocking.put("a", b"1")

            async def post() -> None:
                group.blocking.post("n")

            async def send() -> None:
                mailbox.blocking.send(b"1")

            for wait, source, cause in (
                (lambda: mailbox.take(60), mailbox, send),
                (lambda: responder.take(60), responder, send_request),
                (lambda: watch.next(60), watch, put),
                (lambda: anext(watch), watch, put),
                (lambda: observation.next(60), observation, post),
            ):
                for turns in range(6):
                    task = asyncio.ensure_future(wait())
                    # The descriptor of a mailbox is made on a thread.
                    await asyncio.sleep(0.1)
                    await cause()
                    await asyncio.sleep(0)
                    # The loop has no turn before the descriptor is readable.
                    select.select([source.blocking.fileno()], [], [], 30)
                    for _ in range(turns):
                        await asyncio.sleep(0)
                    accepted = task.cancel()
                    await asyncio.wait([task], timeout=30)
                    with self.subTest(source=type(source).__name__, turns=turns):
                        self.assertEqual(task.cancelled(), accepted)
                    # The element of a cancelled task is not lost.
                    again = source.next if source in (watch, observation) else source.take
                    found = await again(30) if task.cancelled() else task.result()
                    if source is mailbox:
                        await found.acknowledge()
                    elif source is responder:
                        await found.reply(b"")
            await asyncio.wait_for(asyncio.gather(*requests), 60)

    async def test_two_tasks(self) -> None:
        """Two tasks wait for one watch, and get an event each."""
        async with await aio.Group.open(self.directory) as group:
            with await group.watch("a", snapshot=False) as watch:
                tasks = [asyncio.create_task(watch.next()) for _ in range(2)]
                await asyncio.sleep(0.05)
                await group.put("a/1", b"1")
                await group.put("a/2", b"2")
                found = await asyncio.wait_for(asyncio.gather(*tasks), 30)
                self.assertEqual({change.key for event in found for change in event.changes}, {"a/1", "a/2"})

    async def test_close(self) -> None:
        """Closing a watch, or its group, ends the tasks that wait for it."""

        async def iterate(watch: aio.Watch) -> None:
            async for _ in watch:
                pass

        for close in ("close", "aclose", "group"):
            async with await aio.Group.open(self.directory) as group:
                watch = await group.watch("a", snapshot=False)
                tasks = [asyncio.create_task(watch.next()), asyncio.create_task(iterate(watch))]
                await asyncio.sleep(0.05)
                if close == "close":
                    watch.close()
                else:
                    await (watch if close == "aclose" else group).aclose()
                self.assertEqual(await asyncio.wait_for(asyncio.gather(*tasks), 30), [None, None], close)

    async def test_cancelled_close(self) -> None:
        """A close that is cancelled leaves the rest to the next one, and does not cancel the core's stop."""

        class Core(AsyncCore):
            async def stop(self, request: StopRequest) -> None:
                await asyncio.sleep(0.5)
                await super().stop(request)

        core = Core()
        reported: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))
        async with await aio.Group.open(self.directory, role="main") as group:
            main = aio.Main(group, lambda: core)
            await asyncio.wait_for(main.wait_until_started(), 60)
            with self.assertRaises(TimeoutError):
                await asyncio.wait_for(main.aclose(), 0.1)
            await asyncio.wait_for(main.aclose(), 60)
            self.assertTrue(core.stopped)
        self.assertEqual(reported, [])

    async def test_core_with_a_cancelled_task(self) -> None:
        class Core(AsyncCore):
            async def start(self, context: aio.CoreContext) -> None:
                task = asyncio.create_task(asyncio.sleep(60))
                task.cancel()
                await task

        async with await aio.Group.open(self.directory, role="main") as group, aio.Main(group, Core) as main:
            with self.assertRaises(sharedcore.SharedCoreError) as caught:
                await asyncio.wait_for(main.wait_until_started(), 60)
            self.assertEqual(caught.exception.name, "coreFailed")

    async def test_cancelled_beginnings(self) -> None:
        """What a cancelled task has begun does not hold up a hand-over."""
        core = AsyncCore()
        async with (
            await aio.Group.open(self.directory, role="main") as group, aio.Main(group, lambda: core) as main,
        ):
            await asyncio.wait_for(main.wait_until_started(), 60)
            for number in range(8):
                await self.cancel(core.context.begin_activity("transfer", f"t-{number}"), 0.0005 * number)
                await self.cancel(core.context.begin_call(Call(f"call-{number}")), 0.0005 * number)
                await self.cancel(self.enter(core.context), 0.0005 * number)
            async with asyncio.timeout(30):
                while (await group.status()).activities or any(
                    call.state != "ended" for call in await group.calls()
                ):
                    await asyncio.sleep(0.01)
                # A section that was never left refuses the next one.
                while True:
                    try:
                        async with core.context.critical_section(20):
                            break
                    except sharedcore.GuardFailedError:
                        await asyncio.sleep(0.01)

    async def test_more_requests_than_threads(self) -> None:
        """Requests wait without a thread: what answers them in the same loop goes on."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))

        async def answer(responder: aio.Responder) -> None:
            for _ in range(8):
                request = await responder.take()
                await request.reply(request.message * 2)

        async with await aio.Group.open(self.directory) as group, await group.responder("double") as responder:
            requests = [asyncio.create_task(group.request("double", b"%d" % each, timeout=15)) for each in range(8)]
            await asyncio.gather(answer(responder), *requests)
            self.assertEqual([each.result() for each in requests], [b"%d" % each * 2 for each in range(8)])

    async def test_cancelled_request(self) -> None:
        """A request without a timeout has no thread, and its wait ends with its task: no descriptor of it stays."""

        def events() -> int:
            count = 0
            for name in os.listdir("/proc/self/fd"):
                # Some are closed meanwhile.
                with suppress(OSError):
                    count += "eventfd" in os.readlink(f"/proc/self/fd/{name}")
            return count

        async with await aio.Group.open(self.directory) as group, await group.responder("slow") as responder:
            # What the group and the responder need for themselves is there before.
            cancelled = asyncio.create_task(group.request("slow", b"1", timeout=None))
            first = await responder.take(60)
            cancelled.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await cancelled
            before = events()
            waiting = [asyncio.create_task(group.request("slow", b"2", timeout=None)) for _ in range(20)]
            for _ in waiting:
                self.assertEqual((await responder.take(60)).message, b"2")
            self.assertLess(sum(each.name == "sharedcore" for each in threading.enumerate()), len(waiting))
            for each in waiting:
                each.cancel()
            for each in waiting:
                with self.assertRaises(asyncio.CancelledError):
                    await asyncio.wait_for(each, 20)
            async with asyncio.timeout(60):
                while events() > before:
                    await asyncio.sleep(0.01)
            # A reply that comes now has no program to go to.
            self.assertTrue(await first.reply(b"late"))

            async def answer() -> None:
                await (await responder.take(60)).reply(b"3")

            answering = asyncio.create_task(answer())
            self.assertEqual(await group.request("slow", b"3", timeout=60), b"3")
            await answering

    async def test_section_of_a_cancelled_task(self) -> None:
        """It is left also while the threads of the group are busy, and the task is cancelled once more."""
        core = AsyncCore()
        async with (
            await aio.Group.open(self.directory, role="main") as group, aio.Main(group, lambda: core) as main,
        ):
            await asyncio.wait_for(main.wait_until_started(), 60)
            inside, release = asyncio.Event(), threading.Event()

            async def work() -> None:
                async with core.context.critical_section(60):
                    inside.set()
                    await asyncio.Event().wait()

            task = asyncio.create_task(work())
            await asyncio.wait_for(inside.wait(), 60)
            blocked = [asyncio.create_task(group._call(release.wait, 60)) for _ in range(40)]
            try:
                task.cancel()
                await asyncio.sleep(0)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await asyncio.wait_for(task, 20)
                async with asyncio.timeout(20):
                    while True:
                        try:
                            with core.context.blocking.critical_section(20):
                                break
                        except sharedcore.GuardFailedError:
                            await asyncio.sleep(0.01)
            finally:
                release.set()
                await asyncio.gather(*blocked)

    @staticmethod
    async def enter(context: aio.CoreContext) -> None:
        async with context.critical_section(60):
            pass

    @staticmethod
    async def cancel(work: Any, after: float) -> None:
        """Cancels a task at a moment of its run. Ends the activity or the call of one that was faster."""
        task = asyncio.ensure_future(work)
        await asyncio.sleep(after)
        task.cancel()
        try:
            begun = await task
        except asyncio.CancelledError:
            return
        if isinstance(begun, aio.OpenCall):
            await begun.end("hungUp")
        elif begun is not None:
            await begun.end()
