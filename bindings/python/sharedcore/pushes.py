"""The pushes that a host routes to Main (contract P13)."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_int32, c_uint64
from dataclasses import dataclass

from . import _library as c
from ._library import Owned, call, library
from ._stream import Stream


@dataclass(frozen=True, slots=True)
class Push:
    """A push. All of it comes from outside."""

    call_id: str
    #: ``message``, ``call`` or the application's own.
    type: str
    #: Empty for none.
    account: str
    payload: bytes


class TakenPush(Owned):
    """A push in a Main's hand. After ``close`` alone it stays there until the group is closed."""

    def __init__(self, handle: int, push: Push) -> None:
        self._handle = handle
        self.push = push

    def acknowledge(self) -> bool:
        """Says that the push was dealt with. Returns False where it was not this Main's any more."""
        acknowledged = c_int32()
        call("sc_push_acknowledge", self._handle, byref(acknowledged))
        self._handle = 0
        return bool(acknowledged.value)

    def give_back(self) -> None:
        """Lets a Main take the push again."""
        call("sc_push_give_back", self._handle)
        self._handle = 0


class Pushes(Stream[TakenPush]):
    """The pushes for a Main, the oldest first: an iterator, and an asynchronous one. It ends with the Main."""

    def _take(self, timeout: int) -> TakenPush | None:
        taken, place = c_uint64(), POINTER(c.CPush)()
        code = call("sc_pushes_next", self._handle, timeout, byref(taken), byref(place))
        if code == c.ENDED:
            raise StopIteration
        if code == c.NOTHING:
            return None
        try:
            push = place.contents
            payload = ctypes.string_at(push.payload, push.payload_count)
            return TakenPush(
                taken.value, Push(push.call_id.decode(), push.type.decode(), push.account.decode(), payload)
            )
        finally:
            library.sc_push_free(byref(place))


def begin_pushes(main: int) -> Pushes:
    """Begins to take the pushes for a Main."""
    handle = c_uint64()
    call("sc_main_pushes", main, byref(handle))
    return Pushes(handle.value)
