"""What is taken from one element after the other."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Generic, Self, TypeVar

from ._library import Owned, milliseconds

Element = TypeVar("Element")


class Stream(Owned, Generic[Element]):
    """What is taken from one after the other, by ``next``, ``for`` and ``async for``."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def _take(self, timeout: int) -> Element | None:
        """Returns the next element; None where none came in time. Raises StopIteration at the end."""
        raise NotImplementedError

    def next(self, timeout: float | None = None) -> Element | None:
        """Waits for the next element; None where none came within so many seconds, and at the end."""
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
        from .aio import readable

        while True:
            try:
                element = self._take(0)
            except StopIteration:
                raise StopAsyncIteration from None
            if element is not None:
                return element
            await readable(self.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
