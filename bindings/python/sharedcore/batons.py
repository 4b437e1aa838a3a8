"""Batons: the work under way of a core, which the next owner's core continues (contract C25)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_char_p, c_int32, c_size_t, c_uint64
from dataclasses import dataclass

from . import _library as c
from ._library import call
from .calls import OpenCall

_CALLS, _DESCRIPTORS = 4, 15
REACHES = ("none", "bytes", "descriptors")
ENDS = ("applied", "failed", "expired", "refused", "unknown")


@dataclass(frozen=True, slots=True)
class Baton:
    """What a core gives when it stops. ``kind`` is the format and version of ``data``; ``calls`` are the ids of 1 to 4 calls."""

    kind: str
    data: bytes
    calls: Sequence[str]
    #: Open descriptors, at most 15. They are duplicated: the program closes its own.
    descriptors: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class BatonEnd:
    """What became of a baton: ``applied``, ``failed``, ``expired``, ``refused`` or ``unknown``."""

    kind: str

    @property
    def is_own(self) -> bool:
        """Whether the calls are this core's to end over the network. Otherwise it sends nothing for them."""
        return self.kind in ("failed", "expired", "refused")


class ReceivedBaton:
    """The baton of a former owner, for the start of a core: take the descriptors, prepare, apply it, and then send.

    A core that has not applied it when its ``start`` returns has refused it. After a ``start`` that raised, the next
    epoch gets it.
    """

    def __init__(self, core: int, baton: c.CBaton) -> None:
        self._core = core
        self.kind: str = baton.kind.decode()
        self.data: bytes = ctypes.string_at(baton.bytes, baton.byte_count)
        self.calls = tuple(baton.calls[index].decode() for index in range(baton.call_count))
        #: The epoch that gave it.
        self.from_epoch: int = baton.from_

    def take_descriptors(self) -> list[int]:
        """Returns the descriptors, once. They are the program's to close."""
        descriptors, count = (c_int32 * _DESCRIPTORS)(), c_size_t()
        call("sc_core_take_descriptors", self._core, descriptors, byref(count))
        return list(descriptors[: count.value])

    def apply(self) -> dict[str, OpenCall]:
        """Takes the calls over, and returns those that are open, by their ids.

        :raises GuardFailedError: the baton is over, or the core is to stop. Send nothing for the calls then.
        """
        calls = (c_uint64 * _CALLS)()
        call("sc_core_apply_baton", self._core, calls)
        return {id: OpenCall(handle) for id, handle in zip(self.calls, calls) if handle}

    def refuse(self, reason: str) -> None:
        """Says that this core cannot use it: the calls are over, and the former owner ends them."""
        call("sc_core_refuse_baton", self._core, c.c_text(reason))


def give(core: int, baton: Baton) -> None:
    """Answers the event to stop with a baton."""
    data, calls = baton.data, c.text_list(baton.calls, "calls")
    structure = c.CBaton(
        size=ctypes.sizeof(c.CBaton),
        kind=c.c_text(baton.kind),
        bytes=ctypes.cast(c_char_p(data), ctypes.c_void_p),
        byte_count=len(data),
        calls=(c_char_p * len(calls))(*calls),
        call_count=len(calls),
        descriptors=(c_int32 * len(baton.descriptors))(*baton.descriptors),
        descriptor_count=len(baton.descriptors),
    )
    call("sc_core_give_baton", core, byref(structure))
