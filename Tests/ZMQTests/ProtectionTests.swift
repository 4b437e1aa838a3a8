internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// Each protection of the protocol, tried with and without it. This shows its purpose, and that its test can fail.
    @Suite("The protocol's protections")
    struct ProtectionTests {
        private static let silence = [String](repeating: "hub.beacon:fail", count: 400).joined(separator: ",")

        @Test("a gap in the stream is noticed by the next news", arguments: [true, false])
        func gap(isProtected: Bool) async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let (writer, listener) = (try await stage.client(), try await stage.client())
            let observation = try await listener.observe("second")
            // Each answer contains the writer's own change, so only the listener depends on the stream. Without
            // protection both skip their gaps.
            let damage = isProtected ? "" : ",link.gap:fail,link.gap:fail"
            let armed = FailPoint.arm("hub.publish:fail," + Self.silence + damage)
            defer { armed.disarm() }
            try await writer.post("first", state: 1)
            let revision = try await writer.post("second", state: 2)
            let arrived = Task { try await observation.next()?.revision }
            if isProtected {
                #expect(
                    try await withTimeout(TestTimeout.usual, "the post arrives") { try await arrived.value } == revision
                )
            } else {
                await #expect(throws: ConditionNotMet.self) {
                    _ = try await withTimeout(.seconds(1), "the post arrives") { try await arrived.value }
                }
            }
            await writer.close()
            await listener.close()
            await hub.stop()
        }

        @Test("N2: an observer that is not heard is not armed", arguments: [true, false])
        func armed(isProtected: Bool) async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let armed = FailPoint.arm("hub.echo:fail" + (isProtected ? "" : ",link.armed:fail"))
            defer { armed.disarm() }
            if isProtected {
                try await expect(.unavailable, from: "joining without the stream's echo") {
                    _ = try await stage.client { $0.openTimeout = .milliseconds(500) }
                }
            } else {
                await (try await stage.client { $0.openTimeout = TestTimeout.usual }).close()
            }
            await hub.stop()
        }

        @Test("L1: a session is taken up by a client that knows its token, and by no other", arguments: [true, false])
        func token(isProtected: Bool) async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let client = try await stage.client()
            let armed = FailPoint.arm(isProtected ? "" : "hub.token:fail")
            defer { armed.disarm() }
            let thief = try Socket(.dealer, for: stage.endpoint.description)
            defer { thief.close() }
            try thief.connect()
            let hello = Request.Hello(
                group: "group", process: .current, description: SessionDescription(),
                token: [UInt8](repeating: 0, count: Wire.tokenByteCount),
                resumed: client.session.id)
            try await eventually("hello is sent") { thief.send([try Request(number: 1, body: .hello(hello)).bytes()]) }
            var answer: IncomingMessage?
            try await eventually("the hub answers") {
                answer = thief.receive(upTo: 2)
                return answer != nil
            }
            switch try Reply(try #require(answer?.frames.first)).body {
            case .refused(let error):
                #expect(isProtected)
                #expect(error.code == .sessionEnded)
            case .welcome: #expect(!isProtected)
            case let other: Issue.record("the answer is \(other)")
            }
            await client.close()
            await hub.stop()
        }

        @Test(
            "L1: a session is its connection's, and not that of another one which calls itself the same",
            arguments: [true, false])
        func takenName(isProtected: Bool) async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let client = try await stage.client()
            let hello = Request.Hello(
                group: "group", process: .current, description: SessionDescription(),
                token: [UInt8](repeating: 1, count: Wire.tokenByteCount), resumed: nil)
            var victim: RawClient? = try RawClient(at: stage.endpoint, named: "connection")
            guard case .welcome(let welcome)? = try await victim?.ask(.hello(hello)).body else {
                Issue.record("no welcome")
                return
            }
            var transaction = Transaction()
            transaction.put("k", [1])
            guard case .outcome? = try await victim?.ask(.commit(transaction, known: .zero)).body else {
                Issue.record("the session's own connection may not commit")
                return
            }
            victim = nil
            let armed = FailPoint.arm(isProtected ? "" : "hub.nonce:fail")
            defer { armed.disarm() }
            transaction.put("k", [2])
            let bytes = try Request(number: 1, body: .commit(transaction, known: .zero)).bytes()
            // While the library has the former connection, it accepts no other one with that name.
            var (thief, answer): (RawClient?, Reply?)
            try await eventually("the hub hears the thief") {
                thief = try RawClient(at: stage.endpoint, named: "connection")
                try await thief?.say(bytes)
                for _ in 0..<50 where answer == nil {
                    answer = try thief?.hear()
                    try await Task.sleep(for: .milliseconds(5))
                }
                return answer != nil
            }
            #expect((answer?.body == .unknown) == isProtected, "\(String(describing: answer))")
            #expect(try await client.get("k")?.value == [isProtected ? 1 : 2])
            // The session continues over a connection that proves itself, and its former nonce is no longer valid.
            armed.disarm()
            var again = hello
            again.resumed = welcome.session.id
            let second = try RawClient(at: stage.endpoint)
            guard case .welcome(let renewed) = try await second.ask(.hello(again)).body else {
                Issue.record("no second welcome")
                return
            }
            #expect(renewed.session.id == welcome.session.id && renewed.nonce != welcome.nonce)
            let late = try Request(number: 9, nonce: welcome.nonce, body: .read(known: .zero)).bytes()
            #expect(try await second.ask(late).body == .unknown)
            #expect(try await second.ask(.read(known: .zero)).body != .unknown)
            await client.close()
            await hub.stop()
        }
    }
}
