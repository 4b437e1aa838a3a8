internal import CoreAPI

/// W3: slow consumers.
enum SlowConsumerCases {
    static let all = [slowConsumersAreTold, neverBackwards, stuckConsumersAreFree]

    static let slowConsumersAreTold = ConformanceCase(
        "W3a", "a consumer that takes nothing for 10,000 changes gets `lagged`, and converges", timeLimit: .seconds(900)
    ) { context in
        try await context.withGroup(GroupSettings(historyByteCount: 32 << 10)) { group in
            let store = try await group.open()
            let watch = try await group.open().watch(.all)
            guard case .snapshot = try await withTimeout(TestTimeout.usual, "the snapshot", { try await watch.next() })
            else {
                return try expect(false, "the watch begins with a snapshot")
            }
            for round in 0..<10_000 {
                try await store.put(Key("k/\(round % 50)"), withUnsafeBytes(of: round) { Array($0) })
            }
            let last = try await store.delete("k/0").revision
            guard
                case .lagged(let snapshot) = try await withTimeout(
                    TestTimeout.usual, "the consumer hears of the changes", { try await watch.next() })
            else {
                return try expect(false, "the consumer is told that it lagged")
            }
            // The snapshot may end before the last commit; the rest then comes as changes.
            var mirror = WatchMirror(previousValues: store.capabilities.features.contains(.previousValues))
            mirror.apply(.snapshot(snapshot))
            while mirror.revision < last {
                let event = try await withTimeout(TestTimeout.usual, "the changes after the snapshot") {
                    try await watch.next()
                }
                mirror.apply(try expectSome(event, "the watch goes on"))
            }
            let final = try await store.list()
            try expect(final.revision, is: last, "the revision of the store")
            try expect(mirror.entries.count, is: 49, "the number of keys that the consumer knows")
            try expect(mirror.entries.values.sorted { $0.key < $1.key }, is: final.entries, "what the consumer knows")
            try expect(mirror.breaches, is: [], "breaches of the watch's order")
            let next = try await store.put("k/0", [1])
            let event = try await withTimeout(TestTimeout.usual, "the next change") { try await watch.next() }
            guard case .changes(let set) = event else {
                return try expect(false, "a consumer that has caught up is delivered changes")
            }
            try expect(set.revision, is: next.revision, "the revision of the next change")
        }
    }

    static let neverBackwards = ConformanceCase(
        "W3b", "a consumer that is slow in turns never sees an older value after a newer one", timeLimit: .seconds(600)
    ) { context in
        try await context.withGroup(GroupSettings(historyByteCount: 8 << 10)) { group in
            let writers = try await group.open(count: 2)
            let watch = try await group.open().watch("k")
            let written = Box(0)
            let working = Box(2)
            let seed = context.seed
            let previousValues = writers[0].capabilities.features.contains(.previousValues)
            let consuming = Task {
                var random = SeededRandom(seed)
                var mirror = WatchMirror(of: ["k"], keepsChanges: false, previousValues: previousValues)
                while let event = try await watch.next() {
                    mirror.apply(event)
                    if mirror.entries["k/end"] != nil { break }
                    if random.once(in: 20) {
                        // Sleeps for some commits, or until there are no more.
                        let wake = written.value + Int.random(in: 1...300, using: &random)
                        while written.value < wake, working.value > 0 { await Task.yield() }
                    }
                }
                return mirror
            }
            _ = try await together(2) { number in
                defer { working.update { $0 -= 1 } }
                for round in 0..<2000 {
                    try await writers[number].put(Key("k/\(round % 20)"), withUnsafeBytes(of: round) { Array($0) })
                    written.update { $0 += 1 }
                }
            }
            try await writers[0].put("k/end", [1])
            let mirror = try await withTimeout(TestTimeout.usual, "the slow consumer comes to the end") {
                try await consuming.value
            }
            context.note("the consumer took \(mirror.eventCount) events and lagged \(mirror.laggedCount) times")
            try expect(mirror.breaches, is: [], "breaches of the watch's order")
            let final = try await writers[0].list("k").entries
            try expect(
                mirror.entries.values.sorted { $0.key < $1.key }, is: final, "what the consumer knows in the end")
        }
    }

    static let stuckConsumersAreFree = ConformanceCase(
        "W3c", "a consumer that never takes anything costs no memory that grows with the writes",
        timeLimit: .seconds(900)
    ) { context in
        try await context.withGroup(GroupSettings(historyByteCount: 64 << 10)) { group in
            let store = try await group.open()
            var stuck: [Watch] = []
            for _ in 0..<50 { stuck.append(try await store.watch(.all)) }
            func write(_ count: Int) async throws {
                for _ in 0..<count { try await store.put("k", [UInt8](repeating: 1, count: 2000)) }
            }
            try await write(1000)
            // The changes of a batch take 4 MB if they are kept once, and more if each watch keeps them.
            let growth = try await OwnResources.leastGrowth(batches: 6) { try await write(2000) }
            try expect(growth < 3 << 20, "a batch of changes costs less than 3 MiB, not \(growth) bytes")
            withExtendedLifetime(stuck) {}
        }
    }
}
