"""Messages that a core receives, and the inbox that keeps them until they are acknowledged."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from ctypes import byref, c_int32, c_uint64, string_at
from dataclasses import dataclass, field

from . import _library as c
from ._library import call, library, page_limit, word

_NO_TIME = -(2**63)
_CHANGES = ("changed", "changedInHand", "over", "absent")
_STATES = ("absent", "stored", "taken", "acknowledged", "nothing")


@dataclass(frozen=True, slots=True)
class Message:
    """A message that a core has received, or that an Executor shows (contract C20)."""

    #: The identifier that its push announced.
    call_id: str
    sender: str = ""
    recipient: str = ""
    text: str = ""
    body: bytes = b""
    #: ``text``, ``invitation``, ``too-large``, ``nothing``, or 1 to 64 of ``a-z``, ``0-9``, ``-``, ``.``.
    kind: str = "text"
    #: What tells it from others of the call-id: 1 to 64 of ``A-Z``, ``a-z``, ``0-9``, ``-``, ``.``, ``_``.
    sequence: str | None = None
    #: At most 256 bytes.
    account: str | None = None
    #: At most 512 bytes.
    conversation: str | None = None
    #: That its sender gave it: seconds since 1970, in whole milliseconds.
    time: float | None = None
    #: Of the body, at most 256 bytes.
    content_type: str | None = None
    #: What else the application keeps: at most 32, of names as a kind has them, and values of at most 1,024 bytes.
    fields: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class ListedMessage:
    """A message that waits to be acknowledged."""

    message: Message
    #: The revision at which it was first stored.
    stored_at: int
    #: ``stored`` or ``taken``.
    state: str
    #: The session that has it in hand.
    taken_by: int | None


@dataclass(frozen=True, slots=True)
class InboxPage:
    """Messages that wait to be acknowledged, the oldest first."""

    messages: tuple[ListedMessage, ...]
    #: The revision after which the next page begins; None for the last page.
    next: int | None


@dataclass(frozen=True, slots=True)
class MessageState:
    """What the inbox has for an identity: ``absent``, ``stored``, ``taken``, ``acknowledged`` or ``nothing`` to show."""

    state: str
    #: With ``taken``, the session that has it in hand.
    taken_by: int | None


def c_message(message: Message) -> c.CMessage:
    """Returns a message as the structure of the header. It keeps what it points to."""
    fields = (c.CField * len(message.fields))()
    for place, (name, value) in zip(fields, message.fields.items(), strict=True):
        place.name, place.value = c.c_text(name), c.c_text(value)
    return c.CMessage(
        size=ctypes.sizeof(c.CMessage),
        call_id=c.c_text(message.call_id),
        sequence=c.optional_c_text(message.sequence),
        kind=c.c_text(message.kind),
        sender=c.c_text(message.sender),
        recipient=c.c_text(message.recipient),
        text=c.c_text(message.text),
        body=ctypes.cast(ctypes.c_char_p(message.body), ctypes.c_void_p),
        body_count=len(message.body),
        account=c.optional_c_text(message.account),
        conversation=c.optional_c_text(message.conversation),
        content_type=c.optional_c_text(message.content_type),
        time=_NO_TIME if message.time is None else _whole_milliseconds(message.time),
        fields=fields,
        field_count=len(fields),
    )


def _whole_milliseconds(time: float) -> int:
    if not -float("inf") < time < float("inf"):
        raise ValueError(f"The time of a message is a number of seconds since 1970, not {time}.")
    # A time beyond the range is left to the library to refuse: ctypes would cut it.
    limit = 2**63 // 1000
    return 2**63 - 1 if time >= limit else 1 - 2**63 if time <= -limit else round(time * 1000)


def message_of(found: c.CMessage) -> Message:
    """Returns the message of a structure of the library."""
    return Message(
        call_id=found.call_id.decode(),
        sender=found.sender.decode(),
        recipient=found.recipient.decode(),
        text=found.text.decode(),
        body=string_at(found.body, found.body_count),
        kind=found.kind.decode(),
        sequence=c.optional_text(found.sequence),
        account=c.optional_text(found.account),
        conversation=c.optional_text(found.conversation),
        time=None if found.time == _NO_TIME else found.time / 1000,
        content_type=c.optional_text(found.content_type),
        fields={each.name.decode(): each.value.decode() for each in found.fields[: found.field_count]},
    )


def change(name: str, *arguments: object) -> str:
    """Calls a function of the library that changes a message. Returns what it did."""
    result = c_int32()
    call(name, *arguments, byref(result))
    return _CHANGES[result.value - 1]


def inbox_page(group: int, after: int, limit: int) -> InboxPage:
    """Gets a page of a group's inbox."""
    place = ctypes.POINTER(c.CInboxPage)()
    call("sc_inbox", group, word(after, "revision"), page_limit(limit), byref(place))
    try:
        page = place.contents
        listed = (page.messages[index].contents for index in range(page.count))
        messages = tuple(
            ListedMessage(
                message_of(each.message.contents), each.stored_at, _STATES[each.state], each.taken_by or None
            )
            for each in listed
        )
        return InboxPage(messages, page.next or None)
    finally:
        library.sc_inbox_page_free(byref(place))


def message_state(group: int, call_id: str, sequence: str | None) -> MessageState:
    """Gets the state of an identity."""
    state, session = c_int32(), c_uint64()
    call(
        "sc_inbox_state", group, c.c_text(call_id), c.optional_c_text(sequence), byref(state), byref(session)
    )
    return MessageState(_STATES[state.value], session.value or None)
