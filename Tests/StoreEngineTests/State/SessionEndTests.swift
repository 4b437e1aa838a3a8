internal import CoreAPI
internal import Testing

@testable internal import StoreEngine

@Suite("L1: when the last session has ended")
struct SessionEndTests {
    private let now = BootInstant(nanoseconds: 1)

    /// Opens a session in a state.
    private func open(_ state: inout StoreState, _ pid: Int32) -> SessionID {
        let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: pid, startTime: 1)
        let opening = state.opening(
            SessionOpening(process: process, description: SessionDescription()), at: now)
        state.apply(opening)
        return SessionID(rawValue: opening.revision.rawValue)
    }

    @Test("L1: a session that was found stands as long as the value is the same")
    func changesWithEachEnd() throws {
        var state = StoreState()
        let one = open(&state, 1)
        let two = open(&state, 2)
        #expect(state.lastSessionEnd == .zero, "who comes ends nobody")
        var transaction = Transaction()
        transaction.put("k", [1])
        guard case .record(let put, _) = try state.decide(transaction, of: one, at: now) else {
            Issue.record("the put is not recorded")
            return
        }
        state.apply(put)
        #expect(state.lastSessionEnd == .zero)
        #expect(state.hasSession(one) && state.hasSession(two))

        state.apply(try #require(state.ending(two, at: now)))
        #expect(state.lastSessionEnd == state.revision)
        #expect(state.hasSession(one) && !state.hasSession(two))

        state.apply(state.restarting(in: BootID(high: 2, low: 2), at: now))
        #expect(state.lastSessionEnd == state.revision)
        #expect(!state.hasSession(one))
    }

    @Test("L1: a state made of a snapshot tells of no ends before it, so what was found earlier is looked up anew")
    func snapshotsTellOfNone() throws {
        var state = StoreState()
        let one = open(&state, 1)
        let two = open(&state, 2)
        state.apply(try #require(state.ending(two, at: now)))
        _ = open(&state, 3)
        var reader = SnapshotReader(limits: state.limits, historyByteCount: 1 << 10)
        try state.writeSnapshot { payload throws(SharedCoreError) in
            guard case .snapshot(let part) = try JournalRecord(payload[...]) else { return }
            try reader.read(part)
        }
        let other = try #require(reader.result)
        #expect(other.lastSessionEnd == state.revision)
        #expect(other.lastSessionEnd > state.lastSessionEnd)
        #expect(other.hasSession(one) && !other.hasSession(two))
    }
}
