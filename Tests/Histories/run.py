"""Has processes make random calls while they are killed and stopped, and judges what they wrote down.

    run.py files|hub DIRECTORY [--calls N] [--seconds N] [--processes N] [--seed N] [--pause SECONDS] [--picture FILE]
        [--keep DIRECTORY [--judge]]

DIRECTORY is an empty one for the group, which has to be small where its disk is to be filled. SHAREDCORE_LIBRARY is the built
library, and SHAREDCORE_PROGRAM the built program `sharedcore`, which serves the hub. The status is 1 where a rule was broken.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import checker
import latency
import search

HERE = Path(__file__).resolve().parent
#: For at most so many seconds no call returns.
SILENCE = 60


class Run:
    """The processes of one history."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.random = random.Random(options.seed)
        self.settings = {"stateDirectory": options.directory, "group": "histories"}
        if options.backend == "hub":
            endpoint = f"ipc://{options.directory}/hub.socket"
            self.settings |= {"backend": "zmq", "zmq.endpoint": endpoint, "zmq.hub": "none"}
        self.environment = {key: text for key, text in os.environ.items() if not key.startswith("SHAREDCORE_")}
        self.environment |= {
            "SHAREDCORE_CONFIG": "/dev/null", "SHAREDCORE_LIBRARY": os.environ["SHAREDCORE_LIBRARY"],
            "PYTHONPATH": str(HERE.parent.parent / "bindings" / "python"),
        }
        self.started = 0
        self.read: Counter[str] = Counter()
        self.calls = 0
        self.hub: subprocess.Popen | None = None
        #: All processes: none is left when the run ends.
        self.processes: list[subprocess.Popen] = []
        #: Those that are to run now, by their names.
        self.running: dict[str, subprocess.Popen] = {}
        self.reported = time.monotonic()
        self.write("backend", options.backend)

    def write(self, *record: object) -> None:
        """Writes down what was done, for the checker."""
        with open(self.folder / "faults-0", "a") as file:
            file.write(json.dumps(record) + "\n")

    def add(self, name: str, process: subprocess.Popen) -> subprocess.Popen:
        self.processes.append(process)
        self.running[name] = process
        return process

    def check(self) -> None:
        """No process ends before it is told to, or is killed here."""
        for name, process in self.running.items():
            if process.poll() is not None:
                raise SystemExit(f"The process {name} has ended by itself: {process.returncode}")

    def start(self, what: str) -> subprocess.Popen:
        self.started += 1
        path = self.folder / f"{what}-{self.started}"
        command = [
            sys.executable, str(HERE / "calls.py"), what, str(self.started), str(self.options.seed * 1_000 + self.started),
            str(path), str(self.folder / f"over-{what}"), str(self.options.pause), *(f"{key}={text}" for key, text in self.settings.items()),
        ]
        return self.add(path.name, subprocess.Popen(command, env=self.environment))

    def serve(self) -> None:
        """Starts the hub, with its group in files, so that it is there again after a kill."""
        variables = {
            "SHAREDCORE_BACKEND": "zmq", "SHAREDCORE_STATE_DIRECTORY": self.options.directory, "SHAREDCORE_GROUP": "histories",
            "SHAREDCORE_ZMQ_ENDPOINT": self.settings["zmq.endpoint"],
        }
        with open(self.folder / "hub.log", "ab") as log:
            command = [os.environ["SHAREDCORE_PROGRAM"], "hub"]
            self.hub = self.add("hub", subprocess.Popen(command, env=self.environment | variables, stdout=log, stderr=log))

    def count(self) -> int:
        """The calls that have returned. Some return in any time, with each fault."""
        self.check()
        before = self.calls
        for path in self.folder.glob("call-*"):
            with open(path, "rb") as file:
                file.seek(self.read[path.name])
                new = file.read()
            self.read[path.name] += len(new)
            self.calls += new.count(b'["return"')
        if self.calls > before:
            self.reported = time.monotonic()
        elif time.monotonic() > self.reported + SILENCE:
            raise SystemExit(f"No call has returned for {SILENCE} s.")
        return self.calls

    def fault(self, callers: list[subprocess.Popen]) -> None:
        """One fault, of random kind."""
        self.check()
        kinds = ["kill", "kill", "stop", "stop"]
        kinds += ["kill the hub", "stop the hub"] if self.hub else []
        kinds += ["full disk"] if os.path.ismount(self.options.directory) else []
        kind = self.random.choice(kinds)
        position = self.random.randrange(len(callers))
        begin = time.monotonic_ns()
        name = next(name for name, process in self.running.items() if process is callers[position])
        if kind == "kill":
            self.kill(name)
        elif kind == "stop":
            self.stop(callers[position])
        elif kind == "kill the hub":
            self.kill("hub")
            time.sleep(self.random.random() * 0.3)
            self.serve()
        elif kind == "stop the hub":
            self.stop(self.hub)
        else:
            filling = Path(self.options.directory) / "filling"
            try:
                with open(filling, "wb", buffering=0) as file:
                    while file.write(bytes(1 << 20)):
                        pass
            except OSError:
                time.sleep(self.random.random() * 0.5)
            filling.unlink()
        self.write("fault", kind, begin, time.monotonic_ns(), name if kind in ("kill", "stop") else None)
        if kind == "kill":
            callers[position] = self.start("call")

    def kill(self, name: str) -> None:
        process = self.running.pop(name)
        process.kill()
        if (code := process.wait()) != -signal.SIGKILL:
            raise SystemExit(f"The process {name} has ended by itself: {code}")

    def stop(self, process: subprocess.Popen) -> None:
        process.send_signal(signal.SIGSTOP)
        time.sleep(self.random.random() * 0.8)
        process.send_signal(signal.SIGCONT)

    def make(self) -> None:
        """Makes the history."""
        if self.options.backend == "hub":
            self.serve()
        observers = [self.start("observe") for _ in range(2)]
        for number in (1, 2):
            path = self.folder / f"observe-{number}"
            while not path.exists() or b"snapshot" not in path.read_bytes():
                self.check()
                time.sleep(0.05)
        callers = [self.start("call") for _ in range(self.options.processes)]
        limit = time.monotonic() + self.options.seconds
        while self.count() < self.options.calls and time.monotonic() < limit:
            time.sleep(self.random.random())
            self.fault(callers)
        self.end("call", callers)
        self.end("observe", observers)
        self.end("end", [self.start("end")])

    def end(self, what: str, processes: list[subprocess.Popen]) -> None:
        """Has processes end by themselves."""
        self.check()
        (self.folder / f"over-{what}").touch()
        for process in processes:
            name = next(name for name, one in self.running.items() if one is process)
            if process.wait(120):
                raise SystemExit(f"The process {name} has ended with an error: {process.returncode}")
            del self.running[name]

    def finish(self) -> None:
        """Ends the hub, which has run until now."""
        self.check()
        if self.hub:
            self.hub.terminate()
            if code := self.hub.wait(60):
                raise SystemExit(f"The hub has ended with an error: {code}")

    def close(self) -> None:
        """Leaves no process behind."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backend", choices=("files", "hub"))
    parser.add_argument("directory")
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="makes no more calls after so many seconds")
    parser.add_argument("--processes", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0.001, help="the longest pause between two calls of a process, in seconds")
    parser.add_argument("--picture", help="a file for a picture of the times of the calls over the faults")
    parser.add_argument("--keep", help="a directory for what was written down")
    parser.add_argument("--judge", action="store_true", help="judges what was kept, and makes no calls")
    options = parser.parse_args()
    folder = Path(options.keep or tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    if options.judge:
        return judge(options, folder)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    run = Run(options, folder)
    try:
        try:
            run.make()
            run.finish()
        finally:
            run.close()
    except BaseException:
        print(f"{options.backend}: the run has failed")
        print(f"  what was written down is in {folder}, the seed was {options.seed}", flush=True)
        raise
    return judge(options, folder)


def judge(options: argparse.Namespace, folder: Path) -> int:
    """Judges what was written down in a folder."""
    gc.disable()
    judged = time.monotonic()
    history = checker.read(sorted(str(path) for path in folder.glob("*-[0-9]*")))
    one = checker.Checker(history)
    problems = one.judge()
    count, undecided, unexplained = search.windows(history)
    problems += unexplained
    calls = len(history.calls)
    processes = len({call.process for call in history.calls})
    print(f"{history.backend}: {calls} calls of {processes} processes, {len(one.commits)} commits seen, {dict(one.counts)}")
    print(f"  seed {options.seed}, faults: {dict(Counter(fault.kind for fault in history.faults))}")
    print(f"  judged in {time.monotonic() - judged:.0f} s, {count} pieces searched, {undecided} given up, "
          f"{len(problems)} problems")
    for line in latency.table(history):
        print("  " + line)
    if options.picture:
        latency.picture(history, options.picture)
    for problem in problems[:20]:
        print("  " + problem[:2_000])
    if problems:
        print(f"  what was written down is in {folder}, the seed was {options.seed}")
    elif not options.keep:
        shutil.rmtree(folder)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
