"""A Main in Swift, Executors in Python and an observer in C, in one group, across kills."""

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from sharedcore import CoreContext, Executor, Group, Message, StopRequest, WaitTimeoutError

PROGRAM = os.environ.get("SHAREDCORE_PROGRAM")
OBSERVER = os.environ.get("SHAREDCORE_OBSERVER")
OWNER = ".sharedcore/ownership/owner"


class Core:
    """Delivers the one message that it is made with."""

    def __init__(self, events: list[str], call_id: str) -> None:
        self.events, self.call_id = events, call_id

    def start(self, context: CoreContext) -> None:
        self.events.append("start")
        context.deliver(Message(self.call_id, sender="python", text="from python"))

    def stop(self, request: StopRequest) -> None:
        self.events.append("stop " + request.reason)


class MaildirTests(unittest.TestCase):
    """The server of all cores is a Maildir."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("groups", "mail", "mail/new", "mail/cur", "mail/tmp"):
            (self.folder / name).mkdir(mode=0o700)

    def environment(self, **variables: str) -> dict[str, str]:
        """Returns the environment of this process with these settings alone."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SHAREDCORE_")}
        if library := os.environ.get("SHAREDCORE_LIBRARY"):
            variables["LIBRARY"] = library
        return environment | {f"SHAREDCORE_{key}": value for key, value in variables.items()}

    def start(self, *command: str, environment: dict[str, str]) -> subprocess.Popen:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_main(self, environment: dict[str, str]) -> subprocess.Popen:
        variables = environment | {"SHAREDCORE_CORE_MAILDIR": str(self.folder / "mail")}
        main = self.start(PROGRAM, "main", "--json", environment=variables)
        # It prints a line when it owns.
        self.assertIn("owning", main.stdout.readline())
        return main

    def mail(self, call_id: str) -> None:
        text = f"From: Ann <ann@example.org>\r\nTo: Bob <bob@example.org>\r\nCall-ID: {call_id}\r\n\r\nfrom swift\r\n"
        path = self.folder / "mail" / "tmp" / f"{time.monotonic_ns()}.test"
        path.write_bytes(text.encode())
        path.rename(self.folder / "mail" / "new" / path.name)


@unittest.skipUnless(PROGRAM, "SHAREDCORE_PROGRAM names the built program")
class MixedGroupTests(MaildirTests):
    def test_group_by_configuration(self) -> None:
        """The group of the variables is that of the program, and its Executors have the timeouts of the variables."""
        variables = {
            "SHAREDCORE_CONFIG": "/dev/null",
            "SHAREDCORE_STATE_DIRECTORY": str(self.folder / "groups"),
            "SHAREDCORE_EXECUTOR_BUDGET": "300ms",
        }
        with mock.patch.dict(os.environ, variables):
            put = [PROGRAM, "store", "put", "a", "swift", "--group", "chat"]
            subprocess.run(put, env=self.environment() | variables, check=True, stdout=subprocess.PIPE)
            with Group.configured({"group": "chat"}, role="executor") as group:
                self.assertEqual(group.get("a").value, b"swift")
                events: list[str] = []
                with Executor(group, lambda: Core(events, "other")) as executor:
                    with self.assertRaises(WaitTimeoutError):
                        executor.message("none", timeout=3)
                self.assertEqual(events, ["start", "stop budget"])

    def test_executor_beside_main(self) -> None:
        events: list[str] = []
        environment = self.environment(STATE_DIRECTORY=str(self.folder / "groups"), GROUP="mixed")
        first = self.start_main(environment)
        directory = str(self.folder / "groups" / "mixed")
        with Group(directory, role="executor", name="python") as group:
            with Executor(group, lambda: Core(events, "2"), core_linger=120, executor_budget=240) as executor:
                # The core of the Main in Swift receives it.
                self.mail("1")
                result = executor.message("1", timeout=60)
                self.assertEqual((result.message.text.strip(), result.from_core), ("from swift", False))
                self.assertTrue(result.acknowledge())
                self.assertEqual(events, [])
                # The Main is killed, so the core runs here.
                waiting = executor.ask("2", timeout=60)
                first.send_signal(signal.SIGKILL)
                result = waiting.result(60)
                self.assertEqual((result.message.text, result.from_core), ("from python", True))
                self.assertTrue(result.acknowledge())
                self.assertEqual(events, ["start"])
                # The next Main in Swift has the core handed over.
                self.start_main(environment)
                self.assertEqual(events, ["start", "stop handover"])
                self.mail("3")
                result = executor.message("3", timeout=60)
                self.assertEqual((result.message.text.strip(), result.from_core), ("from swift", False))
                self.assertTrue(result.acknowledge())


class ExecutorProcess:
    """An Executor in Python in a process of its own, which is started again after a kill."""

    def __init__(self, name: str, lines: "queue.Queue[tuple[str, list[str]]]", start: Callable[[], subprocess.Popen]) -> None:
        self.name, self.lines, self.make = name, lines, start
        self.asked: str | None = None
        self.start()

    def start(self) -> None:
        self.process = self.make()
        self.thread = threading.Thread(target=self.read, args=[self.process], daemon=True)
        self.thread.start()

    def read(self, process: subprocess.Popen) -> None:
        for line in process.stdout:
            self.lines.put((self.name, line.split()))

    def ask(self, call_id: str) -> None:
        self.asked = call_id
        print(call_id, file=self.process.stdin, flush=True)

    def kill_and_start(self) -> None:
        """Does what a host does: the push of a killed Executor is tried again."""
        self.process.kill()
        self.process.wait()
        self.thread.join()
        self.start()
        if self.asked is not None:
            self.ask(self.asked)


