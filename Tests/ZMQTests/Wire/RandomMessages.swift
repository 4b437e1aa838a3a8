internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import StoreEngine

@testable import ZMQBackend

/// Messages of all kinds with content of all kinds, made from a seed.
struct RandomMessages {
    private var random: SeededRandom

    init(seed: Seed) {
        random = SeededRandom(seed)
    }

    mutating func request() -> Request {
        let body: Request.Body =
            switch below(10) {
            case 0: .hello(hello())
            case 1: .commit(transaction(), known: revision())
            case 2: .read(known: revision())
            case 3: .probe(known: revision())
            case 4: .catchUp(after: maybe { $0.revision() })
            case 5: .keepAlive
            case 6: .close
            case 7:
                .keepBaton(
                    random.bytes(below(300)), of: Revision(rawValue: max(1, number())),
                    for: .nanoseconds(Int64(1_000_000_000 + below(59_000_000_000))))
            case 8: .fetchBaton(of: revision(), under: revision())
            default: .history(after: revision())
            }
        if case .hello = body { return Request(number: number(), body: body) }
        return Request(number: number(), nonce: nonce(), body: body)
    }

    mutating func reply() -> Reply {
        let body: Reply.Body =
            switch below(9) {
            case 0: .welcome(welcome())
            case 1: .outcome(outcome(), at: revision(), updates())
            case 2: .current(revision(), updates())
            case 3: .snapshot(revision())
            case 4: .done
            case 5:
                .refused(
                    SharedCoreError(
                        [.corrupt, .forbidden, .storageFull, .sessionEnded, .system][below(5)], text(), at: text(),
                        cause: maybe { $0.text() }))
            case 6: .unknown
            case 7: .baton(maybe { $0.random.bytes($0.below(300)) })
            default: .history(revision())
            }
        return Reply(number: number(), body: body)
    }

    mutating func streamMessage() -> StreamMessage {
        switch below(3) {
        case 0: .updates(updates(), incarnation: random.next())
        case 1: .beacon(revision(), incarnation: random.next())
        default: .armed(random.bytes(StreamMessage.armedByteCount))
        }
    }

    // MARK: - Parts

    private mutating func nonce() -> ConnectionNonce { ConnectionNonce(high: random.next(), low: random.next()) }

    private mutating func hello() -> Request.Hello {
        Request.Hello(
            group: text(), process: process(),
            description: SessionDescription(
                role: SessionRole(rawValue: ["", "main", "né", "😀🇩🇪"][below(4)]), name: text()),
            token: random.bytes(Wire.tokenByteCount), resumed: maybe { SessionID(rawValue: $0.number()) })
    }

    private mutating func welcome() -> Reply.Welcome {
        let features: [Capability] = [.linearizableReads, .multipleProcesses, .promptDeathNotice, .resumableWatches]
        return Reply.Welcome(
            session: Session(
                id: SessionID(rawValue: number()), process: process(), role: SessionRole(rawValue: text()),
                name: text(),
                openedAt: BootInstant(nanoseconds: number())),
            incarnation: random.next(),
            capabilities: Capabilities(
                backend: text(), features: Set(features.shuffled(using: &random).prefix(below(5))),
                durability: [.memory, .process, .disk][below(3)],
                limits: Limits(
                    valueByteCount: below(1 << 30), transactionByteCount: below(1 << 30),
                    storeByteCount: below(1 << 40), entryCount: below(1 << 30))),
            lease: maybe { .nanoseconds(Int64($0.below(1 << 40))) },
            streamPort: maybe { UInt16.random(in: 0...UInt16.max, using: &$0.random) }, nonce: nonce())
    }

    private mutating func transaction() -> Transaction {
        var transaction = Transaction(requestNumber: maybe { $0.number() })
        for _ in 0..<below(4) {
            switch below(4) {
            case 0: transaction.require(.absent(key()))
            case 1: transaction.require(.exists(key()))
            case 2: transaction.require(.revision(key(), revision()))
            default: transaction.require(.epoch(key(), revision()))
            }
        }
        for _ in 0..<below(5) {
            switch below(4) {
            case 0: transaction.put(key(), random.bytes(below(300)), lifetime: lifetime())
            case 1: transaction.delete(key())
            case 2: transaction.deleteAll(under: ["", "a", "a/b/", "é"][below(4)])
            default: transaction.post(["n", "a/b", "😀"][below(3)], state: maybe { $0.number() })
            }
        }
        return transaction
    }

    private mutating func outcome() -> RequestOutcome {
        if below(2) == 0 { return .committed(Commit(revision: revision(), changed: below(2) == 0)) }
        let key = key()
        let found = maybe { messages in
            Entry(
                key: key, value: messages.random.bytes(messages.below(50)), revision: messages.revision(),
                creationRevision: messages.revision(), lifetime: messages.lifetime(),
                origin: SessionID(rawValue: messages.number()))
        }
        return .refused(GuardFailure(index: below(100), condition: .revision(key, revision()), found: found))
    }

    private mutating func updates() -> Updates {
        var updates = Updates(after: revision())
        updates.effects = (0..<below(4)).map { _ in random.bytes(below(200)) }
        return updates
    }

    private mutating func lifetime() -> Lifetime {
        [.persistent, .session, .expiring(after: .nanoseconds(Int64(below(1 << 40) + 1)))][below(3)]
    }

    private mutating func process() -> ProcessIdentity {
        ProcessIdentity(
            bootID: BootID(high: random.next(), low: random.next()), pid: Int32(below(1 << 22)), startTime: number())
    }

    private mutating func key() -> Key { ["k", "a/b", "é", "😀/x", "..", "a b"][below(6)] }

    private mutating func text() -> String {
        ["", "a", "né", "😀🇩🇪", String(repeating: "x", count: 100), "\0"][below(6)]
    }

    private mutating func revision() -> Revision { Revision(rawValue: number()) }

    /// Numbers of all lengths.
    private mutating func number() -> UInt64 { random.next() >> UInt64(below(64)) }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    private mutating func maybe<Value>(_ make: (inout Self) -> Value) -> Value? {
        below(2) == 0 ? nil : make(&self)
    }
}
