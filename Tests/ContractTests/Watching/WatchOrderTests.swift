internal import CoreAPI
@testable internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("W1, W2: a snapshot, then every change, once, in order", .timeLimit(.minutes(10)))
struct WatchOrderTests {
    @Test(
        "W1: watches opened in the middle of concurrent writes have no gap, no repeat and no disorder",
        arguments: Backend.all, Seed.several(3))
    func snapshotThenChanges(backend: Backend, seed: Seed) async throws {
        try await backend.withGroup { group in
            let writers = try await group.open(count: 4)
            let readers = try await group.open(count: 2)
            let recorders = Box<[(prefixes: [KeyPrefix], recorder: WatchRecorder)]>([])
            let working = Box(4)
            _ = try await together(5) { number in
                var random = SplitMix64(seed: seed.rawValue &+ UInt64(number))
                if number == 4 {
                    let selections: [[KeyPrefix]] = [[.all], ["a"], ["b/1", "a/2"], ["c"]]
                    while working.value > 0 {
                        let prefixes = selections[Int.random(in: 0..<4, using: &random)]
                        let watch = try await readers[Int.random(in: 0..<2, using: &random)].watch(
                            prefixes, from: .snapshot)
                        let recorder = WatchRecorder(watch, of: prefixes, keepsChanges: false)
                        recorders.update { $0.append((prefixes, recorder)) }
                        if recorders.update({ $0.count }) >= 40 { return }
                        await Task.yield()
                    }
                    return
                }
                for _ in 0..<250 { _ = try await writers[number].commit(RandomTransaction.next(using: &random)) }
                working.update { $0 -= 1 }
            }
            let end = try await writers[0].put("end/of/all", [1])
            let final = try await readers[0].list()
            #expect(final.revision == end.revision)
            for (prefixes, recorder) in recorders.value {
                let expected = final.entries.filter { entry in prefixes.contains { $0.contains(entry.key) } }
                try await eventually("a watch of \(prefixes) converges: \(recorder.mirror.breaches)") {
                    recorder.mirror.entries.values.sorted { $0.key < $1.key } == expected
                }
                #expect(recorder.mirror.breaches == [])
                #expect(recorder.mirror.laggedCount == 0)
            }
        }
    }

    @Test("W1: each commit is delivered exactly once, and a transaction whole", arguments: Backend.all)
    func everyCommitOnce(backend: Backend) async throws {
        try await backend.withGroup { group in
            let handles = try await group.open(count: 4)
            let recorder = try await WatchRecorder(group.open(), of: ["k"])
            let revisions = try await together(4) { number in
                var revisions: [Revision] = []
                for round in 0..<200 {
                    let operations: [Transaction.Operation] = [
                        .put("k/a", [UInt8(number)], .persistent), .put("k/b", [UInt8(round % 256)], .persistent),
                        .put("other", [1], .persistent),
                    ]
                    revisions.append(try await handles[number].commit(Transaction(operations: operations)).revision)
                }
                return revisions
            }
            let all = revisions.flatMap { $0 }.sorted()
            try await recorder.reaches(all.last ?? .zero)
            let mirror = recorder.mirror
            #expect(mirror.changedRevisions == all)
            #expect(mirror.changes.count == 1600)
            #expect(mirror.breaches == [])
        }
    }

    @Test(
        "W1: a change names its key, its kind, what stood before, what stands after, and who did it",
        arguments: Backend.all)
    func changesAreComplete(backend: Backend) async throws {
        let clock = ManualClock()
        try await backend.withGroup(Backend.Settings(clock: clock)) { group in
            let store = try await group.open()
            let guest = try await group.open()
            let watch = try await store.watch("k", from: .now)
            func change(_ revision: Revision?, by origin: SessionID) async throws -> Change? {
                let event = try await within(Patience.usual, "an event") { try await watch.next() }
                guard case .changes(let set) = event else { return nil }
                if let revision { #expect(set.revision == revision) }
                #expect(set.origin == origin)
                #expect(set.changes.count == 1)
                return set.changes.first
            }
            let created = try await store.put("k", [1])
            let first = try await store.get("k")
            #expect(
                try await change(created.revision, by: store.session.id)
                    == Change(key: "k", kind: .put, old: nil, new: first))

            let written = try await guest.put("k", [2], lifetime: .session)
            let second = try await store.get("k")
            #expect(
                try await change(written.revision, by: guest.session.id)
                    == Change(key: "k", kind: .put, old: first, new: second))

            await guest.close()
            #expect(
                try await change(nil, by: guest.session.id)
                    == Change(key: "k", kind: .sessionEnded, old: second, new: nil))

