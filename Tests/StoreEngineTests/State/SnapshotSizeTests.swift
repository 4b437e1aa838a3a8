internal import CoreAPI
internal import CoreAPITesting
internal import StoreEngine
internal import TestSupport
internal import Testing

/// The space that is kept for a compaction is that of its snapshot, so the state must know the snapshot's size without
/// writing it.
@Suite("S10: a state knows the size of its snapshot")
struct SnapshotSizeTests {
    /// The bytes of the frames of a state's snapshot.
    private func framesByteCount(of state: StoreState) throws -> Int {
        var chain = JournalChain(salt: 1)
        var byteCount = 0
        try state.writeSnapshot(for: .journal) { byteCount += chain.frame($0, interest: .max).count }
        return byteCount
    }

    /// A state with the same content, made of a snapshot, with the larger values elsewhere.
    private func reloaded(_ state: StoreState) throws -> StoreState {
        let payloads = try state.fingerprint()
        var reader = SnapshotReader(limits: RandomMachine.wideLimits, historyByteCount: 1 << 20)
        for payload in payloads {
            guard case .snapshot(let part) = try JournalRecord(payload[...], external: external(payload)) else {
                throw SharedCoreError(.corrupt, "An effect in a snapshot.", at: "test")
            }
            try reader.read(part)
        }
        return try #require(reader.result)
    }

    private func external(_ payload: [UInt8]) -> ExternalValues {
        ExternalValues(source: BytesSource(payload), offset: 0, threshold: 50)
    }

    @Test("S10: its size is that of its frames, after each effect and each reload", arguments: Seed.several(8))
    func sizeOfRandomContent(seed: Seed) throws {
        var machine = RandomMachine(seed: seed, vocabulary: .growing)
        var follower = StoreState(limits: RandomMachine.wideLimits)
        var known = 0
        for step in 1...400 {
            machine.run(1)
            for effect in machine.effects[known...] {
                let payload = try effect.payload()
                guard case .effect(let read) = try JournalRecord(payload[...], external: external(payload)) else {
                    Issue.record("an effect that is read as something else")
                    return
                }
                follower.apply(read)
                #expect(follower.snapshotByteCount == (try framesByteCount(of: follower)), "revision \(read.revision)")
            }
            known = machine.effects.count
            #expect(machine.state.snapshotByteCount == follower.snapshotByteCount, "step \(step)")
            guard step.isMultiple(of: 41) else { continue }
            follower = try reloaded(follower)
            #expect(follower.snapshotByteCount == machine.state.snapshotByteCount, "reloaded at step \(step)")
        }
        #expect(machine.effects.count > 150)
    }

    @Test("S10: the size of an empty state, and of records that are just full", arguments: [0, 130])
    func sizeOfFullRecords(count: Int) throws {
        var state = StoreState()
        let instant = BootInstant(nanoseconds: 1)
        let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)
        let opening = SessionOpening(process: process, description: SessionDescription())
        state.apply(state.opening(opening, at: instant))
        for number in 0..<count {
            // Some of the entries share their record, and some are too large for it.
            var transaction = Transaction()
            transaction.put(try Key("k\(number)"), [UInt8](repeating: 1, count: 990 + number % 40))
            transaction.post(try NotificationName("\(number)"))
            let decision = try state.decide(transaction, of: SessionID(rawValue: 1), at: instant)
            guard case .record(let effect, _) = decision else { return }
            state.apply(effect)
            #expect(state.snapshotByteCount == (try framesByteCount(of: state)), "\(number + 1) entries")
        }
        #expect(state.snapshotByteCount == (try framesByteCount(of: state)))
    }
}
