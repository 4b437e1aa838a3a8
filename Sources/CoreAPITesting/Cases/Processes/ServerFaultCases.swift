internal import CoreAPI
internal import Platform

/// S4, S10, S12, W1 to W3: the rules that hold while a connection is cut or slow, and when the server ends or is full.
enum ServerFaultCases {
    static let all = [
        commitsOverACut, readsOverACut, killedServer, fullServer, lateSnapshot, lateStart, watchOverACut, lateNews,
        watchOverARestart, lateSync,
    ]

    private static func post(_ name: NotificationName, number: UInt64) -> Transaction {
        Transaction(operations: [.post(name, state: nil)], requestNumber: number)
    }

    /// Repeats a call until the backend answers it.
    private static func answered<Value: Sendable>(
        _ what: String, _ call: @escaping @Sendable () async throws(SharedCoreError) -> Value
    ) async throws -> Value {
        try await withTimeout(TestTimeout.usual, what) {
            while true {
                do throws(SharedCoreError) { return try await call() } catch {
                    guard [.unavailable, .outcomeUnknown].contains(error.code) else { throw error }
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
        }
    }

    /// Returns the code with which a call ends in time; nil if it succeeds.
    private static func end(
        _ what: String, of call: @escaping @Sendable () async throws -> Void
    ) async throws -> SharedCoreError.Code? {
        try await withTimeout(TestTimeout.usual, "\(what) ends") { try await code(of: call) }
    }

    static let commitsOverACut = ConformanceCase(
        "S12g",
        "over a cut connection a commit is `unavailable` and never applied, or `outcomeUnknown`; a retry is applied once",
        promises: [.deduplicatedRequests],
        fault: .cut
    ) { context in
        try await context.withGroup { group in
            let near = try await group.open()
            let far = try await group.open()
            _ = try await near.commit(post("done", number: 1))
            try await group.cut(near)
            let code = try await end("the commit over the cut") { _ = try await near.commit(post("done", number: 2)) }
            context.note("the commit over the cut: \(code.map { "\($0)" } ?? "applied")")
            try expect(code == .unavailable || code == .outcomeUnknown, "the commit is unavailable or unknown")
            try expect(try await far.state(of: "done").count, is: 1, "what has passed the cut")
            try await group.mend(near)
            // All data that was held back arrives before the answer to this call.
            _ = try await answered("the handle is answered again") { () throws(SharedCoreError) in
                try await near.put("answered", [1])
            }
            if code == .unavailable {
                try expect(try await far.state(of: "done").count, is: 1, "a commit that was unavailable is not applied")
            }
            let retry = try await answered("the retry is answered") { () throws(SharedCoreError) in
                try await near.commit(post("done", number: 2))
            }
            try await far.catchUp()
            let state = try await far.state(of: "done")
            try expect(state.count, is: 2, "how often the request was applied, with the one before")
            try expect(state.revision, is: retry.revision, "the revision that the retry tells")
        }
    }

    static let readsOverACut = ConformanceCase(
        "S4g", "over a cut connection a read is `unavailable`, never old; afterwards it is current",
        fault: .cut
    ) { context in
        try await context.withGroup { group in
            let near = try await group.open()
            let far = try await group.open()
            try await near.put("k", [1])
            try await group.cut(near)
            try await far.put("k", [2])
            let reads: [(String, @Sendable () async throws -> Void)] = [
                ("get", { _ = try await near.get("k") }), ("list", { _ = try await near.list("k") }),
                ("sync", { try await near.sync() }),
            ]
            for (name, read) in reads {
                try expect(try await end(name, of: read), is: .unavailable, "\(name) over the cut")
            }
            try await group.mend(near)
            let entry = try await answered("the handle reads again") { () throws(SharedCoreError) in
                try await near.get("k")
            }
            try expect(entry?.value, is: [2], "what it reads")
        }
    }

    static let killedServer = ConformanceCase(
        "S10m",
        "a killed server has all that was acknowledged when it is back, and nothing that was `unavailable` (S12)",
        durability: .process, fault: .restart, timeLimit: .seconds(600)
    ) { context in
        try await context.withGroup { group in
            let handles = try await group.open(count: 2)
            let codes = Box<[Key: SharedCoreError.Code?]>([:])
            let isOver = Box(false)
            let writers = handles.enumerated().map { writer, handle in
                Task {
                    var round = 0
                    while !isOver.value {
                        let key = try Key("\(writer)/\(round)")
                        round += 1
                        do throws(SharedCoreError) {
                            try await handle.put(key, [UInt8](repeating: UInt8(writer), count: 100))
                            codes.update { $0[key] = .some(nil) }
                        } catch {
                            codes.update { $0[key] = error.code }
                            // The session did not survive, so this writer ends.
                            if error.code == .sessionEnded { return }
                            try? await Task.sleep(for: .milliseconds(5))
                        }
                    }
                }
            }
            defer {
                isOver.update { $0 = true }
                for writer in writers { writer.cancel() }
            }
            for restart in 1...3 {
                let count = codes.value.values.count { $0 == nil }
                try await eventually("it is written, before restart \(restart)") {
                    codes.value.values.count { $0 == nil } >= count + 20 || codes.value.values.contains(.sessionEnded)
                }
                try await group.restartServer()
            }
            let newcomer = try await answered("a newcomer opens") { () throws(SharedCoreError) in
                try await group.open("newcomer")
            }
            try await newcomer.put("end", [1])
            isOver.update { $0 = true }
            try await withTimeout(TestTimeout.usual, "the writers end") {
                for writer in writers { try await writer.value }
            }
            let found = Set(try await newcomer.list().entries.map(\.key))
            let told = codes.value
            context.note("of \(told.count) puts \(told.values.count { $0 == nil }) were acknowledged")
            for (key, code) in told.sorted(by: { $0.key < $1.key }) {
                switch code {
                case nil: try expect(found.contains(key), "\(key) was acknowledged and is there")
                case .unavailable?: try expect(!found.contains(key), "\(key) was unavailable and is not there")
                case .outcomeUnknown?, .sessionEnded?: break
                case let code?: try expect(false, "\(key): \(code) is no code for a server that has ended")
                }
            }
        }
    }

    static let fullServer = ConformanceCase(
        "S10n", "a full server refuses with `storageFull` and changes nothing; with space the same call works",
        fault: .full
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let other = try await group.open()
            try await group.fillServer()
            func put(_ number: UInt8) throws -> Transaction {
                try Transaction(operations: [
                    .put("last", [number], .persistent),
                    .put(Key("large/\(number)"), [UInt8](repeating: number, count: 512 << 10), .persistent),
                ])
            }
            // A server may have reserved space, so write until a write is refused.
            var refused: UInt8 = 0
            var code: SharedCoreError.Code?
            while code == nil, refused < 64 {
                refused += 1
                let transaction = try put(refused)
                code = try await end("put \(refused)") { _ = try await store.commit(transaction) }
            }
            try expect(code, is: .storageFull, "how put \(refused) of 512 KiB ends")
            let transaction = try put(refused)
            let second = try await end("the second attempt") { _ = try await store.commit(transaction) }
            try expect(second, is: .storageFull, "the second attempt")
            for (handle, name) in [(store, "it"), (other, "another")] {
                try await handle.catchUp()
                let keys = try await handle.list("large").entries.map(\.key)
                try expect(keys.count, is: Int(refused) - 1, "the number of values that \(name) sees")
                try expect(
                    try await handle.get("last")?.value, is: refused == 1 ? nil : [refused - 1],
                    "the last one that \(name) sees")
            }
            try await group.emptyServer()
            let commit = try await answered("the same call works") { () throws(SharedCoreError) in
                do throws(SharedCoreError) { return try await store.commit(transaction) } catch {
                    // A server may notice its free space only after some time, so try again.
                    throw error.code == .storageFull ? SharedCoreError(.unavailable, error.message, at: "test") : error
                }
            }
            try await other.catchUp()
            try expect(try await other.get("last")?.revision, is: commit.revision, "what another reads")
        }
    }

    static let lateSnapshot = ConformanceCase(
        "W1k", "where updates arrive late, a watch still begins with every commit that has returned, and is armed then",
        fault: .delay
    ) { context in
        try await context.withGroup { group in
            let near = try await group.open()
            let far = try await group.open()
            try await group.delay(near, by: .milliseconds(300))
            let first = try await far.put("k/a", [1]).revision
            let watch = try await near.watch("k", from: .snapshot)
            let recorder = WatchRecorder(watch, of: ["k"])
            let second = try await far.put("k/b", [1]).revision
            try await recorder.reaches(second)
            try expect(
                recorder.mirror.entries.keys.sorted(), is: ["k/a", "k/b"], "what the watch tells of")
            try expect(
                recorder.mirror.changedRevisions.allSatisfy { $0 > first }, "the snapshot had the first commit")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
        }
    }

    static let lateStart = ConformanceCase(
        "W1l", "where updates arrive late, a watch from now on delivers nothing that was committed before",
        fault: .delay
    ) { context in
        try await context.withGroup { group in
            let near = try await group.open()
            let far = try await group.open()
            try await group.delay(near, by: .milliseconds(300))
            try await far.put("k", [1])
            let recorder = WatchRecorder(
                try await near.watch(.all, from: .now),
                previousValues: near.capabilities.features.contains(.previousValues))
            let second = try await far.put("k", [2]).revision
            try await recorder.reaches(second)
            try expect(recorder.mirror.changedRevisions, is: [second], "the commits that it delivers")
        }
    }

    static let watchOverACut = ConformanceCase(
        "W2d", "a watch and an observation lose nothing over a cut connection (N2)",
        fault: .cut
    ) { context in
        try await context.withGroup { group in
            let near = try await group.open()
            let far = try await group.open()
            let recorder = try await WatchRecorder(near)
            let observer = ObservationRecorder(try await near.observe("news"))
            var last = Revision.zero
            for round in 0..<3 as Range<UInt64> {
                try await group.cut(near)
                for number in 0..<20 as Range<UInt64> {
                    last = try await far.put(Key("k/\(number)"), [UInt8(round)]).revision
                    try await far.post("news", state: round * 20 + number)
                }
                if round == 2 {
                    // Long enough for the backend to give the connection up: it must resume over another one.
                    try expect(
                        try await end("a read", of: { try await near.sync() }), is: .unavailable, "a read over the cut")
                }
                try await group.mend(near)
                try await recorder.reaches(last)
                try await observer.reaches((round + 1) * 20)
            }
            try expect(observer.count, is: 60, "how many posts it was delivered")
            try expect(observer.deliveries.last?.state, is: 59, "the last state that it was delivered")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
            try expect(
                recorder.mirror.entries.values.sorted { $0.key < $1.key }, is: try await far.list().entries,
                "what the watch tells of")
        }
    }

    static let lateNews = ConformanceCase(
        "W3d", "a handle with updates that are late by more than the history gets `lagged`, and converges",
        fault: .delay
    ) { context in
        try await context.withGroup(GroupSettings(historyByteCount: 8 << 10)) { group in
            let near = try await group.open()
            let far = try await group.open()
            let recorder = try await WatchRecorder(near)
            try await group.delay(near, by: .milliseconds(500))
            var last = Revision.zero
            for number in 0..<64 {
                last = try await far.put(Key("k/\(number)"), [UInt8](repeating: 1, count: 1000)).revision
            }
            try await group.delay(near, by: .zero)
            try await recorder.reaches(last)
            context.note("it lagged \(recorder.mirror.laggedCount) times")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
            try expect(recorder.mirror.entries.count, is: 64, "how many keys it knows")
        }
    }

    static let lateSync = ConformanceCase(
        "W5b", "where updates arrive late, `sync` still waits for all that was committed before it",
        fault: .delay
    ) { context in
        try await context.withGroup { group in
            let near = try await group.open()
            let far = try await group.open()
            try await group.delay(near, by: .milliseconds(300))
            let watch = try await near.watch("k", from: .now)
            for round in 0..<3 as Range<UInt8> {
                let revision = try await far.put("k", [round]).revision
                try await near.sync()
                let entry = try await near.get("k", consistency: .causal)
                try expect(entry?.revision, is: revision, "a causal read after `sync`, in round \(round)")
                let event = try await withTimeout(TestTimeout.usual, "the change before `sync`") {
                    try await watch.next()
                }
                try expect(event?.revision, is: revision, "the change before `sync`, in round \(round)")
            }
        }
    }

    static let watchOverARestart = ConformanceCase(
        "W2e", "a watch continues after the server was killed and started again, or ends with its session",
        durability: .process,
        fault: .restart
    ) { context in
        try await context.withGroup { group in
            let near = try await group.open()
            let far = try await group.open()
            let recorder = try await WatchRecorder(near)
            try await far.put("k/before", [1])
            try await group.restartServer()
            let writer = try await answered("a newcomer opens") { () throws(SharedCoreError) in
                try await group.open("newcomer")
            }
            let last = try await writer.put("k/behind", [1]).revision
            let code = try await code(of: {
                try await answered("the handle is answered") { () throws(SharedCoreError) in try await near.sync() }
            })
            if code == .sessionEnded {
                try expect(try await recorder.ended()?.code, is: .sessionEnded, "how the watch ends")
            } else {
                try expect(code, is: nil, "how the handle goes on")
                try await recorder.reaches(last)
                try expect(recorder.mirror.entries["k/before"]?.value, is: [1], "what was written before")
            }
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
        }
    }
}
