internal import CoreAPI
internal import CoreAPITesting
internal import StoreEngine
internal import TestSupport
internal import Testing

@Suite("The records that are sent to other replicas")
struct ReplicaRecordTests {
    private func replica(
        of state: StoreState, historyByteCount: Int = 1 << 20, historyAfter: Revision? = .zero
    ) throws -> StoreState? {
        var reader = SnapshotReader(limits: RandomMachine.limits, historyByteCount: historyByteCount)
        try state.writeSnapshot(for: .replica(historyAfter: historyAfter)) { payload throws(SharedCoreError) in
            guard case .snapshot(let part) = try JournalRecord(payload[...]) else { return }
            try reader.read(part)
        }
        return reader.result
    }

    @Test(
        "a replica of a snapshot has the entries, names and sessions, and goes on with the effects",
        arguments: Seed.several(6))
    func goesOn(seed: Seed) throws {
        var machine = RandomMachine(seed: seed)
        machine.run(200)
        var copy = try #require(try replica(of: machine.state))
        let known = machine.effects.count
        machine.run(200)
        for effect in machine.effects[known...] { copy.apply(effect.forReplicas) }
        var original = machine.state
        let found = try Snapshot(revision: copy.revision, stored: copy.selection([.all]))
        let expected = try Snapshot(revision: original.revision, stored: original.selection([.all]))
        #expect(found == expected)
        let sessions: Set<Session> = Set(copy.sessions.values.map(\.session))
        let expectedSessions: Set<Session> = Set(original.sessions.values.map(\.session))
        #expect(sessions == expectedSessions)
        for name in ["news", "a/b", "é"] as [NotificationName] { #expect(copy.topic(name) == original.topic(name)) }
        #expect(copy.sessions.values.allSatisfy { $0.backendData.isEmpty })
    }

    @Test(
        "W2: the history goes along: a watch resumes in the replica where it would in the original",
        arguments: Seed.several(6))
    func historyGoesAlong(seed: Seed) throws {
        var machine = RandomMachine(seed: seed, historyByteCount: 8_000)
        machine.run(300)
        var original = machine.state
        var copy = try #require(try replica(of: original, historyByteCount: 1 << 20))
        #expect(copy.history.floor >= original.history.floor)
        #expect(copy.history.floor < copy.revision)
        for start in machine.effects.map(\.revision) where start >= copy.history.floor {
            var (first, second) = (
                WatchCursor(prefixes: [.all], start: .after(start), in: original),
                WatchCursor(prefixes: [.all], start: .after(start), in: copy)
            )
            while let event = first.next(in: &original) {
                #expect(try second.next(in: &copy)?.event() == event.event())
            }
            #expect(second.next(in: &copy) == nil)
        }
    }

    @Test(
        "W2: a history that is asked for later, or kept from before, is put in front where it belongs",
        arguments: Seed.several(6))
    func historyComesLater(seed: Seed) throws {
        var machine = RandomMachine(seed: seed, historyByteCount: 1 << 20)
        machine.run(100)
        let former = machine.state
        machine.run(100)
        var copy = try #require(try replica(of: machine.state, historyAfter: nil))
        #expect(copy.history.floor == copy.revision)
        let known = machine.effects.count
        machine.run(100)
        for effect in machine.effects[known...] { copy.apply(effect.forReplicas) }
        let whole = copy.history.floor
        // The answer of a replica that has gone on meanwhile.
        machine.run(20)
        let middle = machine.effects[50].revision
        var parts: [SnapshotPart] = []
        try machine.state.writeHistory(after: middle) { payload throws(SharedCoreError) in
            guard case .snapshot(let part) = try JournalRecord(payload[...]) else { return }
            parts.append(part)
        }
        // A session that ends before this one begins does not meet it.
        var apart = copy
        try apart.prependHistory([], at: Revision(rawValue: whole.rawValue - 1))
        apart.keepHistory(of: former)
        #expect(apart.history.floor == whole)

        try copy.prependHistory(parts, at: machine.state.revision)
        #expect(copy.history.floor == middle)
        let found = try #require(copy.history.elements(after: middle))
        let expected = try #require(machine.state.history.elements(after: middle)).filter {
            $0.revision <= copy.revision
        }
        #expect(found.map(\.revision) == expected.map(\.revision))
        #expect(
            try found.flatMap(\.changes).map { try $0.change() } == expected.flatMap(\.changes).map { try $0.change() })

