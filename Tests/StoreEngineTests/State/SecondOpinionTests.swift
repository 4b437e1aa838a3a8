internal import CoreAPI
internal import CoreAPITesting
internal import StoreEngine
internal import TestSupport
internal import Testing

@Suite("S1, S3, S5, S7, S8: the engine does what the plainest store does")
struct SecondOpinionTests {
    private static let keys: [Key] = ["a", "a/b", "a/b/c", "a/bc", "b", "é", "e\u{301}"]
    private static let prefixes: [KeyPrefix] = ["a", "a/b", "b", "é"]

    @Test("Random transactions, ends and expiries, one by one", arguments: Seed.several(10))
    func agree(seed: Seed) throws {
        var random = SeededRandom(seed)
        var engine = StoreState()
        var plain = PlainStore()
        var now: UInt64 = 1_000
        var sessions: [SessionID] = []
        let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)
        func any<Element>(_ elements: [Element]) -> Element {
            elements[Int.random(in: 0..<elements.count, using: &random)]
        }

        for _ in 0..<1_500 {
            now += UInt64.random(in: 0...3, using: &random)
            let instant = BootInstant(nanoseconds: now)
            let effect = engine.expiry(at: instant)
            #expect((effect != nil) == plain.expire(at: now))
            if let effect { engine.apply(effect) }
            let next = engine.nextExpiry()
            #expect(next.map { $0 > instant } ?? true)

            switch Int.random(in: 0..<20, using: &random) {
            case 0,
                _ where sessions.isEmpty:
                let opening = engine.opening(
                    SessionOpening(process: process, description: SessionDescription()), at: instant)
                engine.apply(opening)
                sessions.append(SessionID(rawValue: opening.revision.rawValue))
                #expect(plain.open() == opening.revision.rawValue)
            case 1:
                let session = sessions.remove(at: Int.random(in: 0..<sessions.count, using: &random))
                let ending = try #require(engine.ending(session, at: instant))
                engine.apply(ending)
                plain.end(session.rawValue)
                #expect(engine.ending(session, at: instant) == nil)
            default:
                var transaction = Transaction()
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    let key = any(Self.keys)
                    let entry = plain[key]
                    let revision = Revision(rawValue: any([entry?.revision ?? 3, entry?.creation ?? 3, 1]))
                    transaction.require(
                        any([.absent(key), .exists(key), .revision(key, revision), .epoch(key, revision)]))
                }
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let key = any(Self.keys)
                    let lifetime: Lifetime = any([
                        .persistent, .session, .expiring(after: .nanoseconds(Int64.random(in: 1...40, using: &random))),
                    ])
                    transaction.operations.append(
                        any([
                            .put(key, random.bytes(3), lifetime), .put(key, [], lifetime), .delete(key),
                            .deletePrefix(any(Self.prefixes)), .post("news", state: any([nil, 1, 2])),
                        ]))
                }
                let session = any(sessions)
                let before = plain.revision
                let expected = plain.commit(transaction, of: session.rawValue, at: now)
                let outcome: RequestOutcome
                switch try engine.decide(transaction, of: session, at: instant) {
                case .answer(let answer): outcome = answer
                case .record(let effect, let answer):
                    engine.apply(effect)
                    outcome = answer
                }
                switch (outcome, expected) {
                case (.refused(let failure), nil):
                    #expect(failure.condition == transaction.guards[failure.index])
                    #expect(failure.found?.revision.rawValue == plain[failure.condition.key]?.revision)
                case (.committed(let commit), let changed?):
                    #expect(
                        commit == Commit(revision: Revision(rawValue: changed ? before + 1 : before), changed: changed))
                default: Issue.record("the engine says \(outcome), the plain store \(String(describing: expected))")
                }
            }
            try compare(&engine, plain)
        }
    }

    private func compare(_ engine: inout StoreState, _ plain: PlainStore) throws {
        #expect(engine.revision.rawValue == plain.revision)
        #expect(engine.entryCount == plain.entries.count)
        var byteCount = 0
        for key in Self.keys {
            let expected = plain[key].map { entry in
                Entry(
                    key: key, value: entry.value, revision: Revision(rawValue: entry.revision),
                    creationRevision: Revision(rawValue: entry.creation), lifetime: entry.lifetime,
                    origin: SessionID(rawValue: entry.origin))
            }
            #expect(try engine.entry(key)?.entry(for: key) == expected)
            byteCount += expected.map { key.text.utf8.count + $0.value.count } ?? 0
        }
        #expect(engine.byteCount == byteCount)
        #expect(engine.topic("news").count == UInt64(plain.posts.values.first?.count ?? 0))
        #expect(engine.topic("news").state == plain.posts.values.first?.state ?? 0)
        let all = engine.selection([.all]).map(\.key)
        let parts = engine.selection(["a", "b", "é", "e\u{301}"]).map(\.key)
        #expect(all == parts)
    }
}
