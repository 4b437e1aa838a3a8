internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import ExecutorRun
internal import Glibc
internal import InMemoryBackend
internal import Mailboxes
internal import Platform
internal import Subprocess
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

@Suite("The socket for pushes")
struct PushSocketTests {
    /// A client that reads whole lines.
    private struct Client {
        let connection: StreamConnection

        init(_ path: String) throws {
            connection = try StreamConnection(to: path)
        }

        /// Waits for a number of lines, or the end of the stream.
        func lines(_ count: Int) async throws -> [String] {
            var received: [UInt8] = []
            var isOver = false
            while !isOver, received.filter({ $0 == UInt8(ascii: "\n") }).count < count {
                try await eventually("an answer", timeout: TestTimeout.long) {
                    switch connection.receive(upTo: 4096) {
                    case .bytes(let bytes): received += bytes
                    case .nothing: return false
                    case .end: isOver = true
                    }
                    return true
                }
            }
            return String(decoding: received, as: UTF8.self).split(separator: "\n").map(String.init)
        }

        /// Waits until the other end has closed.
        func untilClosed() async throws {
            try await eventually("the end", timeout: TestTimeout.long) { connection.receive(upTo: 4096) == .end }
        }
    }

    private let directory: TemporaryDirectory
    private let space = MemorySpace()
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path(of: "push")
    }

    private func serving(
        _ rules: RequestServer.Rules = PushSocket.rules, _ body: (PushQueue) async throws -> Void
    ) async throws {
        let group = try await space.open("a")
        let queue = try PushQueue(of: group)
        let server = try RequestServer.start("push", at: StreamListener(path: path), rules: rules) { line in
            await PushSocket.answer(line, queue)
        }
        try await body(queue)
        server.stop()
        await group.close()
    }

    @Test("A line is a push, and the answer has its revision")
    func push() async throws {
        try await serving { queue in
            let client = try Client(path)
            #expect(client.connection.send(Array("PUSH 1@x\nPUSH 2@x\r\n".utf8)))
            let lines = try await client.lines(2)
            #expect(lines.allSatisfy { $0.hasPrefix("OK ") } && lines.count == 2)
            let ids = try await queue.pending.contents().inOrder.compactMap { PushRecord($0.value)?.callID }
            #expect(ids == ["1@x", "2@x"])
            let revisions = try await queue.pending.contents().inOrder.map { "OK \($0.creationRevision)" }
            #expect(lines == revisions)
        }
    }

    @Test("A call-id may begin with a combining mark, which Swift joins with the space before it")
    func marks() async throws {
        try await serving { queue in
            let client = try Client(path)
            let ids = ["\u{301}a@x", "\u{200D}b@x", "\u{FE0F}c@x", "d@x\u{301}"]
            #expect(client.connection.send(Array(ids.map { "PUSH \($0)\r\n" }.joined().utf8)))
            #expect(try await client.lines(ids.count).allSatisfy { $0.hasPrefix("OK ") })
            #expect(try await queue.pending.contents().inOrder.compactMap { PushRecord($0.value)?.callID } == ids)
        }
    }

    @Test(
        "P13: an object of JSON is a push with a type, an account and a payload, whose absent fields are the defaults")
    func object() async throws {
        try await serving { queue in
            let client = try Client(path)
            let lines = [
                #"{"callID": "1@x", "type": "call", "account": "ümit@x", "payload": "AP8K"}"#, #"{"callID":"{2@x}"}"#,
                "PUSH {3@x}",
            ]
            #expect(client.connection.send(Array((lines.joined(separator: "\r\n") + "\n").utf8)))
            #expect(try await client.lines(3).allSatisfy { $0.hasPrefix("OK ") })
            let pushes = try await queue.pending.contents().inOrder.compactMap { PushRecord($0.value)?.push }
            #expect(
                pushes == [
                    try Push(#require(CallID("1@x")), type: "call", account: "ümit@x", payload: [0, 0xff, 0x0a]),
                    Push(try #require(CallID("{2@x}"))), Push(try #require(CallID("{3@x}"))),
                ])
        }
    }

    @Test(
        "P13: a bad type, account or payload is refused: nothing is stored, and the answer does not repeat it",
        arguments: [
            #""type":"""#, #""type":"Call""#, #""type":"a b""#, #""type":"SECRET""#, #""type":null"#, #""type":1"#,
            "\"type\":\"\(String(repeating: "a", count: 65))\"", #""account":"a\u0000b""#, #""account":"SECRET\u0085""#,
            "\"account\":\"\(String(repeating: "ü", count: 129))\"", #""payload":"SECRET""#, #""payload":"AB==""#,
            #""payload":"AA=A""#, #""payload":"AA\n==""#, #""payload":["SECRET"]"#, #""other":"x""#,
            "\"payload\":\"\(Base64.encode(Array(repeating: 7, count: 4097)))\"", #""type":"call","#, #""type":"a"}}"#,
            #""callID":"2@x""#, #""\u0063allID":"1@x""#, #""type":"call","type":"call""#,
        ])
    func badObject(fields: String) async throws {
        try await serving { queue in
            let client = try Client(path)
            #expect(client.connection.send(Array((#"{"callID":"1@x","# + fields + "}\nPUSH 2@x\n").utf8)))
            let lines = try await client.lines(2)
            #expect(
                lines.first?.hasPrefix("ERROR invalid ") == true && lines.last?.hasPrefix("OK ") == true, "\(lines)")
            #expect(!lines.joined().contains("SECRET"))
            #expect(try await queue.pending.count().waiting == 1)
        }
    }

    @Test(
        "P13: the answer to a wrong object names the field, and for an unknown one the known fields",
        arguments: [
            (
                #"{"callID":"1@x","paylaod":""}"#,
                "There is no field “paylaod”; the fields are callID, type, account, payload."
            ),
            (#"{"callID":"1@x","type":1}"#, "The field “type” must be a text, not a number."),
            (#"{"callID":"1@x","type":null}"#, "The field “type” must be a text, not null."),
            (#"{"callID":"1@x","type":"a","\u0074ype":"a"}"#, "The field “type” is given twice."),
            (#"{"type":"call"}"#, "The field “callID” is missing: it has the call-id that the push announces."),
            (
                #"{"callID":"1@x","account":"\ud800"}"#,
                "The line begins with { and is not an object of JSON (RFC 8259)."
            ),
            ("{", "The line begins with { and is not an object of JSON (RFC 8259)."),
            (
                "{\"\(String(repeating: "n", count: 70))\":\"\"}",
                "There is no field “\(String(repeating: "n", count: 64))… (6 bytes more)”; the fields are callID, type, "
                    + "account, payload."
            ),
        ])
    func namedField(line: String, text: String) async throws {
        try await serving { queue in
            let answer = await PushSocket.answer(Array(line.utf8), queue)
            #expect(String(decoding: answer, as: UTF8.self) == "ERROR invalid \(text)\n")
        }
    }

    @Test("P13: the longest type, account, payload and call-id together are one line of the socket")
    func longestObject() async throws {
        try await serving { queue in
            let escaped = { (count: Int) in String(repeating: #"\u0061"#, count: count) }
            let line =
                #"{"callID":"\#(escaped(998))","type":"\#(escaped(64))","account":"\#(escaped(256))","payload":""#
                + Base64.encode(Array(repeating: 0xfb, count: 4096)) + "\"}"
            let client = try Client(path)
            #expect(client.connection.send(Array((line + "\n").utf8)))
            #expect(try await client.lines(1).first?.hasPrefix("OK ") == true)
            let push = try #require(
                try await queue.pending.contents().inOrder.first.flatMap { PushRecord($0.value)?.push })
            #expect(push.payload.count == 4096 && push.type.count == 64 && push.account.count == 256)
        }
    }

    @Test(
        "A line that is no push is answered with an error, and the next line is read",
        arguments: [
            "", "PUSH", "PUSH ", "push 1@x", "PUSH  x", "PUSH \u{7}", "GET / HTTP/1.1", "\0\0\0", #"{"callID":""}"#,
            "{}", "{", "[]",
        ])
    func garbage(line: String) async throws {
        try await serving { queue in
            let client = try Client(path)
            #expect(client.connection.send(Array((line + "\nPUSH 1@x\n").utf8)))
            let lines = try await client.lines(2)
            #expect(lines.first?.hasPrefix("ERROR invalid ") == true && lines.last?.hasPrefix("OK ") == true)
            #expect(try await queue.pending.count().waiting == 1)
        }
    }

    @Test("A line that is not UTF-8 is no push")
    func bytes() async throws {
        try await serving { queue in
            let client = try Client(path)
            #expect(client.connection.send(Array("PUSH ".utf8) + [0xff, 0xfe, 0x0a]))
            #expect(try await client.lines(1).first?.hasPrefix("ERROR invalid ") == true)
            #expect(try await queue.pending.count().waiting == 0)
        }
    }

    @Test("The longest call-id is accepted; a longer line ends the connection, however long it is")
    func long() async throws {
        try await serving { queue in
            let client = try Client(path)
            let longest = String(repeating: "x", count: PushID.maximumByteCount)
            #expect(client.connection.send(Array("PUSH \(longest)\n".utf8)))
            #expect(try await client.lines(1).first?.hasPrefix("OK ") == true)
            _ = client.connection.send([UInt8](repeating: UInt8(ascii: "x"), count: 100_000))
            #expect(try await client.lines(1).first?.hasPrefix("ERROR tooLong ") == true)
            try await client.untilClosed()
            #expect(try await queue.pending.count().waiting == 1)
        }
    }

    @Test("A peer that does not finish a line in its time is disconnected, also when a byte comes now and then")
    func slow() async throws {
        var rules = PushSocket.rules
        rules.timeout = .milliseconds(200)
        try await serving(rules) { queue in
            let silent = try Client(path)
            let dripping = try Client(path)
            try await eventually("it is let go", timeout: TestTimeout.long) {
                _ = dripping.connection.send([UInt8(ascii: "P")])
                return dripping.connection.receive(upTo: 1) == .end
            }
            try await silent.untilClosed()
            #expect(try await queue.pending.count().waiting == 0)
        }
    }

    @Test("A peer beyond the limit gets an error; those within it are served, and their places are used again")
    func crowd() async throws {
        var rules = PushSocket.rules
        rules.timeout = TestTimeout.long
        try await serving(rules) { _ in
            var crowd: [Client] = []
            for _ in 0..<rules.peerCount {
                let client = try Client(path)
                // Each push is stored before the next one comes.
                #expect(client.connection.send(Array("\n".utf8)))
                #expect(try await client.lines(1).first?.hasPrefix("ERROR invalid ") == true)
                crowd.append(client)
            }
            #expect(try await Client(path).lines(1).first?.hasPrefix("ERROR busy ") == true)
            #expect(crowd[0].connection.send(Array("PUSH 1@x\n".utf8)))
            #expect(try await crowd[0].lines(1).first?.hasPrefix("OK ") == true)
            crowd.removeLast()
            try await eventually("a free place", timeout: TestTimeout.long) {
                let client = try Client(path)
                guard client.connection.send(Array("PUSH 2@x\n".utf8)) else { return false }
                return try await client.lines(1).first?.hasPrefix("OK ") == true
            }
        }
    }

    @Test("A connection of another user is closed without an answer")
    func otherUser() async throws {
        let own = PushSocket.rules
        let rules = RequestServer.Rules(
            terminator: own.terminator, requestByteCount: own.requestByteCount, isPersistent: true,
            user: FileStatus.currentUser + 1, tooLong: own.tooLong, busy: own.busy)
        try await serving(rules) { queue in
            let client = try Client(path)
            _ = client.connection.send(Array("PUSH 1@x\n".utf8))
            #expect(try await client.lines(1).isEmpty)
            #expect(try await queue.pending.count().waiting == 0)
        }
    }

    @Test("A path with a listener or a file is not touched; a socket without a listener is replaced")
    func taken() async throws {
        let first = try StreamListener(path: path)
        #expect { try StreamListener(path: path) } throws: { ($0 as? SystemCallError)?.isAddressTaken == true }
        #expect(try Client(path).connection.send([1]))
        withExtendedLifetime(first) {}
        let file = directory.path(of: "file")
        _ = try OpenFile(path: file, .create)
        #expect { try StreamListener(path: file) } throws: { ($0 as? SystemCallError)?.isAddressTaken == true }
        #expect(try FileStatus(ofPath: file).isRegularFile)
    }

    @Test("A path is no abstract name, to which every user may connect")
    func abstract() throws {
        let name = "sharedcore-test-\(ProcessIdentity.current.pid)"
        #expect { try StreamListener(path: "@" + name) } throws: { ($0 as? SystemCallError)?.number == EINVAL }
        let listener = try StreamListener(abstractName: name)
        #expect(try StreamConnection(to: listener.location).peer?.process == ProcessIdentity.current.pid)
        #expect { try StreamListener(abstractName: name) } throws: { ($0 as? SystemCallError)?.isAddressTaken == true }
    }

    @Test("The host's socket is for its user alone, and takes the place of one that was left behind")
    func host() async throws {
        var program = try HostProgram()
        program.environment["XDG_RUNTIME_DIR"] = program.directory.path(of: "run")
        program.environment["SHAREDCORE_EXECUTOR_COMMAND"] = "true"
        try program.makeDirectory("run")
        let started = program
        for _ in 0..<2 {
            let killed = try await program.running("serve", "--json") { running in
                let host = ServingHost(program: started, running: running)
                try await host.until("it serves") { $0["event"] == .text("serving") }
                let found = try await started.shell("find run -type s -name push")
                let path = started.directory.path(of: found.output.split(separator: "\n").first.map(String.init) ?? "")
                #expect(try FileStatus(ofPath: path).permissions == 0o600)
                let client = try Client(path)
                #expect(client.connection.send(Array("PUSH 1@x\n".utf8)))
                #expect(try await client.lines(1).first?.hasPrefix("OK ") == true)
                try await host.until("served", of: "1@x")
                try running.send(.kill)
            }
            #expect(killed.status == 137)
        }
    }
}
