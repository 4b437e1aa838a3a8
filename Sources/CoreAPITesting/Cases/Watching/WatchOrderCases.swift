internal import CoreAPI

/// W1: a snapshot, then every change, once, in order.
enum WatchOrderCases {
    static let all = [
        snapshotThenChanges, everyCommitOnce, changesAreComplete, expiryIsAChange, previousValues, nothingIsNoChange,
        equalValuesAreTwoChanges, watchesAreArmed, largeValuesAreChanges,
    ]

    static let snapshotThenChanges = ConformanceCase(
        "W1a", "watches opened in the middle of concurrent writes have no gap, no repeat and no disorder"
    ) { context in
        try await context.withGroup { group in
            let writers = try await group.open(count: 4)
            let readers = try await group.open(count: 2)
            let recorders = Box<[(prefixes: [KeyPrefix], recorder: WatchRecorder)]>([])
            let working = Box(4)
            let seed = context.seed.rawValue
            _ = try await together(5) { number in
                var random = SeededRandom(seed: seed &+ UInt64(number))
                if number < 4 {
                    defer { working.update { $0 -= 1 } }
                    for _ in 0..<250 { _ = try await writers[number].commit(RandomTransaction.next(using: &random)) }
                    return
                }
                let selections: [[KeyPrefix]] = [[.all], ["a"], ["b/1", "a/2"], ["c"]]
                while working.value > 0, recorders.update({ $0.count }) < 40 {
                    let prefixes = selections[Int.random(in: 0..<4, using: &random)]
                    let reader = readers[Int.random(in: 0..<2, using: &random)]
                    let recorder = WatchRecorder(
                        try await reader.watch(prefixes, from: .snapshot), of: prefixes, keepsChanges: false,
                        previousValues: reader.capabilities.features.contains(.previousValues))
                    recorders.update { $0.append((prefixes, recorder)) }
                    await Task.yield()
                }
            }
            let end = try await writers[0].put("end/of/all", [1])
            let final = try await writers[0].list()
            try expect(final.revision, is: end.revision, "the revision of the last list")
            for (prefixes, recorder) in recorders.value {
                let expected = final.entries.filter { entry in prefixes.contains { $0.contains(entry.key) } }
                try await eventually("a watch of \(prefixes) converges: \(recorder.mirror.breaches)") {
                    recorder.mirror.entries.values.sorted { $0.key < $1.key } == expected
                }
                try expect(recorder.mirror.breaches, is: [], "breaches of the order of a watch of \(prefixes)")
                try expect(recorder.mirror.laggedCount, is: 0, "how often a watch of \(prefixes) lagged")
            }
        }
    }

    static let everyCommitOnce = ConformanceCase(
        "W1b", "each commit is delivered exactly once, and a transaction whole"
    ) { context in
        try await context.withGroup { group in
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
            try expect(mirror.changedRevisions == all, "the delivered revisions are those of the commits")
            try expect(mirror.changes.count, is: 1600, "the number of changes")
            let pairs = stride(from: 0, to: mirror.changes.count - 1, by: 2).map { mirror.changes[$0...$0 + 1] }
            let isWhole = pairs.allSatisfy { Set($0.map(\.key)) == ["k/a", "k/b"] }
            try expect(isWhole, "each transaction is delivered with both of its keys")
            try expect(mirror.breaches, is: [], "breaches of the watch's order")
        }
    }

