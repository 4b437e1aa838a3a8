"""A stand-in for signal-cli, which has its commands `send`, `receive` and `jsonRpc`, its lock on the account and its message when that
is taken. Its server is a directory: what it sends is in ACCOUNT.sent, and what it receives are files in ACCOUNT.incoming. Each message
takes STAND_IN_SECONDS.

    signal_cli_stand_in.py --config DIRECTORY -a ACCOUNT send -m TEXT RECIPIENT
"""

import argparse
import fcntl
import json
import os
import select
import sys
import time
from pathlib import Path
from typing import Any


class Account:
    def __init__(self, directory: Path, name: str) -> None:
        self.sent = directory / f"{name}.sent"
        self.incoming = directory / f"{name}.incoming"
        self.incoming.mkdir(exist_ok=True)
        self.lock = (directory / f"{name}.lock").open("w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("INFO  SignalAccount - Config file is in use by another instance, waiting…", file=sys.stderr, flush=True)
            fcntl.flock(self.lock, fcntl.LOCK_EX)

    def send(self, recipient: list[str], message: str) -> Any:
        time.sleep(float(os.environ.get("STAND_IN_SECONDS", "0.05")))
        line = {"recipient": recipient, "message": message, "pid": os.getpid()}
        with self.sent.open("a") as file:
            print(json.dumps(line), file=file)
        return {"timestamp": time.time_ns() // 1_000_000}

    def receive(self) -> None:
        for path in sorted(self.incoming.iterdir()):
            envelope = {"envelope": {"dataMessage": {"message": path.read_text()}}}
            print(json.dumps({"jsonrpc": "2.0", "method": "receive", "params": envelope}), flush=True)
            path.unlink()

    def serve(self, receives: bool) -> None:
        """Answers lines of JSON-RPC until standard input ends."""
        while True:
            if receives:
                self.receive()
            if not select.select([0], [], [], 0.05)[0]:
                continue
            # One line at a time, as the rest of a buffer would not be seen by select.
            line = b""
            while not line.endswith(b"\n"):
                byte = os.read(0, 1)
                if not byte:
                    return
                line += byte
            call = json.loads(line)
            if call["method"] == "version":
                result: Any = {"version": "stand-in"}
            else:
                result = self.send(**call["params"])
            print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("-a", "--account", required=True)
    commands = parser.add_subparsers(dest="command", required=True)
    send = commands.add_parser("send")
    send.add_argument("-m", "--message", required=True)
    send.add_argument("recipient")
    commands.add_parser("receive")
    commands.add_parser("jsonRpc").add_argument("--receive-mode", default="on-start")
    arguments = parser.parse_args()
    account = Account(arguments.config, arguments.account)
    if arguments.command == "send":
        print(account.send([arguments.recipient], arguments.message)["timestamp"])
    elif arguments.command == "jsonRpc":
        account.serve(arguments.receive_mode != "manual")
    else:
        while True:
            account.receive()
            time.sleep(0.05)


if __name__ == "__main__":
    main()
