internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// Source: decision 43.
    @Suite("L1: each message is one frame")
    struct OneFrameTests {
        private let stage: HubStage

        init() throws {
            stage = try HubStage()
        }

        private var hello: Request.Body {
            .hello(
                Request.Hello(
                    group: "group", process: .current, description: SessionDescription(),
                    token: [UInt8](repeating: 1, count: Wire.tokenByteCount), resumed: nil))
        }

        @Test("each answer of a hub is one frame, also one of many records")
        func answers() async throws {
            let hub = try await stage.hub()
            let client = try await stage.client()
            for number in 0..<20 { try await client.put(Key("k\(number)"), [UInt8](repeating: 1, count: 100_000)) }
            // Checks that an answer is one frame.
            let raw = try RawClient(at: stage.endpoint)
            guard case .unknown = try await raw.ask(.read(known: .zero)).body else { throw HarnessLimitation("known") }
            guard case .welcome = try await raw.ask(hello).body else { throw HarnessLimitation("no welcome") }
            let put = Transaction(operations: [.put("k", [1], .persistent)])
            guard case .view = try await raw.ask(.view(group: "group")).body,
                case .snapshot = try await raw.ask(.catchUp(after: nil)).body,
                case .history = try await raw.ask(.history(after: .zero)).body,
                case .current = try await raw.ask(.read(known: .zero)).body,
                case .outcome = try await raw.ask(.commit(put, known: .zero)).body,
                case .done = try await raw.ask(.keepAlive).body, case .done = try await raw.ask(.close).body
            else {
                Issue.record("an answer is another one than was asked for")
                return
            }
            await client.close()
            await hub.stop()
        }

        @Test("a state of more bytes than an answer may have is refused, and the message says so")
        func largeState() async throws {
            var options = HubOptions(
                group: "group", storage: .files(directory: stage.files, FileGroupOptions()), endpoints: [stage.endpoint]
            )
            options.answerByteLimit = 100_000
            let hub = try await Hub.start(options)
            let client = try await stage.client()
            for key in ["k", "l"] as [Key] { try await client.put(key, [UInt8](repeating: 1, count: 60_000)) }
            let raw = try RawClient(at: stage.endpoint)
            for question in [Request.Body.view(group: "group"), hello, .catchUp(after: nil)] {
                switch try await raw.ask(question).body {
                case .welcome: continue
                case .refused(let error):
                    #expect(error.code == .limitExceeded && error.message.contains("100000 bytes"))
                case let other: Issue.record("\(other)")
                }
            }
            await client.close()
            await hub.stop()
        }

        /// The private memory of a process; nil when it is gone.
        private static func byteCount(of pid: Int32) -> Int? {
            guard let text = OpenFile.text(of: "/proc/\(pid)/status"),
                let line = text.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") })
            else { return nil }
            return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
        }

        /// With several frames the library aborted the client (`fq.cpp`), or the client took the next hub's frames for the rest,
        /// in a third of the rounds.
        @Test(
            "a hub is killed while a client reads its state, which is stopped meanwhile: the client joins the next one",
            .timeLimit(.minutes(20)))
        func killedHub() async throws {
            var hub = try await stage.hubProcess()
            let writer = try await stage.peer()
            let (count, size) = (200, 90_000)
            let value = String(repeating: "z", count: size)
            for number in 0..<count { try await writer.tell("put k\(number) \(value)") }
            await writer.killNow()
            let rounds = TestScope.isCheck ? 60 : 10
            for round in 0..<rounds {
                let peer = try Peer(PeerProgram(path: try ChildProcess.built("sharedcore-test-peer")))
                _ = try await peer.answer()
                let enough =
                    (Self.byteCount(of: peer.pid) ?? 0) + count * size * 3 / 10 + count * size * 12 / 10 * round
                    / rounds
                try peer.send("open zmq \(stage.endpoint)")
                let deadline = ContinuousClock.now.advanced(by: TestTimeout.usual)
                await SerialThread(name: "memory").run {
                    while peer.process.lines.count < 2, let byteCount = Self.byteCount(of: peer.pid),
                        byteCount < enough,
                        ContinuousClock.now < deadline
                    { usleep(200) }
                }
                peer.signal(.stop)
                hub.process.signal(.kill)
                _ = await hub.process.end()
                peer.signal(.continue)
                hub = try await stage.hubProcess()
                // If it has ended, the error says how.
                try await peer.done(timeout: TestTimeout.long)
                try await peer.tell("put round \(round)")
                await peer.killNow()
            }
            hub.process.signal(.kill)
            _ = await hub.process.end()
        }
    }
}
