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

    /// A request, and a store that does not answer the deletion of its reply.
    private struct SlowDeletion {
        /// True when the deletion has begun.
        let isDeleting = Box(false)
        /// Open when the timeout of the request has passed.
        let timeout = Promise<Void>()
        /// Open when the store is lost: the deletion fails.
        let loss = Promise<Void>()
        private let exchange: RequestExchange
        private let requester: any SharedGroup
        private let desk: any SharedGroup
        private let serving: Task<Void, any Error>

        init() async throws {
            let fixture = WormholeFixture()
            let root = WormholeRoot(directory: nil)
            let replies = root.path(of: .replies)
            requester = try await fixture.wormhole().group
            desk = try await fixture.wormhole().group
            let store = InterposedStore(
                requester,
                beforeCommit: { [isDeleting, loss] transaction throws(SharedCoreError) in
                    let deletes = transaction.operations.contains {
                        if case .delete(let key) = $0 { key.text.hasPrefix(replies) } else { false }
                    }
                    guard deletes else { return transaction }
                    isDeleting.update { $0 = true }
                    await loss.pass()
                    throw SharedCoreError(.outcomeUnknown, "The store is lost.", at: "test")
                })
            exchange = RequestExchange(
                store, root: root, name: "double", sleep: { [timeout] _ in await timeout.pass() })
            let queue = try RequestExchange(desk, root: root, name: "double").queue()
            let deliveries = try await queue.deliveries()
            let answer = Self.envelope("reply", replyTo: nil)
            let replyPath = exchange.replyPath
            serving = Task {
                for try await delivery in deliveries {
                    let request = TakenRequest(delivery, of: queue, replyTo: replyPath, below: replies)
                    _ = try await request.answer(answer)
                }
            }
        }

        private static func envelope(_ text: String, replyTo: String?) -> Envelope {
            Envelope(codec: "bytes", schema: 1, replyTo: replyTo, content: .message(Array(text.utf8)))
        }

        func ask() -> Task<[UInt8]?, any Error> {
            let envelope = Self.envelope("request", replyTo: exchange.replyPath)
            return Task { try await exchange.reply(to: envelope, within: .seconds(60)) }
        }

        /// The bytes of the reply.
        static var reply: [UInt8] { envelope("reply", replyTo: nil).bytes }

        func close() async {
            serving.cancel()
            loss.open()
            await requester.close()
            await desk.close()
        }
    }

    @Test("A reply that came in time is returned at the timeout if its deletion has no answer")
    func slowDeletion() async throws {
        let slow = try await SlowDeletion()
        let asking = slow.ask()
        try await eventually("the reply is to be deleted") { slow.isDeleting.value }
        slow.timeout.open()
        let reply = try await withTimeout(TestTimeout.usual, "the reply") { try await asking.value }
        #expect(reply == SlowDeletion.reply)
        await slow.close()
    }

    @Test("A reply that came is returned to a task that is cancelled while its deletion has no answer")
    func cancelledDeletion() async throws {
        let slow = try await SlowDeletion()
        let asking = slow.ask()
        try await eventually("the reply is to be deleted") { slow.isDeleting.value }
        asking.cancel()
        let reply = try await withTimeout(TestTimeout.usual, "the reply") { try await asking.value }
        #expect(reply == SlowDeletion.reply)
        await slow.close()
    }

    @Test("A reply that came is returned if the store is lost while it is deleted")
    func lostStore() async throws {
        let slow = try await SlowDeletion()
        let asking = slow.ask()
        try await eventually("the reply is to be deleted") { slow.isDeleting.value }
        slow.loss.open()
        let reply = try await withTimeout(TestTimeout.usual, "the reply") { try await asking.value }
        #expect(reply == SlowDeletion.reply)
        await slow.close()
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
