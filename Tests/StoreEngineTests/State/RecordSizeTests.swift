internal import CoreAPI
internal import CoreAPITesting
internal import StoreEngine
internal import TestSupport
internal import Testing

/// For any use within the limits, each effect fits into a record: one that does not could be written and never read
/// again.
@Suite("S10: every effect fits a record of the journal")
struct RecordSizeTests {
    private let instant = BootInstant(nanoseconds: 1)
    private let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)

    private func opened(_ state: inout StoreState) -> SessionID {
        let effect = state.opening(SessionOpening(process: process, description: SessionDescription()), at: instant)
        state.apply(effect)
        return SessionID(rawValue: effect.revision.rawValue)
    }

    @Test("S10: transactions of as many steps as are accepted fit; one step more is refused")
    func manySmallSteps() throws {
        let most = StoreState.stepLimit
        let long = Lifetime.expiring(after: .seconds(Int64.max))
        let revision = Revision(rawValue: .max)
        let steps: [(Transaction.Guard?, Transaction.Operation?)] = [
            (nil, .put("k", [], long)), (nil, .deletePrefix(.all)), (nil, .post("n", state: .max)), (nil, .delete("k")),
            (.epoch("k", revision), nil), (.absent("k"), .put("k", [], long)),
        ]
        var state = StoreState()
        let session = opened(&state)
        for (condition, operation) in steps {
            let count = condition == nil || operation == nil ? most : most / 2
            var transaction = Transaction(requestNumber: .max)
            if let condition { transaction.guards = [Transaction.Guard](repeating: condition, count: count) }
            if let operation { transaction.operations = [Transaction.Operation](repeating: operation, count: count) }
            guard case .record(let effect, _) = try state.decide(transaction, of: session, at: instant) else {
                Issue.record("a transaction that is not recorded")
                continue
            }
            #expect(try effect.payload().count <= JournalChain.maximumPayloadByteCount)

            if condition != nil { transaction.require(.absent("k")) } else { transaction.delete("k") }
            let error = #expect(throws: SharedCoreError.self) {
                try state.decide(transaction, of: session, at: instant)
            }
            #expect(error?.code == .limitExceeded)
        }
    }

    @Test("S8, S10: very many expiries at once")
    func manyExpiries() throws {
        var state = StoreState()
        let session = opened(&state)
        let tail = String(repeating: "k", count: 500)
        var number = 0
        while number < 10_000 {
            var transaction = Transaction()
            for _ in 0..<2_000 {
                transaction.put(try Key("\(number) \(tail)"), [], lifetime: .expiring(after: .seconds(1)))
                number += 1
            }
            guard case .record(let effect, _) = try state.decide(transaction, of: session, at: instant) else { return }
            state.apply(effect)
        }
        let late = instant.advanced(by: .seconds(1))
        var rounds = 0
        while let effect = state.expiry(at: late) {
            #expect(try effect.payload().count <= 2 << 20)
            state.apply(effect)
            rounds += 1
        }
        #expect(state.entryCount == 0)
        #expect((2...100).contains(rounds))
    }

    @Test("L2: a participant that describes itself at length")
    func longDescriptions() throws {
        var description = SessionDescription(role: SessionRole(rawValue: String(repeating: "r", count: 20 << 20)))
        description.name = String(repeating: "n", count: 20 << 20)
        let state = StoreState()
        let effect = state.opening(SessionOpening(process: process, description: description), at: instant)
        #expect(try effect.payload().count < 4096)
    }

    @Test("S10: a large value stands alone in a snapshot's record")
    func snapshotOfLargeValues() throws {
        let most = StoreState.maximumTransactionByteCount
        let limits = Limits(valueByteCount: most, transactionByteCount: most)
        var state = StoreState(limits: limits)
        let session = opened(&state)
        let values: [(Key, Int)] = [
            ("a", 65_000), ("b", most - 1), ("c", 65_000), ("d", 100), ("e", most - 1), ("f", most - 1),
        ]
        for (key, byteCount) in values {
            var transaction = Transaction()
            transaction.put(key, [UInt8](repeating: 1, count: byteCount))
            guard case .record(let effect, _) = try state.decide(transaction, of: session, at: instant) else { return }
            state.apply(effect)
        }
        var payloads: [[UInt8]] = []
        try state.writeSnapshot { payloads.append($0) }
        for payload in payloads { #expect(payload.count < most + 1024, "no neighbours") }
        let restored = try #require(try StoreState.restored(from: payloads))
        #expect(try restored.fingerprint() == payloads)
    }
}
