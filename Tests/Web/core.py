"""A core for a scripted run: delivers a message, begins a call, reports problems."""

import json
import os
import sys

HOSTILE = "<img src=x onerror=alert(1)>\u202e\"'&"


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


for line in sys.stdin:
    request = json.loads(line)
    if request.get("method") == "start":
        send(id=request["id"], result={"protocol": 1, "name": "scripted"})
        send(id="d", method="deliver", params={
            "callID": "waiting<b>", "from": "SECRET-SENDER", "to": "bob", "text": "SECRET-TEXT"})
        send(id="c", method="beginCall", params={
            "callID": "call<i>", "direction": "incoming", "from": HOSTILE.replace("\u202e", ""), "to": "bob",
            "state": "ringing"})
        for number in range(int(os.environ.get("CORE_PROBLEMS", "1"))):
            text = f"problem {number} " + HOSTILE + "x" * int(os.environ.get("CORE_PROBLEM_SIZE", "0"))
            send(id=f"r{number}", method="report", params={"problem": text})
    elif request.get("method") == "stop":
        send(id=request["id"], result={})
        break
    elif "method" in request:
        send(id=request["id"], error={"code": -32601, "message": "unknown"})
    elif "error" in request:
        print(request, file=sys.stderr, flush=True)
