import CoreAPI
import CoreAPITesting
import Mailboxes
internal import TestSupport
import Testing
import WormholeFormat

@testable import Wormholes

@Suite("Requests while the store fails (M6)")
struct RequestTroubleTests {
    private static let id = RequestID<Int, Int>("double")

    /// A group whose commits fail while a condition on them holds.
    private struct FailingGroup: ForwardingGroup {
        let group: any SharedGroup
        let isFailing: @Sendable (Transaction) -> Bool

        func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
            if isFailing(transaction) { throw SharedCoreError(.unavailable, "The store fails.", at: "test") }
            return try await group.commit(transaction)
        }
    }

    @Test("A reply that cannot be deleted is returned")
    func replyThatStays() async throws {
        let fixture = WormholeFixture()
        let desk = try await fixture.wormhole()
        let replies = WormholeRoot(directory: nil).path(of: .replies)
        let asked = Box(false)
        let failing = FailingGroup(group: try await fixture.wormhole().group) { transaction in
            let deletes = transaction.operations.contains {
                if case .delete(let key) = $0 { key.text.hasPrefix(replies) } else { false }
            }
            if deletes { asked.update { $0 = true } }
            return deletes
        }
        let requester = Wormhole(failing)
        let requests = try await desk.requests(of: Self.id)
        let serving = Task { for try await request in requests { try await request.reply(request.request * 2) } }
        let reply = try await withTimeout(TestTimeout.usual, "the reply") {
            try await requester.request(21, of: Self.id, timeout: TestTimeout.usual)
        }
        #expect(reply == 42)
        try await eventually("the reply is to be deleted") { asked.value }
        serving.cancel()
    }

    @Test("A request that cannot be read, and whose refusal fails, goes to another participant")
    func failedRefusal() async throws {
        let fixture = WormholeFixture()
        let requester = try await fixture.wormhole()
        let replies = WormholeRoot(directory: nil).path(of: .replies)
        let failing = FailingGroup(group: try await fixture.wormhole().group) { transaction in
            transaction.operations.contains {
                if case .put(let key, _, _) = $0 { key.text.hasPrefix(replies) } else { false }
            }
        }
        let desk = Wormhole(failing)
        let text = RequestID<String, Int>("double")
        let asking = Task { try await requester.request("text", of: text, timeout: TestTimeout.usual) }
        let requests = try await desk.requests(of: Self.id)
        await #expect {
            _ = try await withTimeout(TestTimeout.usual, "the error of the refusal") {
                var iterator = requests.makeAsyncIterator()
                return try await iterator.next()
            }
        } throws: {
            "\($0)".contains("The store fails.")
        }
        requests.cancel()
        // The participant that can read it gets it, although the session of the other one goes on.
        let others = try await fixture.wormhole().requests(of: text)
        let taken = try await withTimeout(TestTimeout.usual, "the request") {
            var iterator = others.makeAsyncIterator()
            return try await iterator.next()
        }
        #expect(taken?.request == "text")
        _ = try await taken?.reply(1)
        #expect(try await asking.value == 1)
    }
}
