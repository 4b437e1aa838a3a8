internal import CoreAPI
internal import CoreAPITesting
internal import StoreEngine
internal import TestSupport
internal import Testing

@Suite("W2, W3: the window of changes")
struct HistoryTests {
    @Test(
        "W2: from every revision a watch gets exactly what came since, or says that it lagged",
        arguments: Seed.several(6), [600, 4_000, 1 << 20])
    func everyResumePoint(seed: Seed, historyByteCount: Int) throws {
        var machine = RandomMachine(seed: seed, historyByteCount: historyByteCount)
        machine.run(400)
        var state = machine.state
        let all = try recordedChanges(of: machine.effects)
        var laggedCount = 0
        for start in [Revision.zero] + machine.effects.map(\.revision) {
            var cursor = WatchCursor(prefixes: [.all], start: .after(start), in: state)
            var found: [Revision] = []
            var lagged = false
            while found.count <= all.count, let event = cursor.next(in: &state) {
                switch event {
                case .changes(let commit): found.append(commit.revision)
                case .lagged(let revision, let entries):
                    lagged = true
                    #expect(revision == state.revision)
                    let expected = state.selection([.all]).map(\.key)
                    #expect(entries.map(\.key) == expected)
                case .snapshot: Issue.record("a snapshot that nobody asked for")
                }
            }
            #expect(lagged == (start < state.history.floor))
            #expect(found == (lagged ? [] : all.filter { $0 > start }))
            if lagged { laggedCount += 1 }
        }
        #expect((laggedCount > 0) == (historyByteCount < 1 << 20))
    }

    /// The revisions that changed a key, found by comparing the states before and after each effect.
    private func recordedChanges(of effects: [Effect]) throws -> [Revision] {
        var state = StoreState(limits: RandomMachine.limits)
        var revisions: [Revision] = []
        for effect in effects {
            let before = try Dictionary(
                uniqueKeysWithValues: state.selection([.all]).map { ($0.key, try $0.entry.entry(for: $0.key)) })
            state.apply(effect)
            let after = try Dictionary(
                uniqueKeysWithValues: state.selection([.all]).map { ($0.key, try $0.entry.entry(for: $0.key)) })
            if before != after { revisions.append(effect.revision) }
        }
        return revisions
    }

    @Test("W3: the window keeps its bound, and always the last commit")
    func windowIsBounded() throws {
        var state = StoreState(historyByteCount: 10_000)
        let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)
        let opening = state.opening(
            SessionOpening(process: process, description: SessionDescription()), at: BootInstant(nanoseconds: 1))
        state.apply(opening)
        let session = SessionID(rawValue: opening.revision.rawValue)
        func put(_ count: Int) throws {
            let transaction = Transaction(operations: [.put("k", [UInt8](repeating: 1, count: count), .persistent)])
            guard
                case .record(let effect, _) = try state.decide(
                    transaction, of: session, at: BootInstant(nanoseconds: 2))
            else {
                Issue.record("a put that is not recorded")
                return
            }
            state.apply(effect)
        }
        func keptCount() -> Int {
            var cursor = WatchCursor(prefixes: [.all], start: .after(state.history.floor), in: state)
            var count = 0
            while case .changes = cursor.next(in: &state) { count += 1 }
            return count
        }
        for _ in 0..<1_000 { try put(100) }
        #expect((10..<100).contains(keptCount()))
        try put(500_000)
        #expect(keptCount() == 1)
        try put(1)
        #expect(keptCount() == 1)
        for _ in 0..<3 { try put(1) }
        #expect(keptCount() == 3, "the change whose old value was large has left the window")
    }

    @Test(
        "W2: a commit has one change for each key, from before its first operation to behind its last",
        arguments: [1, 2, 8, 9, 40])
    func oneChangeForEachKey(count: Int) throws {
        var state = StoreState()
        let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)
        let opening = state.opening(
            SessionOpening(process: process, description: SessionDescription()), at: BootInstant(nanoseconds: 1))
        state.apply(opening)
        let keys = try (0..<count).map { try Key("key/\($0)") }
        func put(_ values: [UInt8]) throws {
            let operations = values.flatMap { value in keys.map { Transaction.Operation.put($0, [value], .persistent) }
            }
            let step = try state.decide(
                Transaction(operations: operations), of: SessionID(rawValue: opening.revision.rawValue),
                at: BootInstant(nanoseconds: 2))
            guard case .record(let effect, _) = step else {
                Issue.record("a put that is not recorded")
                return
            }
            state.apply(effect)
        }
        try put([1])
        let before = state.revision
        try put([2, 3])
        var cursor = WatchCursor(prefixes: [.all], start: .after(before), in: state)
        guard case .changes(let commit) = cursor.next(in: &state) else {
            Issue.record("no changes")
            return
        }
        #expect(commit.changes.map(\.key) == keys)
        for change in commit.changes {
            let (old, new) = (try change.old?.value.bytes(), try change.new?.value.bytes())
            #expect(old == [1] && new == [3])
        }
    }
}
