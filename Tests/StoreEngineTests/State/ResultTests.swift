internal import CoreAPI
internal import CoreAPITesting
internal import StoreEngine
internal import TestSupport
internal import Testing

@Suite("S12: the last results of a session")
struct ResultTests {
    private let instant = BootInstant(nanoseconds: 1)

    private func opened(_ state: inout StoreState) -> SessionID {
        let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)
        let effect = state.opening(SessionOpening(process: process, description: SessionDescription()), at: instant)
        state.apply(effect)
        return SessionID(rawValue: effect.revision.rawValue)
    }

    private func run(_ transaction: Transaction, of session: SessionID, in state: inout StoreState) throws -> (
        RequestOutcome, isRecorded: Bool
    ) {
        switch try state.decide(transaction, of: session, at: instant) {
        case .answer(let outcome): return (outcome, false)
        case .record(let effect, let outcome):
            state.apply(effect)
            return (outcome, true)
        }
    }

    @Test("S12: results are given again after a snapshot and after a journal", arguments: Seed.several(4))
    func resultsSurvive(seed: Seed) throws {
        var random = SeededRandom(seed)
        var state = StoreState()
        let session = opened(&state)
        var transactions: [(Transaction, RequestOutcome)] = []
        for number in 1...60 as ClosedRange<UInt64> {
            var transaction = Transaction(requestNumber: number)
            if random.once(in: 3) { transaction.require(.absent("k")) }
            if random.once(in: 2) { transaction.put("k", [1]) } else { transaction.delete("k") }
            transactions.append((transaction, try run(transaction, of: session, in: &state).0))
        }
        let restored = try #require(try StoreState.restored(from: state.fingerprint()))
        for var copy in [state, restored] {
            for (transaction, first) in transactions {
                let again = try run(transaction, of: session, in: &copy)
                #expect(again.0 == first)
                #expect(!again.isRecorded)
            }
        }
    }

    @Test("S12: a request of a session that has ended is refused as such, and never applied")
    func endedSessionsAreRefused() throws {
        var state = StoreState()
        let session = opened(&state)
        _ = try run(Transaction(operations: [.put("k", [1], .persistent)], requestNumber: 1), of: session, in: &state)
        state.apply(try #require(state.ending(session, at: instant)))
        for number in [nil, 1, 2] as [UInt64?] {
            let error = #expect(throws: SharedCoreError.self) {
                try state.decide(
                    Transaction(operations: [.delete("k")], requestNumber: number), of: session, at: instant)
            }
            #expect(error?.code == .sessionEnded)
        }
    }

    @Test("S12: results that hold large values cost a bounded memory, and their snapshot fits the journal's records")
    func resultsAreBounded() throws {
        var state = StoreState()
        let session = opened(&state)
        _ = try run(
            Transaction(operations: [.put("k", [UInt8](repeating: 1, count: 1 << 20), .persistent)]), of: session,
            in: &state)
        var last: RequestOutcome?
        for number in 1...64 as ClosedRange<UInt64> {
            let refused = Transaction(guards: [.absent("k")], operations: [.delete("k")], requestNumber: number)
            last = try run(refused, of: session, in: &state).0
        }
        let payloads = try state.fingerprint()
        #expect(payloads.allSatisfy { $0.count <= JournalChain.maximumPayloadByteCount })
        #expect(payloads.reduce(0) { $0 + $1.count } < 8 << 20)
        // The last result is returned again, and no request with a dropped result is applied.
        let again = Transaction(guards: [.absent("k")], operations: [.delete("k")], requestNumber: 64)
        let repeated = try run(again, of: session, in: &state).0
        #expect(repeated == last)
        let dropped = Transaction(operations: [.delete("k")], requestNumber: 1)
        #expect(throws: SharedCoreError.self) { try state.decide(dropped, of: session, at: instant) }
    }

    @Test("S4, S5, S8: keys that go by the hundred leave the others in their order", arguments: Seed.several(5))
    func manyKeysAtOnce(seed: Seed) throws {
        var random = SeededRandom(seed)
        let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)
        var instant = BootInstant(nanoseconds: 1)
        var state = StoreState()
        let opening = state.opening(
            SessionOpening(process: process, description: SessionDescription()), at: instant)
        state.apply(opening)
        let session = SessionID(rawValue: opening.revision.rawValue)
        let lifetimes: [Lifetime] = [.persistent, .session, .expiring(after: .nanoseconds(5))]
        var kept: [Key: Int] = [:]
        var transaction = Transaction()
        for _ in 0..<3_000 {
            let key = try Key("\(Int.random(in: 0..<30, using: &random))/\(Int.random(in: 0..<500, using: &random))")
            let lifetime = Int.random(in: 0..<3, using: &random)
            kept[key] = lifetime
            transaction.put(key, [], lifetime: lifetimes[lifetime])
        }
        func commit(_ transaction: Transaction) throws {
            guard case .record(let effect, _) = try state.decide(transaction, of: session, at: instant) else {
                Issue.record("nothing to record")
                return
            }
            state.apply(effect)
        }
        func expectOrder() {
            // The index is there from the first selection on, and is kept.
            #expect(state.selection([.all]).map(\.key) == kept.keys.sorted())
        }
        try commit(transaction)
        expectOrder()

        let prefixes = (0..<3).map { _ in String(Int.random(in: 0..<30, using: &random)) }
        var deletion = Transaction()
        for prefix in prefixes { deletion.deleteAll(under: try KeyPrefix(prefix)) }
        try commit(deletion)
        kept = kept.filter { entry in !prefixes.contains { entry.key.text.hasPrefix($0 + "/") } }
        expectOrder()

        instant = instant.advanced(by: .nanoseconds(5))
        let expiry = state.expiry(at: instant)
        state.apply(try #require(expiry))
        kept = kept.filter { $0.value != 2 }
        expectOrder()

        state.apply(try #require(state.ending(session, at: instant)))
        kept = kept.filter { $0.value == 0 }
        expectOrder()
        #expect(!kept.isEmpty)
    }
}
