"""Two front ends of Bob's account, while Ann writes. Called by `run`, in namespaces of its own.

usage: two_front_ends.py PROGRAM, with the program of Delta Chat in DELTACHAT
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time

from servers import PLACE, ann_and_bob, until

PROGRAM = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
GROUP = os.path.join(PLACE, "group")


class FrontEnd:
    """A front end as a process, and what it has printed."""

    def __init__(self, name):
        self.name, self.shown, self.is_running = name, [], False
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "front_end.py"), GROUP, name], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            if event["event"] == "shown":
                self.shown.append(event["text"])
            elif event["event"] == "running":
                self.is_running = True
            else:
                print(f"{self.name}: {event['reason']}", file=sys.stderr)

    def send(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()


class Watcher(threading.Thread):
    """Looks at the processes all the time: how many programs have Bob's account open, at most."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.looks, self.is_over = 0, 0, False

    def run(self):
        while not self.is_over:
            self.most = max(self.most, len(self.of_account()))
            self.looks += 1
            time.sleep(0.005)

    @staticmethod
    def of_account():
        """The running programs of Bob's account: one that has begun to end is none."""
        found, mark = [], f"DC_ACCOUNTS_PATH={PLACE}/accounts-bob".encode()
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{number}/cmdline", "rb") as file:
                    if os.environ["DELTACHAT"].encode() not in file.read().split(b"\0"):
                        continue
                with open(f"/proc/{number}/environ", "rb") as file:
                    if mark in file.read().split(b"\0"):
                        found.append(int(number))
            except OSError:
                pass
        return found


def main():
    ann, number, chat = ann_and_bob()
    watcher = Watcher()
    received = queue.Queue()

    def send(text):
        ann.call("misc_send_text_message", number, chat, text)

    def read_ann():
        while True:
            for each in sorted(ann.call("wait_next_msgs", number)):
                message = ann.call("get_message", number, each)
                if message["fromId"] != 1 and message["text"] and not message["isInfo"]:
                    received.put(message["text"])
                ann.call("set_config", number, "last_msg_id", str(each))

    heard = []

    def has_heard(texts):
        while not received.empty():
            heard.append(received.get())
        return set(texts) <= set(heard)

    threading.Thread(target=read_ann, daemon=True).start()
    watcher.start()
    front_ends = [FrontEnd("desktop"), FrontEnd("terminal")]
    until("a core", lambda: any(each.is_running for each in front_ends))
    sent, written = [], []
    for turn in range(5):
        owner = next(each for each in front_ends if each.is_running)
        other = next(each for each in front_ends if each is not owner)
        sent.append(f"Question {turn}, before")
        send(sent[-1])
        for each in front_ends:
            until(f"{each.name} shows all", lambda: set(sent) <= set(each.shown))
            written.append(f"Answer {turn} of {each.name}")
            each.send(written[-1])
        until("Ann has the answers", lambda: has_heard(written))
        if turn == 0:
            print(f"both front ends show “{sent[0]}”, and both have answered; {owner.name} runs Delta Chat")
        # Killed at another moment each time, while messages come and one is to be sent.
        for part in range(3):
            sent.append(f"Question {turn}, part {part}")
            send(sent[-1])
        written.append(f"Answer {turn} while {owner.name} is killed")
        other.send(written[-1])
        time.sleep(0.1 * turn)
        owner.process.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        owner.process.wait()
        until("the other one takes over", lambda: other.is_running)
        took = time.monotonic() - killed
        front_ends = [other, FrontEnd(owner.name)]
        for each in front_ends:
            until(f"{each.name} shows all", lambda: set(sent) | set(written) <= set(each.shown))
        until("Ann has the answers", lambda: has_heard(written))
        print(f"{owner.name} was killed: {other.name} runs Delta Chat {took:.1f} s later, and shows {len(set(other.shown))} messages")
    watcher.is_over = True
    for each in front_ends:
        twice = sorted({text for text in each.shown if each.shown.count(text) > 1 and text not in written})
        assert not twice, f"{each.name} shows twice: {twice}"
    assert watcher.most == 1, f"{watcher.most} programs had the account open"
    print(f"none was lost, and never two programs had the account open ({watcher.looks} looks); "
          f"answers that Ann got twice: {len(heard) - len(set(heard))}")
    for each in front_ends:
        each.process.stdin.close()
        each.process.wait(60)
    configuration = {**os.environ, "SHAREDCORE_CONFIG": "/dev/null", "SHAREDCORE_STATE_DIRECTORY": PLACE, "SHAREDCORE_GROUP": "group"}
    subprocess.run([PROGRAM, "check"], env=configuration, check=True)


main()
