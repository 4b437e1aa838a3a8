"""Delta Chat as a core: deltachat-rpc-server behind the protocol of `core.command`.

The accounts lie in DC_ACCOUNTS_PATH, the program in DELTACHAT. A message is acknowledged (`last_msg_id`) only when
the group has it: what was not answered, Delta Chat gives again.
"""

import json
import os
import queue
import subprocess
import sys
import threading


# Contacts up to this number are Delta Chat itself.
LAST_SPECIAL_CONTACT = 9


class Peer:
    """One side of JSON-RPC 2.0 in lines: asks, and hands on what it is asked."""

    def __init__(self, source, sink, handle=None):
        self.source, self.sink, self.handle = source, sink, handle
        self.lock, self.last, self.waiting, self.is_over = threading.Lock(), 0, {}, False

    def send(self, **message):
        with self.lock:
            self.sink.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            self.sink.flush()

    def call(self, method, *positional, **named):
        answer = queue.Queue()
        with self.lock:
            self.last += 1
            number = self.last
            self.waiting[number] = answer
        self.send(id=number, method=method, params=named or list(positional))
        message = {"error": {"message": "the other side has ended"}} if self.is_over else answer.get()
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']['message']}")
        return message["result"]

    def read(self):
        """Reads until the end of the input."""
        for line in self.source:
            message = json.loads(line)
            if "method" in message:
                self.handle(message)
            else:
                self.waiting.pop(message["id"]).put(message)
        self.is_over = True
        for answer in list(self.waiting.values()):
            answer.put({"error": {"message": "the other side has ended"}})


class DeltaChat(Peer):
    """A deltachat-rpc-server of one's own; it ends with its input."""

    def __init__(self, inherits=()):
        self.process = subprocess.Popen(
            [os.environ["DELTACHAT"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=inherits)
        super().__init__(self.process.stdout, self.process.stdin)
        threading.Thread(target=self.read, daemon=True).start()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def start(group, request):
    try:
        chat = DeltaChat()
        account = chat.call("get_all_account_ids")[0]
        address = chat.call("get_config", account, "configured_addr")
        chat.call("start_io", account)
    except (RuntimeError, OSError, IndexError) as problem:
        return group.send(id=request["id"], error={"code": 1, "message": str(problem)})
    group.send(id=request["id"], result={"protocol": 1, "name": "Delta Chat"})
    threading.Thread(target=receive, args=(group, chat, account, address), daemon=True).start()
    return chat


def receive(group, chat, account, address):
    try:
        while True:
            for number in sorted(chat.call("wait_next_msgs", account)):
                message = chat.call("get_message", account, number)
                if message["fromId"] <= LAST_SPECIAL_CONTACT:
                    continue
                name = chat.call("get_message_info_object", account, number)["rfc724Mid"]
                content = {"kind": "nothing"}
                if message["text"] and not message["isInfo"]:
                    content = {
                        "kind": "text", "from": message["sender"]["address"], "to": address, "text": message["text"]}
                group.call("deliver", callID=name, **content)
                chat.call("set_config", account, "last_msg_id", str(number))
    except (RuntimeError, ValueError, OSError) as problem:
        # Superseded, or told to stop: the rest is for the next core.
        print(problem, file=sys.stderr)


def main():
    chat = None

    def handle(request):
        nonlocal chat
        if request["method"] == "start":
            chat = start(group, request)
        elif request["method"] == "stop":
            if chat:
                chat.close()
            group.send(id=request["id"], result={})
            os._exit(0)
        else:
            group.send(id=request["id"], error={"code": -32601, "message": "no such method"})

    group = Peer(sys.stdin, sys.stdout, handle)
    group.read()


if __name__ == "__main__":
    main()
