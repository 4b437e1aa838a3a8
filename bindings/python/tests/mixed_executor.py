"""An Executor of test_mixed, in a process of its own: it asks for each call-id on standard input, and prints what becomes of it.

    mixed_executor.py MAILDIR     in the group that the environment describes

Lines that it prints: ``started EPOCH``, ``stopped REASON``, ``shown CALL-ID CORE``, where CORE is ``own`` or ``other``.
"""

import email
import sys
import threading
from pathlib import Path

from sharedcore import CoreContext, Executor, Group, Message, SharedCoreError, StopRequest


class MaildirCore:
    """Delivers what is in a Maildir, and moves each message when it is stored, as the core of the Main in Swift does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stops = threading.Event()

    def start(self, context: CoreContext) -> None:
        self.thread = threading.Thread(target=self.run, args=[context], daemon=True)
        self.thread.start()
        print("started", context.epoch, flush=True)

    def run(self, context: CoreContext) -> None:
        while not self.stops.wait(0.01):
            for path in sorted((self.folder / "new").iterdir()):
                with path.open() as file:
                    mail = email.message_from_file(file)
                try:
                    context.deliver(Message(mail["Call-ID"], sender=mail["From"], text=mail.get_payload()))
                except SharedCoreError as error:
                    # The ownership is over; the next owner delivers it.
                    print("not stored:", error, file=sys.stderr)
                    return
                path.rename(self.folder / "cur" / f"{path.name}:2,S")

    def stop(self, request: StopRequest) -> None:
        self.stops.set()
        self.thread.join()
        print("stopped", request.reason, flush=True)


def show(executor: Executor, call_id: str) -> None:
    result = executor.message(call_id, timeout=60)
    if result.acknowledge():
        print("shown", call_id, "own" if result.from_core else "other", flush=True)


def main() -> None:
    folder = Path(sys.argv[1])
    with Group.configured(role="executor", name="python", open_timeout=30) as group:
        with Executor(group, lambda: MaildirCore(folder), core_linger=120, executor_budget=240) as executor:
            for line in sys.stdin:
                threading.Thread(target=show, args=[executor, line.strip()], daemon=True).start()


if __name__ == "__main__":
    main()
