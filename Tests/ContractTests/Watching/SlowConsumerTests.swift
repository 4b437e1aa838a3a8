internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("W3: slow consumers", .timeLimit(.minutes(10)))
struct SlowConsumerTests {
    @Test("W3: 10,000 changes later a consumer that slept is told `lagged` and converges", arguments: Backend.all)
    func slowConsumersAreTold(backend: Backend) async throws {
        try await backend.withGroup(Backend.Settings(historyByteCount: 32 << 10)) { group in
            let store = try await group.open()
            let watch = try await group.open().watch(.all)
            guard case .snapshot = try await watch.next() else {
                Issue.record("the watch does not begin with a snapshot")
                return
            }
            for round in 0..<10_000 {
                try await store.put(Key("k/\(round % 50)"), withUnsafeBytes(of: round) { Array($0) })
            }
            let last = try await store.delete("k/0").revision
            guard case .lagged(let snapshot) = try await watch.next() else {
                Issue.record("the consumer was not told that it lagged")
                return
            }
            #expect(snapshot == (try await store.list()))
            #expect(snapshot.revision == last)
            #expect(snapshot.entries.count == 49)
            let next = try await store.put("k/0", [1])
            #expect(try await watch.next()?.revision == next.revision)
        }
    }

    @Test(
        "W3: a consumer that is slow in turns never sees an older value after a newer one", arguments: Backend.all,
        Seed.several(2))
    func neverBackwards(backend: Backend, seed: Seed) async throws {
        try await backend.withGroup(Backend.Settings(historyByteCount: 8 << 10)) { group in
            let writers = try await group.open(count: 2)
            let watch = try await group.open().watch("k")
            let working = Box(2)
            let end = Latch()
            let consuming = Task {
                var random = SplitMix64(seed)
                var mirror = WatchMirror(of: ["k"], keepsChanges: false)
                while let event = try await watch.next() {
                    mirror.apply(event)
                    if mirror.entries["k/end"] != nil { break }
                    if random.once(in: 20) {
                        let pause = working.value
                        while working.value == pause, pause > 0 { await Task.yield() }
                    }
                }
                return mirror
            }
            _ = try await together(2) { number in
                for round in 0..<2000 {
                    try await writers[number].put(Key("k/\(round % 20)"), withUnsafeBytes(of: round) { Array($0) })
                }
                working.update { $0 -= 1 }
            }
            end.open()
            try await writers[0].put("k/end", [1])
            let mirror = try await within(Patience.usual, "the slow consumer comes to the end") {
                try await consuming.value
            }
            #expect(mirror.breaches == [])
            let final = try await writers[0].list("k").entries
            #expect(mirror.entries.values.sorted { $0.key < $1.key } == final)
        }
    }

    @Test("W3: a consumer that never takes anything costs no memory that grows with the writes", arguments: Backend.all)
    func stuckConsumersAreFree(backend: Backend) async throws {
        try await backend.withGroup(Backend.Settings(historyByteCount: 64 << 10)) { group in
            let store = try await group.open()
            var stuck: [Watch] = []
            for _ in 0..<50 { stuck.append(try await store.watch(.all)) }
            func write(_ count: Int) async throws {
                for _ in 0..<count { try await store.put("k", [UInt8](repeating: 1, count: 2000)) }
            }
            try await write(1000)
            // The changes of a batch take 4 MB when they are kept once, and more when each watch keeps them.
            let growth = try await OwnResources.leastGrowth(batches: 6) { try await write(2000) }
            #expect(growth < 3 << 20)
            withExtendedLifetime(stuck) {}
        }
    }
}
