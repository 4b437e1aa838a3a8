internal import CoreAPI
internal import StoreEngine
internal import TestSupport
internal import Testing

@Suite("S10: what a full store keeps for participants")
struct PresenceTests {
    private let instant = BootInstant(nanoseconds: 1)

    /// A full store, and a session in it.
    private func full(_ limits: Limits) throws -> (StoreState, SessionID) {
        var state = StoreState(limits: limits)
        let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)
        let opening = state.opening(SessionOpening(process: process, description: SessionDescription()), at: instant)
        state.apply(opening)
        let session = SessionID(rawValue: opening.revision.rawValue)
        try commit([.put("content", [UInt8](repeating: 1, count: 993), .persistent)], to: &state, of: session)
        return (state, session)
    }

    private func commit(
        _ operations: [Transaction.Operation], to state: inout StoreState, of session: SessionID
    ) throws {
        let decision = try state.decide(Transaction(operations: operations), of: session, at: instant)
        guard case .record(let effect, _) = decision else { return }
        state.apply(effect)
    }

    @Test("1 MiB and 4,096 entries beyond the limits, and no more")
    func bounds() throws {
        // Commits of 4 KiB, keys included, and of entries without a value.
        let cases: [(Limits, Int, Int)] = [
            (Limits(valueByteCount: 4_096, storeByteCount: 1_000), 4_091, StoreState.presenceByteCount / 4_096),
            (Limits(valueByteCount: 4_096, entryCount: 1), 0, StoreState.presenceEntryCount),
        ]
        for (limits, valueByteCount, count) in cases {
            var (state, session) = try full(limits)
            func put(_ number: Int) throws {
                let key = try Key("s" + String(10_000 + number).dropFirst())
                try commit(
                    [.put(key, [UInt8](repeating: 2, count: valueByteCount), .session)], to: &state, of: session)
            }
            for number in 0..<count { try put(number) }
            let error = #expect(throws: SharedCoreError.self) { try put(count) }
            #expect(error?.code == .limitExceeded)
            // With the session all of it goes.
            let ending = try #require(state.ending(session, at: instant))
            state.apply(ending)
            #expect(state.usage.entryCount == 1)
        }
    }
}