@unittest.skipUnless(PROGRAM and OBSERVER, "SHAREDCORE_PROGRAM and SHAREDCORE_OBSERVER name the built programs")
class KillTests(MaildirTests):
    """Three Executors in Python, a Main in Swift and an observer in C. Main, the Executor that owns and the hub are killed."""

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + 60
        while not condition():
            try:
                self.note(*self.lines.get(timeout=max(0, deadline - time.monotonic())))
            except queue.Empty:
                self.fail(f"Not so within a minute: {what}. Asked {self.asked}, shown {self.shown}, owner {self.owner}")

    def note(self, name: str, line: list[str]) -> None:
        if line[0] == "started":
            self.owner = name
        elif line[0] == "stopped":
            self.owner = None
        else:
            self.shown.append((name, line[1]))
            self.executors[name].asked = None

    def ask(self, names: list[str], part: str) -> list[str]:
        """Has these Executors ask, each for a call-id of its own, and returns the call-ids."""
        for name in names:
            self.executors[name].ask(f"{part}-{name}")
            self.asked.append((name, f"{part}-{name}"))
        return [f"{part}-{name}" for name in names]

    def wait_until_shown(self) -> None:
        self.wait_until(lambda: len(self.shown) >= len(self.asked), "each message is shown")

    def kill_owner(self) -> None:
        owner = self.owner
        self.executors[owner].kill_and_start()
        while not self.lines.empty():
            self.note(*self.lines.get())
        if self.owner == owner:
            self.owner = None

    def run_kills(self, environment: dict[str, str], kill_hub: Callable[[], None] = lambda: None) -> None:
        self.lines: queue.Queue[tuple[str, list[str]]] = queue.Queue()
        self.asked: list[tuple[str, str]] = []
        self.shown: list[tuple[str, str]] = []
        self.owner: str | None = None
        main = self.start_main(environment)
        observer = self.start(OBSERVER, "", environment=environment)
        self.assertEqual(observer.stdout.readline(), "ready\n")
        program = [sys.executable, str(Path(__file__).with_name("mixed_executor.py")), str(self.folder / "mail")]
        names = ["ann", "bob", "eve"]
        self.executors = {
            name: ExecutorProcess(name, self.lines, lambda: self.start(*program, environment=environment)) for name in names
        }
        for part, delay in enumerate((0, 0.005, 0.02)):
            # Main is killed while it receives for all.
            for call_id in self.ask(names, f"{part}-main"):
                self.mail(call_id)
            time.sleep(delay)
            main.kill()
            main.wait()
            self.wait_until_shown()
            # Executors own in turn: each is killed while it and the others wait.
            call_ids = self.ask(names, f"{part}-turns")
            for _ in range(2):
                self.wait_until(lambda: self.owner is not None, "an Executor owns")
                self.kill_owner()
            # Where there is a hub, it is killed while all wait, and started again.
            kill_hub()
            for call_id in call_ids:
                self.mail(call_id)
            self.wait_until_shown()
            # The Executor that owns is killed while it receives for the others.
            self.assertIsNotNone(self.owner)
            for call_id in self.ask([name for name in names if name != self.owner], f"{part}-owner"):
                self.mail(call_id)
            time.sleep(delay)
            self.kill_owner()
            self.wait_until_shown()
            # The next Main has the core handed over.
            main = self.start_main(environment)
            self.wait_until(lambda: self.owner is None, "the Executor's core has stopped")
        for executor in self.executors.values():
            executor.process.stdin.close()
            self.assertEqual(executor.process.wait(60), 0)
        # Each message was shown once, by the Executor that asked for it, and was in the inbox once.
        self.assertEqual(sorted(self.shown), sorted(self.asked))
        observer.stdin.close()
        changes = [line.split() for line in observer.stdout]
        self.assertEqual(observer.wait(60), 0)
        self.assertNotIn(["lagged"], changes)
        for _, call_id in self.asked:
            kinds = [kind for kind, _, key in changes if key == f".sharedcore/inbox/{call_id}/m"]
            self.assertEqual(kinds, ["put", "deleted"], call_id)
        self.assertGreaterEqual(len([kind for kind, _, key in changes if (kind, key) == ("sessionEnded", OWNER)]), 12)
        check = subprocess.run([PROGRAM, "check"], env=environment, stdout=subprocess.PIPE, text=True)
        self.assertEqual(check.returncode, 0, check.stdout)
        self.assertIn("overlaps seen by a witness: 0", check.stdout)

    def test_files(self) -> None:
        self.run_kills(self.environment(CONFIG="/dev/null", STATE_DIRECTORY=str(self.folder / "groups"), GROUP="kills"))

    def test_hub(self) -> None:
        environment = self.environment(
            CONFIG="/dev/null", STATE_DIRECTORY=str(self.folder / "groups"), GROUP="kills", BACKEND="zmq", ZMQ_HUB="none",
            ZMQ_ENDPOINT=f"ipc://{self.folder}/hub",
        )
        hub = self.start(PROGRAM, "hub", environment=environment)

        def kill_hub() -> None:
            nonlocal hub
            hub.kill()
            hub.wait()
            hub = self.start(PROGRAM, "hub", environment=environment)

        self.run_kills(environment, kill_hub)


if __name__ == "__main__":
    unittest.main()
