"""Measures the package for Python beside redis-py, diskcache, filelock and sqlite3, in turns, and prints a table.

    compare.py [ROUNDS]

In files or over a unix socket of this machine. No put is flushed to the disk: sqlite3 has a write-ahead log with `synchronous` off,
Redis keeps nothing, and SharedCore and diskcache have their defaults.
"""

import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import diskcache
import filelock
import redis

import sharedcore

VALUE = b"x" * 100
CALLS = 300
# A lock that expires belongs to a killed process for as long, so it is renewed three times within that.
EXPIRY = 1.0


class Core:
    """Notes when it is started."""

    def __init__(self, started: Callable[[], None]) -> None:
        self.started = started

    def start(self, context: sharedcore.CoreContext) -> None:
        self.started()

    def stop(self, request: sharedcore.StopRequest) -> None:
        pass


class SharedCore:
    name = "sharedcore"

    def __init__(self, folder: Path, role: str = "executor") -> None:
        self.group = sharedcore.Group(str(folder / "group"), role=role)

    def put(self) -> None:
        self.group.put("key", VALUE)

    def get(self) -> None:
        self.group.get("key")

    def answer(self, receives: str, sends: str) -> Callable[[], None]:
        """Returns a call that waits for one name to be posted."""
        observation = self.group.observe(receives)
        return lambda: (observation.next(), None)[1]

    def post(self, name: str) -> None:
        self.group.post(name)

    def hold(self) -> None:
        sharedcore.Main(self.group, lambda: Core(lambda: None)).wait_until_started()

    def take_over(self) -> Callable[[], None]:
        """Begins to wait for the ownership, and returns a call that waits until this process has it."""
        owned = threading.Event()
        executor = sharedcore.Executor(self.group, lambda: Core(owned.set))
        executor.ask("call", 60)

        def wait() -> None:
            owned.wait()
            self.end = time.perf_counter()
            executor.close()

        return wait


class Redis:
    name = "redis-py"

    def __init__(self, folder: Path, role: str = "") -> None:
        self.redis = redis.Redis(unix_socket_path=str(folder / "redis"))
        self.lock = self.redis.lock("lock", timeout=EXPIRY)

    def put(self) -> None:
        self.redis.set("key", VALUE)

    def get(self) -> None:
        self.redis.get("key")

    def answer(self, receives: str, sends: str) -> Callable[[], None]:
        subscription = self.redis.pubsub(ignore_subscribe_messages=True)
        subscription.subscribe(receives)
        subscription.get_message(timeout=1)

        def wait() -> None:
            while subscription.get_message(timeout=60) is None:
                pass

        return wait

    def post(self, name: str) -> None:
        self.redis.publish(name, b"")

    def hold(self) -> None:
        self.lock.acquire()

    def renew(self) -> None:
        self.lock.reacquire()

    def take_over(self) -> Callable[[], None]:
        return waiting(self, self.lock.acquire, self.lock.release)


class DiskCache:
    name = "diskcache"

    def __init__(self, folder: Path, role: str = "") -> None:
        self.cache = diskcache.Cache(str(folder / "cache"))
        self.lock = diskcache.Lock(self.cache, "lock", expire=EXPIRY)

    def put(self) -> None:
        self.cache.set("key", VALUE)

    def get(self) -> None:
        self.cache.get("key")

    def hold(self) -> None:
        self.lock.acquire()

    def renew(self) -> None:
        self.cache.touch("lock", expire=EXPIRY)

    def take_over(self) -> Callable[[], None]:
        return waiting(self, self.lock.acquire, self.lock.release)


class SQLite:
    name = "sqlite3"

    def __init__(self, folder: Path, role: str = "") -> None:
        self.base = sqlite3.connect(folder / "base", isolation_level=None, timeout=60, check_same_thread=False)
        self.base.execute("PRAGMA journal_mode = WAL")
        self.base.execute("PRAGMA synchronous = OFF")
        self.base.execute("CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value BLOB)")

    def put(self) -> None:
        self.base.execute("INSERT OR REPLACE INTO entries VALUES ('key', ?)", (VALUE,))

    def get(self) -> None:
        self.base.execute("SELECT value FROM entries WHERE key = 'key'").fetchone()

    def hold(self) -> None:
        self.base.execute("BEGIN IMMEDIATE")

    def take_over(self) -> Callable[[], None]:
        return waiting(self, self.hold, lambda: self.base.execute("ROLLBACK"))


