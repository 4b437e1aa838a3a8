internal import CoreAPI
internal import Platform
internal import StoreEngine

@testable import ZMQBackend

/// Samples of the messages: at least one of each kind.
enum Samples {
    static let process = ProcessIdentity(bootID: BootID(high: 7, low: 9), pid: 4711, startTime: 99)

    static let nonce = ConnectionNonce(high: .max, low: 1)

    static let transaction: Transaction = {
        var transaction = Transaction(requestNumber: 17)
        transaction.require(.absent("a"))
        transaction.require(.exists("b/c"))
        transaction.require(.revision("é", Revision(rawValue: 3)))
        transaction.require(.epoch("😀", Revision(rawValue: 4)))
        transaction.put("a", [0, 255, 1], lifetime: .session)
        transaction.put("b", [], lifetime: .expiring(after: .milliseconds(1500)))
        transaction.delete("c")
        transaction.deleteAll(under: "d/e")
        transaction.post("news", state: .max)
        transaction.post("quiet")
        return transaction
    }()

    static let failure = GuardFailure(
        index: 1, condition: .revision("k", Revision(rawValue: 5)),
        found: Entry(
            key: "k", value: [1, 2], revision: Revision(rawValue: 6), creationRevision: Revision(rawValue: 2),
            lifetime: .persistent, origin: SessionID(rawValue: 1)))

    static let requests: [Request] = [
        Request(
            number: 1,
            body: .hello(
                Request.Hello(
                    group: "chat", process: process,
                    description: SessionDescription(role: .main, name: "the app"),
                    token: [UInt8](repeating: 1, count: 32), resumed: nil))),
        Request(
            number: .max,
            body: .hello(
                Request.Hello(
                    group: "chat", process: process, description: SessionDescription(),
                    token: [UInt8](repeating: 3, count: 32), resumed: SessionID(rawValue: 12)))),
        Request(number: 2, nonce: nonce, body: .commit(transaction, known: Revision(rawValue: 1_000))),
        Request(number: 3, nonce: nonce, body: .commit(Transaction(), known: .zero)),
        Request(number: 4, nonce: nonce, body: .read(known: Revision(rawValue: 5))),
        Request(number: 5, nonce: nonce, body: .probe(known: Revision(rawValue: 1 << 33))),
        Request(number: 6, nonce: nonce, body: .catchUp(after: nil)),
        Request(number: 7, nonce: nonce, body: .catchUp(after: Revision(rawValue: 9))),
        Request(number: 9, nonce: nonce, body: .keepAlive),
        Request(number: 8, nonce: nonce, body: .close),
        Request(number: 9, nonce: nonce, body: .history(after: Revision(rawValue: 300))),
        Request(
            number: 10, nonce: nonce,
            body: .keepBaton([0, 255], of: Revision(rawValue: 1 << 33), for: .nanoseconds(1_000_000_001))),
        Request(number: 11, nonce: nonce, body: .keepBaton([], of: Revision(rawValue: 1), for: .seconds(60))),
        Request(
            number: 12, nonce: nonce,
            body: .fetchBaton(of: Revision(rawValue: 300), under: Revision(rawValue: 301))),
    ]

    static let updates: Updates = {
        var updates = Updates(after: Revision(rawValue: 41))
        updates.effects = [[1, 2, 3], [], [UInt8](repeating: 9, count: 300)]
        return updates
    }()

    static let replies: [Reply] = [
        Reply(
            number: 1,
            body: .welcome(
                Reply.Welcome(
                    session: Session(
                        id: SessionID(rawValue: 12), process: process, role: .executor, name: "né",
                        openedAt: BootInstant(nanoseconds: 123)),
                    incarnation: .max,
                    capabilities: Capabilities(
                        backend: "files", features: [.linearizableReads, .multipleProcesses], durability: .disk,
                        limits: Limits()),
                    lease: .seconds(3), streamPort: 5_556, nonce: nonce))),
        Reply(
            number: 2,
            body: .outcome(
                .committed(Commit(revision: Revision(rawValue: 42), changed: true)), at: Revision(rawValue: 45), updates
            )),
        Reply(number: 3, body: .outcome(.refused(failure), at: .zero, Updates(after: .zero))),
        Reply(number: 4, body: .current(Revision(rawValue: 44), updates)),
        Reply(number: 5, body: .snapshot(Revision(rawValue: 44))),
        Reply(number: 6, body: .done),
        Reply(
            number: 7,
            body: .refused(SharedCoreError(.storageFull, "There is no space.", at: "/data", cause: "write: ENOSPC"))),
        Reply(number: 8, body: .unknown),
        Reply(number: 9, body: .history(Revision(rawValue: 301))),
    ]

    static let stream: [StreamMessage] = [
        .updates(updates, incarnation: 3),
        .beacon(Revision(rawValue: 99), incarnation: .max),
        .armed([UInt8](repeating: 5, count: StreamMessage.armedByteCount)),
    ]
}
