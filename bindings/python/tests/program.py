"""The built program ``sharedcore`` beside programs in Python."""

import json
import os
import subprocess

PROGRAM = os.environ.get("SHAREDCORE_PROGRAM")


def push(folder: str, call_id: str, payload: bytes) -> None:
    """Has the host push a call to the Main of the group ``group`` of a folder."""
    path = os.path.join(folder, "payload")
    with open(path, "wb") as file:
        file.write(payload)
    subprocess.run(
        [PROGRAM, "push", call_id, "--type", "call", "--account", "work", "--payload", path],
        env=_environment(folder), check=True, stdout=subprocess.DEVNULL,
    )


def program_status(folder: str) -> dict:
    """Returns what the program prints of the group ``group`` of a folder."""
    command = [PROGRAM, "status", "--json"]
    return json.loads(subprocess.run(command, env=_environment(folder), check=True, stdout=subprocess.PIPE).stdout)


def _environment(folder: str) -> dict[str, str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SHAREDCORE_")}
    return environment | {
        "SHAREDCORE_CONFIG": "/dev/null", "SHAREDCORE_STATE_DIRECTORY": folder,
        "SHAREDCORE_GROUP": "group", "SHAREDCORE_PUSH_ROUTES": "call=main",
    }