        var next = try #require(try replica(of: machine.state, historyAfter: copy.revision))
        next.keepHistory(of: copy)
        #expect(next.history.floor == middle)
        let all = try #require(machine.state.history.elements(after: middle))
        #expect(try #require(next.history.elements(after: middle)).map(\.revision) == all.map(\.revision))
    }

    @Test("W2: a replica whose history was cut says `lagged` where it does not know")
    func cutHistory() throws {
        var machine = RandomMachine(seed: Seed(rawValue: 3), historyByteCount: 2_000)
        machine.run(300)
        var copy = try #require(try replica(of: machine.state))
        var cursor = WatchCursor(prefixes: [.all], start: .after(Revision(rawValue: 1)), in: copy)
        guard case .lagged? = cursor.next(in: &copy) else {
            Issue.record("a watch from before the history is not told")
            return
        }
    }

    @Test("the latest effects are kept up to their bytes, the last one always")
    func effectLog() throws {
        var machine = RandomMachine(seed: Seed(rawValue: 1))
        machine.run(300)
        for byteCount in [1, 5_000, 1 << 20] {
            var state = StoreState(limits: RandomMachine.limits, effectByteCount: byteCount)
            for effect in machine.effects {
                state.apply(effect)
                #expect(state.effects?.last?.revision == effect.revision)
            }
            let log = try #require(state.effects)
            let kept: [Revision] = try #require(log.elements(after: log.floor)).map(\.revision)
            let expected: [Revision] = machine.effects.map(\.revision).filter { $0 > log.floor }
            #expect(kept == expected)
            #expect((log.floor == .zero) == (byteCount == 1 << 20))
            #expect(kept.count == 1 || byteCount > 1)
            if log.floor > .zero { #expect(log.elements(after: .zero) == nil) }
        }
        #expect(StoreState().effects == nil)
    }

    @Test("transactions and outcomes are read as they were written, and nothing else is", arguments: Seed.several(4))
    func messages(seed: Seed) throws {
        var machine = RandomMachine(seed: seed)
        machine.run(50)
        for _ in 0..<100 {
            let transaction = machine.transaction()
            let bytes = try transaction.payload()
            #expect(try Transaction(payload: bytes[...]) == transaction)
            for count in bytes.indices {
                #expect(throws: SharedCoreError.self) { _ = try Transaction(payload: bytes[..<count]) }
            }
            #expect(throws: SharedCoreError.self) { _ = try Transaction(payload: (bytes + [0])[...]) }
        }
        for outcome in [
            RequestOutcome.committed(Commit(revision: Revision(rawValue: 300), changed: false)),
            .refused(GuardFailure(index: 3, condition: .epoch("k", Revision(rawValue: 5)), found: nil)),
        ] {
            let bytes = outcome.payload()
            #expect(try RequestOutcome(payload: bytes[...]) == outcome)
            for count in bytes.indices {
                #expect(throws: SharedCoreError.self) { _ = try RequestOutcome(payload: bytes[..<count]) }
            }
        }
    }

    @Test("L1: a mark says where a session's life can be seen")
    func marks() {
        let marks = [
            SessionMark(lockedByte: 12, processNamespace: 7), SessionMark(token: [1, 2, 3], processNamespace: 7),
            SessionMark(token: [4], processNamespace: 0),
            SessionMark(token: [5, 6], processNamespace: 0, lease: .seconds(6)),
        ]
        for mark in marks {
            #expect(SessionMark(mark.bytes) == mark)
            for count in 0..<mark.bytes.count { #expect(SessionMark(Array(mark.bytes.prefix(count))) != mark) }
        }
        #expect(marks.map(\.isLeased) == [false, false, true, true])
        #expect(SessionMark([]) == nil)
    }
}