    static let changesAreComplete = ConformanceCase(
        "W1c", "a change names its key, its kind, the value after it, and the session that made it"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let guest = try await group.open()
            let watch = try await store.watch("k", from: .now)
            func change(of revision: Revision?, by origin: SessionID, _ what: String) async throws -> Change {
                let set = try await nextChanges(of: watch, what)
                if let revision { try expect(set.revision, is: revision, "the revision of \(what)") }
                try expect(set.origin, is: origin, "the origin of \(what)")
                try expect(set.changes.count, is: 1, "the number of changes of \(what)")
                let change = try expectSome(set.changes.first, "the change of \(what)")
                try expect(change.key, is: "k", "the key of \(what)")
                return change
            }
            let created = try await store.put("k", [1])
            let first = try await change(of: created.revision, by: store.session.id, "a creation")
            try expect(first.kind, is: .put, "the kind of a creation")
            try expect(first.new, is: try await store.get("k"), "what a creation leaves")

            let written = try await guest.put("k", [2], lifetime: .session)
            let second = try await change(of: written.revision, by: guest.session.id, "a replacement")
            try expect(second.kind, is: .put, "the kind of a replacement")
            try expect(second.new, is: try await guest.get("k"), "what a replacement leaves")

            await guest.close()
            let ended = try await change(of: nil, by: guest.session.id, "the end of a session")
            try expect(ended.kind, is: .sessionEnded, "the kind of an end")
            try expect(ended.new, is: nil, "what an end leaves")

            let third = try await store.put("k", [3])
            _ = try await change(of: third.revision, by: store.session.id, "a second creation")
            let deleted = try await store.delete("k")
            let last = try await change(of: deleted.revision, by: store.session.id, "a deletion")
            try expect(last.kind, is: .deleted, "the kind of a deletion")
            try expect(last.new, is: nil, "what a deletion leaves")
        }
    }

    static let expiryIsAChange = ConformanceCase(
        "W1d", "the end of a lifetime is a change of its own kind, by the session that wrote the entry"
    ) { context in
        let clock = ManualClock()
        try await context.withGroup(GroupSettings(clock: clock)) { group in
            let store = try await group.open()
            let writer = try await group.open()
            let watch = try await store.watch("k", from: .now)
            let written = try await writer.put("k", [4], lifetime: .expiring(after: .seconds(1)))
            try expect(try await nextChanges(of: watch, "the put").revision, is: written.revision, "the put's revision")
            clock.advance(by: .seconds(2))
            try expect(try await store.get("k"), is: nil, "an entry whose lifetime is over")
            let set = try await nextChanges(of: watch, "the expiry")
            try expect(set.revision > written.revision, "the expiry comes after the put")
            try expect(set.origin, is: writer.session.id, "the origin of the expiry")
            try expect(set.changes.map(\.key), is: ["k"], "the keys of the expiry")
            try expect(set.changes.map(\.kind), is: [.expired], "the kind of the expiry")
            try expect(set.changes.first?.new, is: nil, "what an expiry leaves")
        }
    }

    static let previousValues = ConformanceCase(
        "W1e", "a change has the entry before it", promises: [.previousValues]
    ) { context in
        let clock = ManualClock()
        try await context.withGroup(GroupSettings(clock: clock)) { group in
            let store = try await group.open()
            let guest = try await group.open()
            let watch = try await store.watch("k", from: .now)
            var before: Entry?
            func check(_ what: String) async throws {
                let set = try await nextChanges(of: watch, what)
                try expect(set.changes.count, is: 1, "the number of changes of \(what)")
                try expect(set.changes.first?.old, is: before, "what stood there before \(what)")
                try expect(set.changes.first?.new, is: try await store.get("k"), "what stands there after \(what)")
                before = try await store.get("k")
            }
            try await store.put("k", [1])
            try await check("a creation")
            try await guest.put("k", [2], lifetime: .session)
            try await check("a replacement")
            await guest.close()
            try await check("the end of a session")
            try await store.put("k", [3])
            try await check("a second creation")
            try await store.delete("k")
            try await check("a deletion")
            try await store.put("k", [4], lifetime: .expiring(after: .seconds(1)))
            try await check("a third creation")
            clock.advance(by: .seconds(2))
            try expect(try await store.get("k"), is: nil, "an entry whose lifetime is over")
            try await check("an expiry")
        }
    }

    static let nothingIsNoChange = ConformanceCase(
        "W1f", "a transaction that creates and deletes a key delivers no change of it"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let recorder = try await WatchRecorder(store)
            _ = try await store.commit(Transaction(operations: [.put("k", [1], .persistent), .delete("k")]))
            _ = try await store.delete("k")
            let last = try await store.put("end", [1])
            try await recorder.reaches(last.revision)
            try expect(recorder.mirror.changes.map(\.key), is: ["end"], "the keys that changed")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
        }
    }

    static let equalValuesAreTwoChanges = ConformanceCase(
        "W1g", "equal values twice are two changes; an emptied prefix does not replay its past"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let recorder = try await WatchRecorder(store, of: ["p"])
            try await store.put("p/k", [1])
            try await store.put("p/k", [1])
            let cleared = try await store.commit(Transaction(operations: [.deletePrefix("p")]))
            try await recorder.reaches(cleared.revision)
            try expect(recorder.mirror.changes.map(\.kind), is: [.put, .put, .deleted], "the kinds of the changes")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")

            let late = try await store.watch("p")
            let first = try await withTimeout(TestTimeout.usual, "the snapshot") { try await late.next() }
            try expect(
                first, is: .snapshot(Snapshot(revision: cleared.revision, entries: [])),
                "the first event of a late watch")
            let next = try await store.put("p/k", [2])
            try expect(try await nextChanges(of: late, "the next put").revision, is: next.revision, "what follows")
        }
    }

    static let watchesAreArmed = ConformanceCase(
        "W1h", "`watch` returns armed: each commit that begins after it is delivered"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let writer = try await group.open()
            for round in 0..<200 {
                let key = try Key("armed/\(round)")
                let watch = try await store.watch(KeyPrefix(key), from: .now)
                let commit = try await writer.put(key, [1])
                let set = try await nextChanges(of: watch, "the write after the watch")
                try expect(set.revision, is: commit.revision, "the first event of watch \(round)")
            }
        }
    }

    static let largeValuesAreChanges = ConformanceCase(
        "W1i", "a large value is a change like any other for a consumer that waits"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let watch = try await store.watch(.all, from: .now)
            let size = min(store.capabilities.limits.valueByteCount, 1 << 20)
            for round in 0..<4 {
                let waiting = Task { try await watch.next() }
                let value = [UInt8](repeating: UInt8(round), count: size)
                let commit = try await store.put("large", value)
                let event = try await withTimeout(TestTimeout.usual, "the large change") { try await waiting.value }
                guard case .changes(let set) = event else {
                    let found = event.map { "an event of revision \($0.revision)" } ?? "the end"
                    return try expect(false, "the watch delivers the large change, not \(found)")
                }
                try expect(set.revision, is: commit.revision, "the revision of the large change")
                try expect(set.changes.first?.new?.value == value, "the large value comes whole")
            }
        }
    }

    /// Returns the next event of a watch, which must be a change set.
    private static func nextChanges(
        of watch: Watch, _ what: String, file: StaticString = #fileID, line: UInt = #line
    ) async throws -> ChangeSet {
        let event = try await withTimeout(TestTimeout.usual, "the watch delivers \(what)") { try await watch.next() }
        if case .changes(let set) = event { return set }
        let found = event.map { "a snapshot of revision \($0.revision)" } ?? "the end"
        throw CheckFailure("\(what) should be delivered as a change, but the watch gave \(found)", file, line)
    }
}
