"""A front end of a Delta Chat account that other front ends use at the same time. Each shows all messages, and each sends.

usage: front_end.py GROUP-DIRECTORY NAME

The accounts lie in DC_ACCOUNTS_PATH, the program in DELTACHAT. One front end runs the program for all; when that one ends or is killed, another
one goes on. Lines of the input are sent to the chat of the last message. Lines of the output are JSON: `running`, `shown`, `failed`.
"""

import fcntl
import json
import os
import sys
import threading
import time

from sharedcore import CoreContext, Group, Main, RefusedError, SharedCoreError, StopRequest

from core import LAST_SPECIAL_CONTACT, DeltaChat

# The messages of the account, as all front ends show them, and those that wait to be sent.
CHAT, OUTBOX = "chat", "outbox"
# The key of the owner of the core, which is gone when its process is.
OWNER = ".sharedcore/ownership/owner"


def say(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


def take_lock():
    """Waits until no front end and no program of one has the account open, and returns the lock.

    The program inherits it: a front end that is killed leaves a program that ends a moment later.
    """
    lock = os.open(os.environ["DC_ACCOUNTS_PATH"] + ".lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    limit = time.monotonic() + 20
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError:
            if time.monotonic() > limit:
                os.close(lock)
                raise
            time.sleep(0.02)


class AccountCore:
    """Delta Chat, in the one front end that owns the core."""

    def __init__(self):
        self.lock = self.chat = None
        self.threads, self.is_over = [], threading.Event()

    def start(self, context: CoreContext):
        self.lock = take_lock()
        self.chat = DeltaChat(inherits=(self.lock,))
        account = self.chat.call("get_all_account_ids")[0]
        self.chat.call("start_io", account)
        for work in (self.receive, self.send):
            self.threads.append(threading.Thread(target=self.run, args=(context, work, account), daemon=True))
            self.threads[-1].start()

    def stop(self, request: StopRequest):
        self.is_over.set()
        if self.chat:
            self.chat.close()
        for thread in self.threads:
            thread.join()
        if self.lock is not None:
            os.close(self.lock)

    def run(self, context, work, account):
        # What is written by it has the epoch as a guard: a front end that was taken for dead writes nothing more.
        try:
            with context.group() as group:
                work(group, account)
        except (RuntimeError, ValueError, OSError, SharedCoreError) as problem:
            if not self.is_over.is_set():
                say("failed", reason=str(problem))
                context.fail(str(problem))

    def receive(self, group, account):
        while not self.is_over.is_set():
            for number in sorted(self.chat.call("wait_next_msgs", account)):
                message = self.chat.call("get_message", account, number)
                if message["fromId"] > LAST_SPECIAL_CONTACT and message["text"] and not message["isInfo"]:
                    self.show(group, account, number, message)
                # Delta Chat gives a message again until this: one that a killed core had in hand is not lost.
                self.chat.call("set_config", account, "last_msg_id", str(number))

    def send(self, group, account):
        with group.mailbox(OUTBOX) as outbox:
            while not self.is_over.is_set():
                if (delivery := outbox.take(0.5)) is None:
                    continue
                letter = json.loads(delivery.message)
                # A chat that another person began is a request, which takes no answer before this.
                self.chat.call("accept_chat", account, letter["chat"])
                number = self.chat.call("misc_send_text_message", account, letter["chat"], letter["text"])
                self.show(group, account, number, self.chat.call("get_message", account, number))
                # A core that is killed before this leaves the letter to the next one, which may send it twice.
                delivery.acknowledge()

    def show(self, group, account, number, message):
        """Stores a message for all front ends, under its number: once, also where two cores do it."""
        name = self.chat.call("get_message_info_object", account, number)["rfc724Mid"]
        record = {"id": name, "chat": message["chatId"], "from": message["sender"]["address"], "text": message["text"]}
        group.put(f"{CHAT}/{number:010}", json.dumps(record).encode())


class Window:
    """What a front end shows: the messages of the account, each once."""

    def __init__(self, group):
        self.watch, self.shown, self.chat = group.watch(CHAT), set(), None

    def follow(self):
        for event in self.watch:
            for change in event.changes:
                if change.new and change.key not in self.shown:
                    self.shown.add(change.key)
                    message = json.loads(change.new.value)
                    self.chat = message["chat"]
                    say("shown", **message)


def wait_for_no_owner(group):
    with group.watch(OWNER) as watch:
        while group.status().owner:
            watch.next(timeout=5)


def take_part(group):
    """Runs the core whenever no other front end does."""
    while True:
        try:
            with Main(group, AccountCore, stop_timeout=10) as main:
                main.wait_until_started()
                say("running")
                main.wait_until_ended()
        except RefusedError:
            wait_for_no_owner(group)
        except SharedCoreError as problem:
            say("failed", reason=str(problem))
            time.sleep(0.5)


def main():
    directory, name = sys.argv[1:]
    # A mailbox and a watch of the group work in each front end, whichever runs the core.
    with Group(directory, role="main", name=name) as group, group.mailbox(OUTBOX) as outbox:
        window = Window(group)
        for work in (window.follow, lambda: take_part(group)):
            threading.Thread(target=work, daemon=True).start()
        for line in sys.stdin:
            if window.chat is None:
                say("failed", reason="no chat yet: a message has to come first")
            else:
                outbox.send(json.dumps({"chat": window.chat, "text": line.rstrip("\n")}).encode())
        # The end of the input: the session ends with the process, and another front end takes over.
        os._exit(0)


if __name__ == "__main__":
    main()
