"""Drives sharedcore-web over real sockets: starts it on a group, sends requests as written, reads answers and streams."""

import json
import os
import socket
import subprocess
import tempfile
import threading
import time


class Answer:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        self.status = int(lines[0].split(" ")[1]) if raw else None
        self.headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(": ")
            self.headers[name.lower()] = value

    @property
    def json(self):
        return json.loads(self.body)


def until(condition, what, seconds=20):
    """Waits until a condition holds, and returns its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


class Group:
    """A group in a directory of its own, and the program to use it."""

    def __init__(self, programs):
        self.programs = programs
        self.directory = tempfile.TemporaryDirectory()
        self.path = self.directory.name
        self.environment = dict(
            os.environ, SHAREDCORE_CONFIG="/dev/null", SHAREDCORE_BACKEND="file", SHAREDCORE_GROUP="try",
            SHAREDCORE_STATE_DIRECTORY=self.path + "/groups", XDG_RUNTIME_DIR=self.path,
            SHAREDCORE_CORE_MAILDIR=self.path + "/mail")
        for name in ("new", "cur", "tmp"):
            os.makedirs(f"{self.path}/mail/{name}", mode=0o700)
        self.running = []

    def run(self, *arguments, check=True):
        ended = subprocess.run(
            [self.programs + "/sharedcore", *arguments], env=self.environment, capture_output=True, text=True, timeout=120)
        if check and ended.returncode != 0:
            raise AssertionError(f"{arguments}: {ended.returncode}: {ended.stderr}")
        return ended

    def lines(self, *arguments):
        return [json.loads(line) for line in self.run("--json", *arguments).stdout.splitlines()]

    def start(self, *arguments, **more):
        process = subprocess.Popen(
            [self.programs + "/sharedcore", *arguments], env=self.environment, stdout=subprocess.PIPE, **more)
        self.running.append(process)
        return process

    def close(self):
        for process in self.running:
            process.kill()
            process.wait()
            process.stdout.close()
        self.directory.cleanup()


class Web:
    """A running sharedcore-web, and one browser's cookie and key."""

    def __init__(self, group, *arguments):
        self.process = group.start("--json", "web", *arguments)
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"sharedcore web has ended with {self.process.wait()}")
        self.said = json.loads(line)
        self.socket = self.said["socket"]
        address, self.token = self.said["url"].split("#")
        self.host = address.removeprefix("http://").rstrip("/") or "localhost"
        self.cookie = self.key = None

    def connect(self):
        if self.socket:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(20)
            connection.connect(self.socket)
            return connection
        name, port = self.host.split(":")
        return socket.create_connection((name, int(port)), timeout=20)

    def head(self, method, path, headers):
        fields = {"Host": self.host, **headers}
        lines = [f"{method} {path} HTTP/1.1"] + [f"{n}: {v}" for n, v in fields.items() if v is not None]
        return "\r\n".join(lines + ["", ""]).encode()

    def raw(self, data):
        with self.connect() as connection:
            connection.sendall(data)
            received = b""
            while True:
                try:
                    part = connection.recv(1 << 16)
                except ConnectionResetError:
                    break
                if not part:
                    break
                received += part
            return Answer(received)

    def request(self, method, path, **headers):
        return self.raw(self.head(method, path, {n.replace("_", "-"): v for n, v in headers.items()}))

    def exchange(self, token=None, **headers):
        fields = {"Origin": "http://" + self.host, "X_SharedCore_Token": token or self.token, **headers}
        return self.request("POST", "/session", **fields)

    def sign_in(self):
        answer = self.exchange()
        assert answer.status == 200, answer.body
        self.key = answer.json["key"]
        self.cookie = answer.headers["set-cookie"].split(";")[0]

    @property
    def secrets(self):
        return {"Cookie": self.cookie, "X_SharedCore_Key": self.key}

    def get(self, path, **headers):
        return self.request("GET", path, **{**self.secrets, **headers})

    def document(self, path):
        answer = self.get("/api/" + path)
        assert answer.status == 200, (path, answer.status, answer.body)
        return answer.json

    def stream(self, last=None):
        return Stream(self, last)


class Stream:
    """The events of the stream of changes, as they come."""

    def __init__(self, web, last):
        fields = {"Cookie": web.cookie, "X-SharedCore-Key": web.key}
        if last is not None:
            fields["Last-Event-ID"] = str(last)
        self.connection = web.connect()
        self.connection.sendall(web.head("GET", "/api/changes", fields))
        self.events = []
        self.id = None
        self.head = None
        self.isClosed = False
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        text = b""
        try:
            while True:
                part = self.connection.recv(1 << 16)
                if not part:
                    break
                text += part
                if self.head is None and b"\r\n\r\n" in text:
                    head, _, text = text.partition(b"\r\n\r\n")
                    self.head = Answer(head + b"\r\n\r\n")
                while self.head is not None and b"\n\n" in text:
                    event, _, text = text.partition(b"\n\n")
                    fields = dict(
                        line.split(": ", 1) for line in event.decode().split("\n") if not line.startswith(":"))
                    if fields:
                        # An id is a revision, and the incarnation of the group behind an “@”.
                        self.id = fields.get("id", self.id)
                        revision = int(fields["id"].split("@")[0]) if "id" in fields else None
                        self.events.append((fields["event"], revision, json.loads(fields["data"])))
        except (OSError, ValueError):
            pass
        self.isClosed = True
        self.connection.close()

    @property
    def last(self):
        return next((number for _, number, _ in reversed(self.events) if number is not None), None)

    @property
    def records(self):
        return [record for name, _, data in list(self.events) if name == "timeline" for record in data["records"]]

    def close(self):
        self.connection.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.connection.close()
