internal import CoreAPITesting
internal import Platform

/// A program in Python that is a core, and behaves as its mode says. It writes each message that it receives as a
/// line of a file.
package struct PythonCore: Sendable {
    private let directory: TemporaryDirectory

    package init() throws {
        directory = try TemporaryDirectory()
        let file = try OpenFile(path: directory.path(of: "core.py"), .create)
        try file.write(Array(Self.text.utf8), at: 0)
    }

    /// The program with a mode and its arguments.
    ///
    /// - Parameter notes: The name of the file that it writes.
    package func command(_ mode: String, _ arguments: String..., notes: String = "notes") -> [String] {
        ["python3", directory.path(of: "core.py"), mode, directory.path(of: notes)] + arguments
    }

    /// The lines that it has written.
    package func notes(_ name: String = "notes") -> [String] {
        let text = OpenFile.text(of: directory.path(of: name), upTo: 1 << 20) ?? ""
        // A line is written in one piece, but may not be there to its end.
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// Waits for a line that begins with a word, and gives its other words.
    package func untilNote(_ word: String, in name: String = "notes") async throws -> [String] {
        func found() -> [String]? {
            notes(name).lazy.map { $0.split(separator: " ").map(String.init) }.first { $0.first == word }
        }
        try await eventually("the program notes “\(word)”", timeout: TestTimeout.long) { found() != nil }
        return Array((found() ?? []).dropFirst())
    }

    /// Waits for a line, and gives the process number that follows its word.
    package func untilPid(_ word: String, in name: String = "notes") async throws -> Int32 {
        Int32(try await untilNote(word, in: name).first ?? "") ?? 0
    }

    /// Makes a file that it waits for.
    package func touch(_ name: String) throws {
        _ = try OpenFile(path: directory.path(of: name), .create)
    }

    private static let text = #"""
        import json, os, select, signal, subprocess, sys, time

        mode, path, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]

        def note(*words):
            with open(path, "a") as file:
                file.write(" ".join(str(word) for word in words) + "\n")

        def write(line):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

        def send(**message):
            write(json.dumps({"jsonrpc": "2.0", **message}))

        def read():
            line = sys.stdin.readline()
            if not line:
                note("eof")
                sys.exit(0)
            return json.loads(line)

        def hang():
            note("hangs")
            while True:
                time.sleep(1000)

        last = 0
        def call(method, **parameters):
            """Asks, and returns the answer; a request that comes meanwhile is handled first."""
            global last
            last += 1
            mine = last
            send(id=mine, method=method, params=parameters)
            while True:
                message = read()
                if message.get("method"):
                    handle(message)
                elif message["id"] == mine:
                    return message

        def deliver(call_id, text):
            answer = call("deliver", callID=call_id, kind="text", **{"from": "ann"}, to="bob", text=text, unknown=1)
            note("delivered", call_id, answer["result"]["outcome"] if "result" in answer else answer["error"].get("data", answer["error"])["code"])

        def handle(message):
            method, parameters = message["method"], message.get("params", {})
            if method == "start":
                start(message["id"], parameters)
            elif method == "stop":
                stop(message["id"], parameters)
            elif method == "callCommand" and parameters["command"] != "resume":
                command(message["id"], parameters)
            else:
                send(id=message["id"], error={"code": -32601, "message": "unknown"})

        def start(number, parameters):
            push = parameters["push"] or {}
            assert "update" in parameters["methods"]
            note("start", parameters["epoch"], parameters["role"], push.get("callID"), push.get("payload"))
            if mode == "hang-start": hang()
            if mode == "die-in-start": sys.exit(3)
            if mode == "garbage-in-start": write("Connecting ...")
            if mode == "refuse":
                send(id=number, error={"code": 1, "message": "no account"})
                return
            send(id=number, result={"protocol": 2 if mode == "version" else 1, "name": "script"})
            note("started")
            work()

        def stop(number, parameters):
            note("stop", parameters["reason"], parameters["requester"], parameters["timeoutMs"])
            if mode == "hang-in-stop" or mode == "term": return
            if mode == "garbage-in-stop":
                write("Goodbye!")
                hang()
            if mode == "die-in-stop": sys.exit(3)
            if mode == "late": deliver("late", "in the end")
            send(id=number, result={})
            note("stopped")
            sys.exit(0)

        def ask(argument):
            """Does a step: “await” and the end of a file's name, or a method and its parameters."""
            method, parameters = argument.split(" ", 1)
            if method == "await":
                while not os.path.exists(path + "." + parameters): time.sleep(0.01)
                return
            answer = call(method, **json.loads(parameters))
            note("answer", method, answer["result"].get("outcome", "done") if "result" in answer else answer["error"].get("data", answer["error"])["code"])

        def command(number, parameters):
            name, call_id = parameters["command"], parameters["callID"]
            note("command", call_id, name)
            if name == "hold": return
            if name == "decline":
                send(id=number, error={"code": 1, "message": "no line\n" + "x" * 1000})
                return
            if name == "answer": call("changeCall", callID=call_id, state="answered")
            if name == "hangUp": call("endCall", callID=call_id, reason="failed", text="no line")
            send(id=number, result={})

        def work():
            global mode
            if mode == "ask":
                for argument in arguments: ask(argument)
                note("asked")
                return
            if mode.startswith("call-"):
                for argument in arguments: ask(argument)
                mode = mode.removeprefix("call-")
                arguments.clear()
            for argument in arguments if mode != "big" else []:
                deliver(*argument.split("=", 1))
            if mode == "exit": sys.exit(0)
            if mode == "die": sys.exit(3)
            if mode == "kill": os.kill(os.getpid(), signal.SIGKILL)
            if mode == "freeze": os.kill(os.getpid(), signal.SIGSTOP)
            if mode == "hang": hang()
            if mode == "garbage": write("* 3 messages")
            if mode == "number": write("[1]")
            if mode == "answer": send(id=7, result={})
            if mode == "long": write("x" * (3 << 20))
            if mode == "endless":
                while True: os.write(1, b"x" * 65536)
            if mode == "flood":
                number = 0
                while True:
                    number += 1
                    send(id=number, method="deliver", params={"callID": str(number), "kind": "nothing"})
                    note("sent", number)
            # Without an id, so that no answer holds it up.
            while mode == "flood-carried-out": send(method="withdraw", params={"callID": "none"})
            while mode == "flood-refused": send(method="changeCall", params={"callID": "none", "state": "held"})
            if mode == "big":
                number, left = 0, b""
                os.set_blocking(1, False)
                while select.select([], [1], [], 2)[1]:
                    if not left:
                        number += 1
                        note("sends", number)
                        parameters = {"callID": str(number), "kind": "nothing", "padding": "x" * int(arguments[0])}
                        message = {"jsonrpc": "2.0", "id": number, "method": "deliver", "params": parameters}
                        left = (json.dumps(message) + "\n").encode()
                    left = left[os.write(1, left):]
                note("blocked")
                hang()
            if mode == "unanswered":
                send(id=99, method="deliver", params={"callID": "b", "kind": "text", "from": "ann", "to": "bob", "text": "last"})
                os.kill(os.getpid(), signal.SIGKILL)
            if mode == "grow":
                held = b"x" * (200 << 20)
                hang()
            if mode == "close-output":
                os.close(1)
                hang()
            if mode == "close-input":
                os.close(0)
                hang()
            if mode == "errors":
                note("writes")
                for number in range(100000): os.write(2, b"trouble %d\n" % number)
                os.write(2, b"y" * 10000 + b"\nlast")
                note("wrote")
            if mode in ("fork", "fork-bare"):
                kinds = [("forked", False, None), ("daemon", True, None), ("bare", False, {})]
                for word, own, environment in kinds[:3 if mode == "fork-bare" else 2]:
                    child = subprocess.Popen(["sleep", "1000"], start_new_session=own, env=environment)
                    note(word, child.pid)
            if mode == "reports":
                refused = 0
                for number in range(60):
                    refused += "error" in call("report", problem="problem %d" % number)
                note("refused", refused)
            if mode == "unknown":
                note("error", call("forward", message={})["error"]["code"])
                note("error", call("deliver", callID="a", kind="Picture")["error"]["code"])
                note("error", call("deliver", callID="", kind="nothing")["error"]["code"])
                note("error", call("deliver", callID="big", kind="text", **{"from": "a"}, to="b", text="z" * (3 << 19))
                    ["error"]["data"]["code"])
            if mode == "activity":
                answer = call("beginActivity", kind="call", id="1", expectedEndMs=60000)
                note("began", "result" in answer)
                while not os.path.exists(path + ".end"): time.sleep(0.01)
                note("ends")
                call("endActivity", kind="call", id="1")

        def terminate(*_):
            note("term")
            if mode == "term": sys.exit(0)

        if mode in ("term", "hang-in-stop"): signal.signal(signal.SIGTERM, terminate)
        if mode == "die-at-once": sys.exit(3)
        note("runs", os.getpid(), os.getpgrp(), os.getsid(0))
        for name, value in sorted(os.environ.items()): note("environment", name, value)
        note("descriptors", *sorted(os.listdir("/proc/self/fd"), key=int)[:-1])
        if mode == "garbage-at-once": write("Hello!")
        if mode == "fork-at-once": note("daemon", subprocess.Popen(["sleep", "1000"], start_new_session=True).pid)
        while True:
            handle(read())
        """#
}
