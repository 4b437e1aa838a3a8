"""The base of watches, observations and other sequences of elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Self, TypeVar

from ._library import Scoped, milliseconds

Element = TypeVar("Element")


class Stream(Scoped, Generic[Element]):
    """A sequence of elements, for ``next``, ``for`` and ``async for``."""

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
            return self._take(milliseconds(timeout))
        except StopIteration:
            return None

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while (element := self._take(-1)) is None:
            pass
        return element

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        from ._async import readable

        while True:
            try:
                element = self._take(0)
            except StopIteration:
                raise StopAsyncIteration from None
            if element is not None:
                return element
            await readable(self.fileno())
