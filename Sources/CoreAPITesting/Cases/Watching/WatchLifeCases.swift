internal import CoreAPI

/// W4, W5: the end of watches, and `sync`.
enum WatchLifeCases {
    static let all = [cyclesLeakNothing, cancelEnds, lettingGoEnds, syncIsABarrier]

    static let cyclesLeakNothing = ConformanceCase(
        "W4a", "after 100,000 watches and observations no memory, descriptor or task of them is left",
        timeLimit: .seconds(600)
    ) { context in
        try await context.withGroup { group in
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
                        try expect(try await waiting.value, is: nil, "what a cancelled wait gives")
                    }
                }
            }
            try await store.put("k", [1])
            try await cycle(4000)
            let before = (OwnResources.descriptorCount, OwnResources.threadCount)
            // If each watch begins with a request to a server, ten thousand of them take minutes.
            let count = context.number(10_000, whereCommitsCost: 2_000, of: "watches and observations in each batch")
            let growth = try await OwnResources.leastGrowth(batches: 10) { try await cycle(count) }
            // A watch that is not released has an entry in a table, a cursor and two closures: 3 MB for a batch of
            // 10,000.
            try expect(
                growth < count * (2 << 20) / 10_000,
                "a batch of \(count) leaves less than 200 bytes each, not \(growth) bytes")
            // Other cases of this process open descriptors and threads meanwhile, but fewer than a thousand.
            try expect(OwnResources.descriptorCount < before.0 + 1000, "the descriptors are given back")
            try expect(OwnResources.threadCount < before.1 + 1000, "the threads are given back")
            // A write does not visit cancelled watches, so it takes no longer than before.
            let commit = try await store.put("k", [2])
            let watch = try await store.watch("k")
            let event = try await withTimeout(TestTimeout.usual, "the snapshot of one more watch") {
                try await watch.next()
            }
            try expect(event?.revision, is: commit.revision, "the snapshot of one more watch")
        }
    }

    static let cancelEnds = ConformanceCase(
        "W4b", "`cancel` ends the sequence at once, for present and for later consumers"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let watch = try await store.watch(.all, from: .now)
            let other = try await store.watch(.all, from: .now)
            let waiting = Box(false)
            let waiter = Task {
                waiting.update { $0 = true }
                return try await watch.next()
            }
            try await eventually("somebody waits") { waiting.value }
            watch.cancel()
            watch.cancel()
            let ended = try await withTimeout(TestTimeout.usual, "the waiter ends") { try await waiter.value }
            try expect(ended, is: nil, "what the waiter is given")
            let commit = try await store.put("k", [1])
            let later = try await withTimeout(TestTimeout.usual, "a later wait ends") { try await watch.next() }
            try expect(later, is: nil, "what a later caller is given")
            let events = try await withTimeout(TestTimeout.usual, "a loop ends") {
                var events = 0
                for try await _ in watch { events += 1 }
                return events
            }
            try expect(events, is: 0, "how many events a loop is given")
            let kept = try await withTimeout(TestTimeout.usual, "the event of another watch") { try await other.next() }
            try expect(kept?.revision, is: commit.revision, "what another watch of the handle is given")
        }
    }

    static let lettingGoEnds = ConformanceCase(
        "W4c", "releasing watches affects neither the handle nor its other watches"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let kept = try await store.watch(.all, from: .now)
            for _ in 0..<100 { _ = try await store.watch(.all) }
            let commit = try await store.put("k", [1])
            let event = try await withTimeout(TestTimeout.usual, "the event of the watch that was kept") {
                try await kept.next()
            }
            try expect(event?.revision, is: commit.revision, "what the watch that was kept is given")
        }
    }

    static let syncIsABarrier = ConformanceCase(
        "W5a", "after `sync`, all that was committed before can be taken without waiting"
    ) { context in
        try await context.withGroup { group in
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
                let entry = try await store.get("k", consistency: .causal)
                try expect(entry?.revision, is: commit.revision, "a causal read after `sync`, in round \(round)")
                let event = try await withTimeout(TestTimeout.usual, "the change before `sync`") {
                    try await watch.next()
                }
                let delivery = try await withTimeout(TestTimeout.usual, "the post before `sync`") {
                    try await observation.next()
                }
                try expect(event?.revision, is: commit.revision, "the change before `sync`, in round \(round)")
                try expect(delivery?.revision, is: commit.revision, "the post before `sync`, in round \(round)")
            }
        }
    }
}
