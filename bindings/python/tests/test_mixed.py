"""A Main in Swift and an Executor in Python take the core from each other, across a kill."""

import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from sharedcore import CoreContext, Executor, Group, Message, StopRequest, WaitTimeoutError

PROGRAM = os.environ.get("SHAREDCORE_PROGRAM")


class Core:
    """Delivers the one message that it is made with."""

    def __init__(self, events: list[str], call_id: str) -> None:
        self.events, self.call_id = events, call_id

    def start(self, context: CoreContext) -> None:
        self.events.append("start")
        context.deliver(Message(self.call_id, sender="python", text="from python"))

    def stop(self, request: StopRequest) -> None:
        self.events.append("stop " + request.reason)


@unittest.skipUnless(PROGRAM, "SHAREDCORE_PROGRAM names the built program")
class MixedGroupTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("groups", "mail", "mail/new", "mail/cur", "mail/tmp"):
            (self.folder / name).mkdir(mode=0o700)

    def test_group_by_configuration(self) -> None:
        """The group of the variables is that of the program, and its Executors have the timeouts of the variables."""
        variables = {
            "SHAREDCORE_CONFIG": "/dev/null",
            "SHAREDCORE_STATE_DIRECTORY": str(self.folder / "groups"),
            "SHAREDCORE_EXECUTOR_BUDGET": "300ms",
        }
        with mock.patch.dict(os.environ, variables):
            environment = {key: value for key, value in os.environ.items() if not key.startswith("SHAREDCORE_")}
            put = [PROGRAM, "store", "put", "a", "swift", "--group", "chat"]
            subprocess.run(put, env=environment | variables, check=True, stdout=subprocess.PIPE)
            with Group.configured({"group": "chat"}, role="executor") as group:
                self.assertEqual(group.get("a").value, b"swift")
                events: list[str] = []
                with Executor(group, lambda: Core(events, "other")) as executor:
                    with self.assertRaises(WaitTimeoutError):
                        executor.message("none", timeout=3)
                self.assertEqual(events, ["start", "stop budget"])

    def start_main(self) -> subprocess.Popen:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SHAREDCORE_")}
        main = subprocess.Popen(
            [PROGRAM, "main", "--json", "--state-directory", str(self.folder / "groups"), "--group", "mixed"],
            env=environment | {"SHAREDCORE_CORE_MAILDIR": str(self.folder / "mail")},
            stdout=subprocess.PIPE, text=True,
        )
        self.addCleanup(main.stdout.close)
        self.addCleanup(main.wait)
        self.addCleanup(main.kill)
        # It prints a line when it owns.
        self.assertTrue(main.stdout.readline())
        return main

    def mail(self, call_id: str) -> None:
        text = f"From: Ann <ann@example.org>\r\nTo: Bob <bob@example.org>\r\nCall-ID: {call_id}\r\n\r\nfrom swift\r\n"
        path = self.folder / "mail" / "tmp" / f"{time.monotonic_ns()}.test"
        path.write_bytes(text.encode())
        path.rename(self.folder / "mail" / "new" / path.name)

    def test_executor_beside_main(self) -> None:
        events: list[str] = []
        first = self.start_main()
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
                self.start_main()
                self.assertEqual(events, ["start", "stop handover"])
                self.mail("3")
                result = executor.message("3", timeout=60)
                self.assertEqual((result.message.text.strip(), result.from_core), ("from swift", False))
                self.assertTrue(result.acknowledge())


if __name__ == "__main__":
    unittest.main()
