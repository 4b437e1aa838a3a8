internal import CoreAPI

/// S9, N9: processes that are killed in the middle of their work.
enum KilledProcessCases {
    static let all = [oldValueStands, newValueStands, killedAtRandom, wakeIsNotLost]

    static let oldValueStands = ConformanceCase(
        "S9b", "killed before its commit is published, a process leaves the old value, and the next writer goes on",
        promises: [.multipleProcesses]
    ) { context in
        try await killed(at: context.harness.failPoints.beforePublication, in: context, watched: ["next"]) { store, _ in
            try await store.catchUp()
            try expect(try await store.text("key"), is: "old", "what the killed one leaves")
            try expect(try await store.state(of: "news"), is: .never, "the post of its transaction")
        }
    }

    static let newValueStands = ConformanceCase(
        "S9c", "killed after its commit is published, a process leaves the new value, and watches deliver it (N9)",
        promises: [.multipleProcesses]
    ) { context in
        let places = context.harness.failPoints.afterPublication
        try await killed(at: places, in: context, watched: ["new", "next"]) { store, recorder in
            try await eventually("the watch hears of it", timeout: convergence) {
                recorder.mirror.entries["key"]?.value == Array("new".utf8)
            }
            try expect(try await store.text("key"), is: "new", "what the killed one leaves")
            try expect(try await store.state(of: "news").state, is: 7, "the post of its transaction")
        }
    }

    /// Kills a process at each fail point of a commit that puts and posts, checks the state that it leaves, and lets
    /// another one write.
    private static func killed(
        at places: [String], in context: CaseContext, watched: [String],
        _ check: (any SharedGroup, WatchRecorder) async throws -> Void
    ) async throws {
        try await context.atEach(places) { place, group in
            let store = try await group.open()
            try await store.put("key", text: "old")
            let recorder = try await WatchRecorder(store)
            let peer = try await group.join()
            try await peer.tell("arm \(place):kill")
            try peer.send("announce key new news 7")
            try await peer.ended()
            try await check(store, recorder)
            _ = try await withTimeout(TestTimeout.usual, "the next writer goes on") {
                try await store.put("key", text: "next")
            }
            try expect(try await store.text("key"), is: "next", "what the next writer has written")
            try await group.expectNewcomer(finds: "next", under: "key")
            try await recorder.reaches(try await store.put("end", text: ""))
            let values = recorder.mirror.changes.filter { $0.key == "key" }.map { $0.new?.value }
            try expect(values, is: watched.map { Array($0.utf8) }, "what a watch saw of the key")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
        }
    }

    static let killedAtRandom = ConformanceCase(
        "S9d",
        "busy writers killed at random moments leave whole transactions and all that was acknowledged; others go on",
        promises: [.multipleProcesses], timeLimit: .seconds(600)
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let recorder = try await WatchRecorder(store, keepsChanges: false)
            var random = context.random()
            for round in 0..<20 {
                let prefix = "busy-\(round)"
                let byteCount = Int.random(in: 8...6000, using: &random)
                let peer = try await group.join()
                try peer.send((0..<1500).map { "pair \(prefix) \($0) \(byteCount)" })
                let awaited = Int.random(in: 0..<100, using: &random)
                for _ in 0..<awaited { try await peer.done() }
                // A random moment.
                try await Task.sleep(for: .microseconds(Int.random(in: 0..<3000, using: &random)))
                await peer.killNow()
                try await store.catchUp()
                let left = try await NumberedPair.read(under: prefix, byteCount: byteCount, in: store) ?? -1
                try await store.put("next", text: "\(round)")
                // Each answer acknowledges a write. One more write may have taken effect without an answer.
                let acknowledged = try await peer.lastAnswers().reduce(awaited) { $0 + ($1.hasPrefix("ok") ? 1 : 0) }
                context.note("round \(round): \(acknowledged) acknowledged, number \(left) stands")
                try expect(
                    left == acknowledged - 1 || left == acknowledged,
                    "after \(acknowledged) acknowledged transactions the last one stands, or the one after it")
                try expect(try await store.text("next"), is: "\(round)", "what the next writer has written")
            }
            try await group.expectNewcomer(finds: "19", under: "next")
            try await recorder.reaches(try await store.put("end", text: ""))
            try expect(
                recorder.mirror.entries.values.sorted { $0.key < $1.key } == (try await store.list().entries),
                "the watch knows what stands in the store")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
        }
    }

    static let wakeIsNotLost = ConformanceCase(
        "N9a", "a poster killed between its write and its wake: observers in every process converge",
        promises: [.multipleProcesses]
    ) { context in
        try await context.atEach(context.harness.failPoints.afterPublication) { place, group in
            let store = try await group.open()
            let recorder = ObservationRecorder(try await store.observe("news"))
            let observer = try await group.join()
            try await observer.tell("observe news")
            let poster = try await group.join()
            try await poster.tell("arm \(place):kill")
            try poster.send("announce key new news 7")
            try await poster.ended()
            try await recorder.reaches(1, timeout: convergence)
            try await eventually("the observer in another process is woken", timeout: convergence) {
                try await observer.tell("seen") == "1 7"
            }
            try expect(recorder.deliveries.map(\.state), is: [7], "the states that were delivered here")
            try await store.post("news", state: 8)
            try await recorder.reaches(2)
            try await eventually("the observer in another process sees the next post") {
                try await observer.tell("seen") == "2 8"
            }
        }
    }

    /// The time within which a waiter notices an update after its wake-up was lost, if it has no deadline of its own.
    private static let convergence: Duration = .seconds(10)
}