class FileLock:
    name = "filelock"

    def __init__(self, folder: Path, role: str = "") -> None:
        self.lock = filelock.FileLock(folder / "lock", thread_local=False)

    def hold(self) -> None:
        self.lock.acquire()

    def take_over(self) -> Callable[[], None]:
        return waiting(self, self.lock.acquire, self.lock.release)


def waiting(candidate: object, take: Callable[[], object], release: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        take()
        candidate.end = time.perf_counter()  # type: ignore[attr-defined]
        release()

    thread = threading.Thread(target=run)
    thread.start()
    return thread.join


CANDIDATES = (SharedCore, Redis, DiskCache, SQLite, FileLock)


def start(*arguments: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, __file__, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def call_time(call: Callable[[], None]) -> float:
    begin = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - begin) / CALLS


def seen_time(candidate: SharedCore | Redis, folder: Path) -> float:
    """Half of the time from a post to the answer of another process, which waits for it."""
    wait = candidate.answer("pong", "ping")
    echo = start("echo", candidate.name, str(folder))
    samples = []
    for _ in range(CALLS):
        begin = time.perf_counter()
        candidate.post("ping")
        wait()
        samples.append((time.perf_counter() - begin) / 2)
    echo.kill()
    echo.communicate()
    return statistics.median(samples)


def take_over_time(kind: type, folder: Path) -> float:
    """The time from the kill of the process that holds to the ownership of one that waits."""
    holder = start("hold", kind.name, str(folder))
    candidate = kind(folder)
    wait = candidate.take_over()
    time.sleep(0.4)
    begin = time.perf_counter()
    holder.send_signal(signal.SIGKILL)
    wait()
    holder.communicate()
    return float(candidate.end - begin)


def other_process(order: str, name: str, folder: Path) -> None:
    kind = next(each for each in CANDIDATES if each.name == name)
    candidate = kind(folder, "main")
    if order == "echo":
        wait = candidate.answer("ping", "pong")
        print("ready", flush=True)
        while True:
            wait()
            candidate.post("pong")
    candidate.hold()
    print("ready", flush=True)
    while True:
        time.sleep(EXPIRY / 3)
        if hasattr(candidate, "renew"):
            candidate.renew()


def main() -> None:
    if len(sys.argv) == 4:
        other_process(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    results: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", str(folder / "redis"), "--save", "", "--dir", name],
            stdout=subprocess.DEVNULL,
        )
        try:
            while not (folder / "redis").exists():
                time.sleep(0.01)
            candidates = [kind(folder) for kind in CANDIDATES]
            for _ in range(rounds):
                for what, measure in (
                    ("put", lambda each: call_time(each.put)),
                    ("get", lambda each: call_time(each.get)),
                    ("post to seen", lambda each: seen_time(each, folder)),
                ):
                    needs = "answer" if what == "post to seen" else what
                    for each in candidates:
                        if hasattr(each, needs):
                            results.setdefault((what, each.name), []).append(measure(each))
                for kind in CANDIDATES:
                    results.setdefault(("take-over", kind.name), []).append(take_over_time(kind, folder))
        finally:
            server.terminate()
            server.wait()
    print("|  |", " | ".join(kind.name for kind in CANDIDATES), "|")
    print("|---|" + "---|" * len(CANDIDATES))
    for what in ("get", "put", "post to seen", "take-over"):
        cells = []
        for kind in CANDIDATES:
            samples = results.get((what, kind.name))
            if samples is None:
                cells.append("–")
                continue
            own = results[what, SharedCore.name]
            ratio = statistics.median(mine / other for mine, other in zip(own, samples, strict=True))
            text = f"{statistics.median(samples) * 1e6:.4g} µs"
            cells.append(text if kind is SharedCore else f"{text} ({ratio:.2g})")
        print(f"| {what} |", " | ".join(cells), "|")
    print(f"\nLoad at the end: {os.getloadavg()[0]:.2f}; {rounds} rounds.")


if __name__ == "__main__":
    main()
