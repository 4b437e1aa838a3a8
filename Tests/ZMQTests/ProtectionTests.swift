internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// Each protection of the protocol, with it and with it taken out: what it is for, and that its test can fail.
    @Suite("The protocol's protections")
    struct ProtectionTests {
        private static let silence = [String](repeating: "hub.beacon:fail", count: 400).joined(separator: ",")

        @Test("a gap in the stream is noticed by the next news", arguments: [true, false])
        func gap(isProtected: Bool) async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let (writer, listener) = (try await stage.client(), try await stage.client())
            let observation = try await listener.observe("second")
            // Each answer tells the writer what it did, so only the listener depends on the stream. Without protection both
            // of them pass over their gaps.
            let damage = isProtected ? "" : ",link.gap:fail,link.gap:fail"
            FailPoint.arm("hub.publish:fail," + Self.silence + damage)
            defer { FailPoint.arm("") }
            try await writer.post("first", state: 1)
            let revision = try await writer.post("second", state: 2)
            let arrived = Task { try await observation.next()?.revision }
            if isProtected {
                #expect(try await within(Patience.usual, "the post arrives") { try await arrived.value } == revision)
            } else {
                await #expect(throws: ConditionNotMet.self) {
                    _ = try await within(.seconds(1), "the post arrives") { try await arrived.value }
                }
            }
            await writer.close()
            await listener.close()
            await hub.stop()
        }

        @Test("N2: who is not heard is not armed", arguments: [true, false])
        func armed(isProtected: Bool) async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            FailPoint.arm("hub.echo:fail" + (isProtected ? "" : ",link.armed:fail"))
            defer { FailPoint.arm("") }
            if isProtected {
                try await expect(.unavailable, from: "joining without the stream's echo") {
                    _ = try await stage.client { $0.openTimeout = .milliseconds(500) }
                }
            } else {
                await (try await stage.client { $0.openTimeout = Patience.usual }).close()
            }
            await hub.stop()
        }

        @Test("L1: a session is taken up by whoever knows its token, and nobody else", arguments: [true, false])
        func token(isProtected: Bool) async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let client = try await stage.client()
            if !isProtected { FailPoint.arm("hub.token:fail") }
            defer { FailPoint.arm("") }
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
    }
}
