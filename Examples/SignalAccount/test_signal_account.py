"""Several programs use one account of the stand-in for signal-cli at a time."""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ACCOUNT = "+4930123456"


class SignalAccountTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.stand_in = [sys.executable, str(HERE / "signal_cli_stand_in.py"), "--config", str(self.folder)]

    def start(self, *command: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def shared(self, *arguments: str) -> "subprocess.Popen[str]":
        return self.start(
            sys.executable, str(HERE / "signal_account.py"), "--signal-cli", " ".join(self.stand_in),
            "--group", str(self.folder / "group"), "-a", ACCOUNT, *arguments,
        )

    def receiving(self) -> "subprocess.Popen[str]":
        """Starts a program that receives, and returns when it has received."""
        receiver = self.shared("receive")
        incoming = self.folder / f"{ACCOUNT}.incoming"
        incoming.mkdir(exist_ok=True)
        (incoming / "1").write_text("hello")
        assert receiver.stdout is not None
        self.assertIn("hello", receiver.stdout.readline())
        return receiver

    def send_all(self, texts: list[str]) -> None:
        self.wait_for([self.shared("send", "-m", text, "+4940") for text in texts])

    def wait_for(self, senders: "list[subprocess.Popen[str]]") -> None:
        for sender in senders:
            output, errors = sender.communicate(timeout=60)
            self.assertEqual(sender.returncode, 0, errors)
            self.assertIn("timestamp", output)

    def sent(self) -> list[Any]:
        path = self.folder / f"{ACCOUNT}.sent"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def test_without_the_wrapper(self) -> None:
        """The stand-in waits, as signal-cli does."""
        receiver = self.start(*self.stand_in, "-a", ACCOUNT, "receive")
        deadline = time.monotonic() + 30
        while not (self.folder / f"{ACCOUNT}.lock").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        sender = self.start(*self.stand_in, "-a", ACCOUNT, "send", "-m", "waits", "+4940")
        assert sender.stderr is not None
        self.assertIn("Config file is in use by another instance, waiting…", sender.stderr.readline())
        with self.assertRaises(subprocess.TimeoutExpired):
            sender.wait(timeout=1)
        receiver.kill()
        self.assertEqual(sender.wait(timeout=30), 0)

    def test_through_the_owner(self) -> None:
        """While one program receives, others send: the one signal-cli that runs has sent all, each once."""
        receiver = self.receiving()
        texts = [f"through {number}" for number in range(4)]
        self.send_all(texts)
        self.assertEqual(sorted(line["message"] for line in self.sent()), texts)
        self.assertEqual(len({line["pid"] for line in self.sent()}), 1)
        second = self.shared("receive")
        self.assertIn("Another process receives", second.communicate(timeout=120)[1])
        self.assertIsNone(receiver.poll())

    def test_without_an_owner(self) -> None:
        """No program receives, and several send: one runs signal-cli for the others, or they do in turn."""
        texts = [f"alone {number}" for number in range(4)]
        self.send_all(texts)
        self.assertEqual(sorted(line["message"] for line in self.sent()), texts)

    def test_slow_owner(self) -> None:
        """A message that takes longer than a round of its sender is sent once."""
        os.environ["STAND_IN_SECONDS"] = "3"
        self.addCleanup(os.environ.pop, "STAND_IN_SECONDS")
        self.receiving()
        self.send_all(["slow"])
        self.assertEqual([line["message"] for line in self.sent()], ["slow"])

    def test_owner_killed(self) -> None:
        """The program that receives is killed while it sends for others, and they go on without it."""
        receiver = self.receiving()
        texts = [f"after {number}" for number in range(6)]
        senders = [self.shared("send", "-m", text, "+4940") for text in texts]
        deadline = time.monotonic() + 30
        while not self.sent() and time.monotonic() < deadline:
            time.sleep(0.01)
        receiver.kill()
        self.wait_for(senders)
        # What the killed program had in hand may have been sent twice.
        self.assertEqual(sorted({line["message"] for line in self.sent()}), texts)
        self.assertLessEqual(len(self.sent()), len(texts) + 1)
        self.assertGreater(len({line["pid"] for line in self.sent()}), 1)


if __name__ == "__main__":
    unittest.main()
