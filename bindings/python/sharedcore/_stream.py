"""The base of watches, observations and other sequences of elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Self, TypeVar

from ._library import ClosedError, Scoped, milliseconds, wait_and_take

Element = TypeVar("Element")


class Stream(Scoped, Generic[Element]):
    """A sequence of elements, for ``next``, ``for`` and ``async for``."""

    #: Whether the first use of the descriptor or of :meth:`_take` waits for the store, which the thread of a loop must not.
    _begins_by_store = False

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def _take(self, timeout: int) -> Element | None:
        """Waits for the next element, so many milliseconds, -1 without a limit. Returns None at the timeout.

        :raises StopIteration: the sequence has ended.
        """
        raise NotImplementedError

    def next(self, timeout: float | None = None) -> Element | None:
        """Waits for the next element. Returns None after ``timeout`` seconds, and at the end.

        ``None`` as a timeout waits without a limit.
        """
        try:
            return self._wait(milliseconds(timeout))
        except StopIteration:
            return None

    def _wait(self, timeout: int) -> Element | None:
        """As :meth:`_take`, with the handlers of signals on the main thread, and an end where another thread closes it."""
        try:
            return wait_and_take(self, timeout, self._take)
        except ClosedError:
            if self.is_open:
                raise
            raise StopIteration from None

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while (element := self._wait(-1)) is None:
            pass
        return element

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        from ._async import next_element

        element = await next_element(self, None, None)
        # A wait without an end has an element, or ends with the sequence.
        assert element is not None
        return element
