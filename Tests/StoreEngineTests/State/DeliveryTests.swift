internal import CoreAPI
internal import CoreAPITesting
internal import StoreEngine
internal import TestSupport
internal import Testing

@Suite("S12: requests that a hub brings twice")
struct DeliveryTests {
    private let instant = BootInstant(nanoseconds: 1)

    private func opened() -> (StoreState, SessionID) {
        var state = StoreState()
        let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)
        let effect = state.opening(SessionOpening(process: process, description: SessionDescription()), at: instant)
        state.apply(effect)
        return (state, SessionID(rawValue: effect.revision.rawValue))
    }

    private func bring(
        _ transaction: Transaction, as number: UInt64, of session: SessionID, to state: inout StoreState
    ) throws -> (outcome: RequestOutcome, isRecorded: Bool) {
        switch try state.decide(transaction, of: session, delivery: number, at: instant) {
        case .answer(let outcome): return (outcome, false)
        case .record(let effect, let outcome):
            state.apply(effect)
            return (outcome, true)
        }
    }

    private let once = Transaction(guards: [.absent("k")], operations: [.put("k", [1], .persistent)])

    @Test("the second time gives the first result, before guards, also after a snapshot and a journal")
    func secondTime() throws {
        var (state, session) = opened()
        let first = try bring(once, as: 1, of: session, to: &state)
        #expect(first.isRecorded)
        let restored = try #require(try StoreState.restored(from: state.fingerprint()))
        for var copy in [state, restored] {
            let again = try bring(once, as: 1, of: session, to: &copy)
            #expect(again.outcome == first.outcome)
            #expect(!again.isRecorded)
            // Another number is another request.
            guard case .refused = try bring(once, as: 2, of: session, to: &copy).outcome else {
                Issue.record("another request is judged by its guard")
                return
            }
        }
    }

    @Test("what was refused or changed nothing leaves no record, and is judged again")
    func refusedLeavesNothing() throws {
        var (state, session) = opened()
        let blocked = Transaction(guards: [.exists("k")], operations: [.delete("k")])
        #expect(try !bring(blocked, as: 1, of: session, to: &state).isRecorded)
        #expect(try !bring(Transaction(operations: [.delete("k")]), as: 2, of: session, to: &state).isRecorded)
        #expect(try bring(once, as: 3, of: session, to: &state).isRecorded)
        #expect(try bring(blocked, as: 1, of: session, to: &state).isRecorded)
    }

    @Test("the results of the last 64 are kept, for each session its own")
    func window() throws {
        var (state, session) = opened()
        for number in 1...65 as ClosedRange<UInt64> {
            let put = Transaction(operations: [.put("k", [UInt8(number)], .persistent)])
            #expect(try bring(put, as: number, of: session, to: &state).isRecorded)
        }
        let put = Transaction(operations: [.put("k", [0], .persistent)])
        #expect(try !bring(put, as: 2, of: session, to: &state).isRecorded)
        // The first request may have taken effect, and its result is forgotten: it is not applied again.
        let error = #expect(throws: SharedCoreError.self) { try bring(put, as: 1, of: session, to: &state) }
        #expect(error?.code == .invalidArgument)
    }

    /// A put under its own request number.
    private func put(_ number: UInt64) -> Transaction {
        Transaction(operations: [.put("k", [UInt8(truncatingIfNeeded: number)], .persistent)])
    }

    @Test("S12: of two that wait behind all others of the window, neither is refused as too old")
    func twoDelayed() throws {
        var (state, session) = opened()
        // 65 and 66 wait for a compaction. When 65 is answered, the window goes on to 129.
        for number in Array(1...64) + Array(67...128) + [65, 129] as [UInt64] {
            #expect(try bring(put(number), as: number, of: session, to: &state).isRecorded)
        }
        let restored = try #require(try StoreState.restored(from: state.fingerprint()))
        for var copy in [state, restored] {
            #expect(try bring(put(66), as: 66, of: session, to: &copy).isRecorded)
        }
    }

    @Test("S12: one whose answer is lost is not applied again behind many with lower numbers that had to wait")
    func manyDelayed() throws {
        var (state, session) = opened()
        // Of 1 to 64 all but the last wait for a compaction. Its answer is lost, so the window ends with 127.
        for number in [64] + Array(1...63) + Array(65...127) as [UInt64] {
            #expect(try bring(put(number), as: number, of: session, to: &state).isRecorded)
        }
        let restored = try #require(try StoreState.restored(from: state.fingerprint()))
        for var copy in [state, restored] {
            #expect(try !bring(put(64), as: 64, of: session, to: &copy).isRecorded)
        }
    }

    @Test("the caller's own number goes beside the connection's")
    func ownNumber() throws {
        var (state, session) = opened()
        var transaction = once
        transaction.requestNumber = 1
        let first = try bring(transaction, as: 1, of: session, to: &state)
        // The caller tries again by itself: another delivery of the same request.
        let again = try bring(transaction, as: 2, of: session, to: &state)
        #expect(again.outcome == first.outcome)
        #expect(!again.isRecorded)
    }
}
