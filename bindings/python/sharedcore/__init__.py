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
    Snapshot,
    Watch,
)
from .participants import Core, CoreContext, Executor, Main, Message, Result, StopRequest

__all__ = [
    "Change",
    "ClosedError",
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
    "Mailbox",
    "Main",
    "Message",
    "Notification",
    "Observation",
    "Operation",
    "RefusedError",
    "Result",
    "SharedCoreError",
    "Snapshot",
    "StopRequest",
    "WaitTimeoutError",
    "Watch",
    "code_name",
    "version",
]
