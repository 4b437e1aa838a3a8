internal import CoreAPI
internal import StoreEngine
internal import TestSupport
internal import Testing

/// Whatever users do within the limits, each effect fits into a record: one that does not could be written and never
/// read again.
@Suite("S10: every effect fits a record of the journal")
struct RecordSizeTests {
    private let instant = BootInstant(nanoseconds: 1)
    private let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)

    private func opened(_ state: inout StoreState) -> SessionID {
        let effect = state.opening(SessionOpening(process: process, description: SessionDescription()), at: instant)
        state.apply(effect)
        return SessionID(rawValue: effect.revision.rawValue)
    }

    @Test("S10: transactions of very many small steps")
    func manySmallSteps() throws {
        let many = 3_000_000
        let steps: [Transaction] = [
            Transaction(
                operations: [Transaction.Operation](
                    repeating: .put("k", [], .expiring(after: .seconds(Int64.max))), count: many)),
            Transaction(operations: [Transaction.Operation](repeating: .deletePrefix(.all), count: 20_000_000)),
            Transaction(operations: [Transaction.Operation](repeating: .post("n", state: .max), count: many)),
            Transaction(guards: [Transaction.Guard](repeating: .absent("k"), count: many)),
        ]
        var state = StoreState()
        let session = opened(&state)
        for transaction in steps {
            do throws(SharedCoreError) {
                guard case .record(let effect, _) = try state.decide(transaction, of: session, at: instant) else {
                    continue
                }
                #expect(try effect.payload().count <= JournalChain.maximumPayloadByteCount)
            } catch {
                #expect(error.code == .limitExceeded)
            }
        }
    }

    @Test("S8, S10: very many expiries at once")
    func manyExpiries() throws {
        var state = StoreState()
        let session = opened(&state)
        let tail = String(repeating: "k", count: 500)
        var number = 0
        while number < 80_000 {
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
            #expect(try effect.payload().count <= JournalChain.maximumPayloadByteCount)
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
}
