"""Lets several programs use one account of signal-cli: one of them runs it, and the others send through that one.

    signal_account.py -a ACCOUNT receive
    signal_account.py -a ACCOUNT send -m TEXT RECIPIENT
"""

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sharedcore import (
    CoreContext, Group, Guard, GuardFailedError, Main, Operation, RefusedError, Request, SharedCoreError, StopRequest,
    WaitTimeoutError,
)


class SignalCore:
    """Runs `signal-cli jsonRpc` while this process owns the account, and answers the requests of all processes."""

    def __init__(self, command: list[str], show: Callable[[Any], None] | None) -> None:
        self.command = command + ["jsonRpc"] + ([] if show else ["--receive-mode", "manual"])
        self.show = show
        self.results: queue.Queue[Any] = queue.Queue()
        self.stops = threading.Event()
        self.count = 0

    def start(self, context: CoreContext) -> None:
        self.context = context
        # signal-cli ends with its standard input, so also when this process is killed.
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()
        try:
            self.call("version", patience=10)
        except queue.Empty:
            raise OSError("signal-cli does not answer. Another instance may use the account.") from None
        self.group = context.group()
        self.responder = self.group.responder("send")
        self.server = threading.Thread(target=self.serve)
        self.server.start()

    def read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if "id" in message:
                self.results.put(message)
            elif self.show:
                self.show(message["params"])
        if not self.stops.is_set():
            self.context.fail("signal-cli has ended.")

    def call(self, method: str, patience: float = 30, **parameters: Any) -> Any:
        """Makes a call of signal-cli."""
        assert self.process.stdin is not None
        self.count += 1
        print(
            json.dumps({"jsonrpc": "2.0", "id": self.count, "method": method, "params": parameters}),
            file=self.process.stdin, flush=True,
        )
        while (message := self.results.get(timeout=patience))["id"] != self.count:
            pass
        if "error" in message:
            raise OSError(message["error"]["message"])
        return message["result"]

    def serve(self) -> None:
        # Before it stops, it answers what has come.
        while (request := self.responder.take(0 if self.stops.is_set() else 0.2)) or not self.stops.is_set():
            if request:
                self.answer(request)

    def answer(self, request: Request) -> None:
        """Sends, unless a process that has ended meanwhile has sent the same: the group remembers it for an hour."""
        order = json.loads(request.message)
        key = "sent/" + order["id"]
        if (entry := self.group.get(key)) is not None:
            request.reply(entry.value)
            return
        try:
            result = json.dumps(self.call("send", **order["send"])).encode()
        except (OSError, queue.Empty) as error:
            request.refuse(str(error) or "signal-cli does not answer.")
            return
        self.group.commit([Operation.put(key, result, expires_after=3600)])
        request.reply(result)

    def stop(self, request: StopRequest) -> None:
        self.stops.set()
        if hasattr(self, "server"):
            self.server.join()
            self.responder.close()
            self.group.close()
        # Called also after a start that has failed, such as without signal-cli.
        if not hasattr(self, "process"):
            return
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(timeout=request.timeout / 2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def send(group: Group, command: list[str], recipient: str, text: str, patience: float = 30) -> Any:
    """Sends through the process that runs signal-cli, or runs it for this message where none does."""
    order = {"id": str(uuid.uuid4()), "send": {"recipient": [recipient], "message": text}}
    for _ in range(max(1, int(patience / 2))):
        with Main(group, lambda: SignalCore(command, None)) as main:
            try:
                main.wait_until_started()
            except RefusedError:
                # Another process runs it. If that ends before it answers, the next round may run it here.
                pass
            try:
                return json.loads(group.request("send", json.dumps(order).encode(), timeout=2))
            except WaitTimeoutError:
                continue
    raise TimeoutError("No process has sent the message.")


def receive(group: Group, command: list[str], show: Callable[[Any], None]) -> None:
    """Runs signal-cli for as long as this process lives, and shows what it receives."""
    # A process that runs it for one message is waited for, one that receives is not.
    try:
        group.commit([Operation.put("receives", b"", session=True)], [Guard.absent("receives")])
    except GuardFailedError:
        sys.exit("Another process receives for this account.")
    while True:
        with Main(group, lambda: SignalCore(command, show)) as main:
            try:
                main.wait_until_started()
            except RefusedError:
                continue
            main.wait_until_ended()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--signal-cli", default="signal-cli", help="the program, with its options such as --config")
    parser.add_argument("--group", help="the directory that the programs of one account share")
    parser.add_argument("-a", "--account", required=True)
    commands = parser.add_subparsers(dest="command", required=True)
    sends = commands.add_parser("send")
    sends.add_argument("-m", "--message", required=True)
    sends.add_argument("recipient")
    commands.add_parser("receive")
    arguments = parser.parse_args()
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    directory = Path(arguments.group or Path(state) / "signal-account" / arguments.account)
    directory.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    command = [*arguments.signal_cli.split(), "-a", arguments.account]
    try:
        with Group(str(directory), role="main", name=arguments.command) as group:
            if arguments.command == "send":
                print(json.dumps(send(group, command, arguments.recipient, arguments.message)))
            else:
                receive(group, command, lambda message: print(json.dumps(message), flush=True))
    except (SharedCoreError, TimeoutError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