            let third = try await store.put("k", [3])
            _ = try await change(third.revision, by: store.session.id)
            let old = try await store.get("k")
            let deleted = try await store.delete("k")
            #expect(
                try await change(deleted.revision, by: store.session.id)
                    == Change(key: "k", kind: .deleted, old: old, new: nil))

            try await store.put("k", [4], lifetime: .expiring(after: .seconds(1)))
            _ = try await change(nil, by: store.session.id)
            let expiring = try await store.get("k")
            clock.advance(by: .seconds(2))
            #expect(try await store.get("k") == nil)
            #expect(
                try await change(nil, by: store.session.id) == Change(key: "k", kind: .expired, old: expiring, new: nil)
            )
        }
    }

    @Test("W1: a transaction that comes to nothing for a key delivers no change of it", arguments: Backend.all)
    func nothingIsNoChange(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let recorder = try await WatchRecorder(store)
            _ = try await store.commit(Transaction(operations: [.put("k", [1], .persistent), .delete("k")]))
            let last = try await store.put("end", [1])
            try await recorder.reaches(last.revision)
            #expect(recorder.mirror.changes.map(\.key) == ["end"])
            #expect(recorder.mirror.breaches == [])
        }
    }

    @Test("W1: equal values twice are two changes; an emptied prefix does not replay its past", arguments: Backend.all)
    func equalValuesAreTwoChanges(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let recorder = try await WatchRecorder(store, of: ["p"])
            try await store.put("p/k", [1])
            try await store.put("p/k", [1])
            let cleared = try await store.commit(Transaction(operations: [.deletePrefix("p")]))
            try await recorder.reaches(cleared.revision)
            #expect(recorder.mirror.changes.map(\.kind) == [.put, .put, .deleted])

            let late = try await store.watch("p")
            #expect(try await late.next() == .snapshot(Snapshot(revision: cleared.revision, entries: [])))
            let next = try await store.put("p/k", [2])
            #expect(try await late.next()?.revision == next.revision)
        }
    }

    @Test("W1: `watch` returns armed: whatever begins after it is delivered", arguments: Backend.all)
    func watchesAreArmed(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let writer = try await group.open()
            for round in 0..<200 {
                let key = try Key("armed/\(round)")
                let watch = try await store.watch(KeyPrefix(key), from: .now)
                let commit = try await writer.put(key, [1])
                let event = try await within(Patience.usual, "the write after the watch") { try await watch.next() }
                #expect(event?.revision == commit.revision)
            }
        }
    }

    @Test(
        "W2: a watch resumes after any revision that is kept, with exactly what came since", arguments: Backend.all,
        Seed.several(2))
    func resumesAnywhere(backend: Backend, seed: Seed) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            var random = SplitMix64(seed)
            let recorder = try await WatchRecorder(store)
            var last = Revision.zero
            for _ in 0..<120 {
                last = max(last, try await store.commit(RandomTransaction.next(using: &random)).revision)
            }
            last = try await store.put("end", [1]).revision
            try await recorder.reaches(last)
            let all = recorder.mirror.changedRevisions
            let reader = try await group.open()
            for point in [.zero] + all {
                let watch = try await reader.watch(.all, from: .after(point))
                var revisions: [Revision] = []
                while revisions.last ?? point < last {
                    guard case .changes(let set) = try await watch.next() else { break }
                    revisions.append(set.revision)
                }
                #expect(revisions == all.filter { $0 > point }, "after \(point)")
            }
        }
    }

    @Test("W2: after a revision that is no longer kept, the watch says so and converges", arguments: Backend.all)
    func compactedIsTold(backend: Backend) async throws {
        try await backend.withGroup(Backend.Settings(historyByteCount: 4096)) { group in
            let store = try await group.open()
            let early = try await store.put("first", [1]).revision
            for round in 0..<400 { try await store.put("k", [UInt8(round % 256)]) }
            try await store.delete("first")
            let watch = try await store.watch(.all, from: .after(early))
            let recorder = WatchRecorder(watch)
            let last = try await store.put("end", [1]).revision
            try await recorder.reaches(last)
            #expect(recorder.mirror.laggedCount == 1)
            #expect(recorder.mirror.entries.keys.sorted() == ["end", "k"])
            #expect(recorder.mirror.breaches == [])
        }
    }

    @Test("W2: after a revision of the future, nothing older is delivered", arguments: Backend.all)
    func futureIsAwaited(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let now = try await store.put("k", [0]).revision
            let watch = try await store.watch(.all, from: .after(Revision(rawValue: now.rawValue + 10)))
            let waiting = Task { try await watch.next() }
            var last = now
            while last.rawValue <= now.rawValue + 10 { last = try await store.put("k", [1]).revision }
            let event = try await within(Patience.usual, "the first event of the future") { try await waiting.value }
            #expect(event?.revision == last)
        }
    }

    @Test("W1: a large value is a change like any other for a consumer that waits", arguments: Backend.all)
    func largeValuesAreChanges(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let watch = try await store.watch(.all, from: .now)
            for round in 0..<4 {
                let waiting = Task { try await watch.next() }
                let value = [UInt8](repeating: UInt8(round), count: 1 << 20)
                let commit = try await store.put("large", value)
                let event = try await within(Patience.usual, "the large change") { try await waiting.value }
                guard case .changes(let set) = event else {
                    Issue.record(
                        "not the change, but \(event.map { "an event of revision \($0.revision)" } ?? "the end")")
                    return
                }
                #expect(set.revision == commit.revision)
                #expect(set.changes.first?.new?.value == value)
            }
        }
    }
}
