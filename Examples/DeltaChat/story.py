"""Ann writes to Bob, whose Delta Chat is the core of a group. Called by `run`, in namespaces of its own.

usage: story.py PROGRAM BACKEND, with the program of Delta Chat in DELTACHAT
"""

import json
import os
import subprocess
import sys

from servers import PLACE, ann_and_bob, processes, write

PROGRAM, BACKEND = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    ann, number, chat = ann_and_bob()

    def send(text):
        message = ann.call("misc_send_text_message", number, chat, text)
        return ann.call("get_message_info_object", number, message)["rfc724Mid"]

    settings = write("sharedcore.yaml", json.dumps({
        "backend": BACKEND, "stateDirectory": os.path.join(PLACE, "state"),
        "core": {"command": f"python3 {HERE}/core.py", "startTimeout": "60s"},
        "executor": {"memory": "none", "budget": "120s"}}))
    sharedcore = [PROGRAM, "--config", settings]

    def receive(call_id):
        run = subprocess.run(
            [*sharedcore[:1], "executor", *sharedcore[1:], "--json", "--call-id", call_id],
            stdout=subprocess.PIPE, text=True, timeout=300)
        if run.returncode != 0:
            sys.exit(f"the Executor ended with {run.returncode}: {run.stdout}")
        return json.loads(run.stdout.splitlines()[-1])

    first = receive(send("Are you there?"))
    assert (first["event"], first["source"], first["text"]) == ("message", "core", "Are you there?"), first
    print(f"{BACKEND}: an Executor has started Delta Chat for a push, and shown: {first['text']}")

    owner = subprocess.Popen([PROGRAM, "main", "--config", settings, "--json"], stdout=subprocess.PIPE, text=True)
    assert json.loads(owner.stdout.readline())["event"] == "owning"
    second = receive(send("Shall we meet?"))
    assert (second["coreStarts"], second["text"]) == (0, "Shall we meet?"), second
    print(f"{BACKEND}: Main runs Delta Chat, and an Executor is given: {second['text']}")

    owner.kill()
    owner.wait()
    third = receive(send("At noon?"))
    assert (third["coreStarts"], third["text"]) == (1, "At noon?"), third
    assert not processes("core.py"), "no core is left"
    print(f"{BACKEND}: Main was killed, its Delta Chat went with it, and an Executor shows: {third['text']}")

    subprocess.run([PROGRAM, "check", "--config", settings], check=True)
    if BACKEND == "zmq":
        subprocess.run([PROGRAM, "hub", "--stop", "--config", settings], check=True)


main()
