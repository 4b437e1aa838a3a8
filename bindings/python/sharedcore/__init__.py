"""A dictionary, notifications and one running core, shared by the processes of an application.

Everything here is blocking, and may be used from any thread; :mod:`sharedcore.aio` has the same for asyncio. A forked child
cannot use what its parent opened: each call raises :class:`ForkedError`. Use ``multiprocessing`` with ``spawn``.
"""

from ._library import (
    ClosedError,
    ForkedError,
    GuardFailedError,
    HandleError,
    RefusedError,
    SharedCoreError,
    WaitTimeoutError,
    code_name,
    version,
)
from .calls import Activity, Call, CallChanges, Command, OpenCall
from .group import (
    Change,
    Delivery,
    Entry,
    Event,
    Group,
    Guard,
    Mailbox,
    Notification,
    Observation,
    Operation,
    Request,
    Responder,
    Snapshot,
    Watch,
)
from .messages import InboxPage, ListedMessage, Message, MessageState
from .participants import Core, CoreContext, Executor, Main, Result, StopRequest
from .status import ActivityInfo, Asked, Owner, Process, SessionInfo, Status, TimelineEntry, TimelinePage

__all__ = [
    "Activity",
    "ActivityInfo",
    "Asked",
    "Call",
    "CallChanges",
    "Change",
    "ClosedError",
    "Command",
    "Core",
    "CoreContext",
    "Delivery",
    "Entry",
    "Event",
    "Executor",
    "ForkedError",
    "Group",
    "Guard",
    "GuardFailedError",
    "HandleError",
    "InboxPage",
    "ListedMessage",
    "Mailbox",
    "Main",
    "Message",
    "MessageState",
    "Notification",
    "Observation",
    "OpenCall",
    "Operation",
    "Owner",
    "Process",
    "RefusedError",
    "Request",
    "Responder",
    "Result",
    "SessionInfo",
    "SharedCoreError",
    "Snapshot",
    "Status",
    "StopRequest",
    "TimelineEntry",
    "TimelinePage",
    "WaitTimeoutError",
    "Watch",
    "code_name",
    "version",
]
