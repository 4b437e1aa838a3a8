"""Threads for calls of asyncio, and for calls that end something.

All are daemons: neither a loop nor the program waits at its end for a call that waits.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from . import _library as c
from ._library import SharedCoreError

LOGGER = logging.getLogger("sharedcore")
#: With other codes there is nothing to end any more: the object, the group or the session is over.
_PASSING = {c.CANCELLED, c.OUTCOME_UNKNOWN, c.STORAGE_FULL, c.UNAVAILABLE, c.SYSTEM, c.UNKNOWN}
_LIMIT = 16
_IDLE_SECONDS = 10


def start_thread(body: Callable[[], object]) -> None:
    """Runs a function on a thread of its own."""
    threading.Thread(target=body, name="sharedcore", daemon=True).start()


def is_passing(error: SharedCoreError) -> bool:
    """Whether a call that failed may succeed later, as when the hub is back."""
    return error.code in _PASSING


def end_later(body: Callable[[], object]) -> None:
    """Makes a call that ends something on a thread of its own, and again each second until it succeeds.

    It gives up when there is nothing to end any more: the object or the group was closed, or the session is over; and after a
    minute.
    """

    def run() -> None:
        give_up = time.monotonic() + 60
        while True:
            try:
                body()
                return
            except SharedCoreError as error:
                if not is_passing(error):
                    return
                if time.monotonic() >= give_up:
                    LOGGER.warning("What was begun for a caller that has gone could not be ended: %s", error)
                    return
            time.sleep(1)

    try:
        start_thread(run)
    except RuntimeError:
        # The process has no more threads: one attempt on this one.
        with suppress(SharedCoreError):
            body()


class Threads:
    """The threads of a group, at most 16. One that has had no call for 10 seconds ends.

    A call waits up to 10 seconds for a hub that is away. So a group does not share them with another one, or with a loop.
    """

    def __init__(self) -> None:
        self._ready = threading.Condition()
        self._bodies: deque[Callable[[], object]] = deque()
        self._count = 0
        self._idle = 0

    def run(self, body: Callable[[], object]) -> None:
        """Runs a function on one of the threads, after those that came before it."""
        with self._ready:
            self._bodies.append(body)
            # A thread that was notified is idle until it has the lock.
            if self._idle >= len(self._bodies):
                self._ready.notify()
            elif self._count < _LIMIT:
                self._begin()

    def _begin(self) -> None:
        try:
            start_thread(self._run)
        except RuntimeError:
            # The process has no more threads. Another one of this group takes the function, if there is one.
            if not self._count:
                self._bodies.pop()
                raise
        else:
            self._count += 1

    def _run(self) -> None:
        while True:
            with self._ready:
                self._idle += 1
                found = self._ready.wait_for(lambda: self._bodies, _IDLE_SECONDS)
                self._idle -= 1
                if not found:
                    self._count -= 1
                    return
                body = self._bodies.popleft()
            try:
                body()
            except BaseException:
                LOGGER.exception("A call failed on a thread of a group.")
            # The wait for the next one does not keep what this one refers to.
            del body
