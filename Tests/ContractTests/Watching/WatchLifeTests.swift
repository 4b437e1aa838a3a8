internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("W4, W5: the end of watches, and `sync`", .timeLimit(.minutes(10)))
struct WatchLifeTests {
    @Test("W4: 100,000 watches and observations later, nothing is left of them", arguments: Backend.all)
    func cyclesLeakNothing(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            func cycle(_ count: Int) async throws {
                for round in 0..<count {
                    switch round % 4 {
                    case 0: try await store.watch("k").cancel()
                    case 1: _ = try await store.watch(["k", "l"], from: .now)
                    case 2: try await store.observe("news").cancel()
                    default:
                        let watch = try await store.watch("k", from: .now)
                        let waiting = Task { try await watch.next() }
                        waiting.cancel()
                        #expect(try await waiting.value == nil)
                    }
                }
            }
            try await store.put("k", [1])
            try await cycle(4000)
            let before = (OwnResources.descriptorCount, OwnResources.threadCount)
            let growth = try await OwnResources.leastGrowth(batches: 10) { try await cycle(10_000) }
            // One that stays behind has a place in a table, a cursor and two closures: 3 MB for a batch.
            #expect(growth < 2 << 20)
            // Other tests open descriptors and threads meanwhile, but not by the thousand.
            #expect(OwnResources.descriptorCount < before.0 + 1000)
            #expect(OwnResources.threadCount < before.1 + 1000)
            // What was cancelled is not looked at any more, so that a write costs what it did.
            let commit = try await store.put("k", [2])
            #expect(try await store.watch("k").next()?.revision == commit.revision)
        }
    }

    @Test(
        "W4: `cancel` ends the sequence at once, for whoever waits and for whoever comes later", arguments: Backend.all)
    func cancelEnds(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let watch = try await store.watch(.all, from: .now)
            let waiting = Box(false)
            let waiter = Task {
                waiting.update { $0 = true }
                return try await watch.next()
            }
            try await eventually("somebody waits") { waiting.value }
            watch.cancel()
            watch.cancel()
            #expect(try await within(Patience.usual, "the waiter ends") { try await waiter.value } == nil)
            try await store.put("k", [1])
            #expect(try await watch.next() == nil)
            var events = 0
            for try await _ in watch { events += 1 }
            #expect(events == 0)
        }
    }

    @Test("W4: letting a watch go ends a loop over nothing else, and the handle lives on", arguments: Backend.all)
    func lettingGoEnds(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            for _ in 0..<100 { _ = try await store.watch(.all) }
            let kept = try await store.watch(.all, from: .now)
            let commit = try await store.put("k", [1])
            #expect(try await kept.next()?.revision == commit.revision)
        }
    }

    @Test("W5: after `sync`, all that was committed before can be taken without waiting", arguments: Backend.all)
    func syncIsABarrier(backend: Backend) async throws {
        try await backend.withGroup { group in
            let writer = try await group.open()
            let store = try await group.open()
            let watch = try await store.watch("k", from: .now)
            let observation = try await store.observe("news")
            for round in 0..<300 {
                let commit = try await writer.commit(
                    Transaction(operations: [
                        .put("k", [UInt8(round % 256)], .persistent), .post("news", state: UInt64(round)),
                    ]))
                try await store.sync()
                let event = try await within(Patience.usual, "the change before `sync`") { try await watch.next() }
                let delivery = try await within(Patience.usual, "the post before `sync`") {
                    try await observation.next()
                }
                #expect(event?.revision == commit.revision)
                #expect(delivery?.revision == commit.revision)
                #expect(try await store.get("k", consistency: .causal)?.revision == commit.revision)
            }
        }
    }
}
