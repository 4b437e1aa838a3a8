internal import CoreAPI
internal import Platform
internal import Synchronization

/// S13: closing and cancelling.
enum ClosingCases {
    static let all = [
        useAfterCloseIsTyped, closeUnblocks, closeMeetsCalls, cancelledCommitsDoNothing, cancellationIsAllOrNothing,
        cancelledWaitsEnd, cancelledWaitsSwallowNothing, closedWhenCancelled,
    ]

    static let useAfterCloseIsTyped = ConformanceCase(
        "S13a", "after `close` every call is `closed`; closing again is harmless"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let witness = try await group.open()
            let before = try await store.put("k", [1]).revision
            await store.close()
            await store.close()
            _ = try await together(4) { _ in await store.close() }

            let calls: [(String, @Sendable () async throws -> Void)] = [
                ("get", { _ = try await store.get("k") }),
                ("get, causal", { _ = try await store.get("k", consistency: .causal) }),
                ("list", { _ = try await store.list() }),
                ("list, causal", { _ = try await store.list(.all, consistency: .causal) }),
                ("put", { try await store.put("k", [2]) }),
                ("put on a condition", { try await store.put("k", [2], if: .absent("other")) }),
                ("commit of nothing", { _ = try await store.commit(Transaction()) }),
                ("delete", { try await store.delete("k") }),
                ("watch", { _ = try await store.watch() }),
                ("watch from now", { _ = try await store.watch(.all, from: .now) }),
                ("watch after a revision", { _ = try await store.watch(.all, from: .after(before)) }),
                ("sync", { try await store.sync() }),
                ("sessions", { _ = try await store.sessions() }),
                ("post", { try await store.post("news") }),
                ("observe", { _ = try await store.observe("news") }),
                ("state", { _ = try await store.state(of: "news") }),
            ]
            for (what, call) in calls { try await expect(.closed, from: what, call) }
            try await witness.catchUp()
            let entry = try await witness.get("k")
            try expect(entry?.value == [1] && entry?.revision == before, "another handle finds what was put before")
            try expect(try await witness.state(of: "news"), is: .never, "what was posted after the close")
            try expect(try await witness.sessions().map(\.id), is: [witness.session.id], "the sessions that are left")
        }
    }

    static let closeUnblocks = ConformanceCase(
        "S13b", "`close` ends each wait at a watch or an observation (W4)"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let watches = [try await store.watch(.all, from: .now), try await store.watch("a", from: .now)]
            let observations = [try await store.observe("a"), try await store.observe("b")]
            let waiting = Box(0)
            let waiters =
                watches.map { watch in
                    Task { () async throws -> Bool in
                        waiting.update { $0 += 1 }
                        return try await watch.next() == nil
                    }
                }
                + observations.map { observation in
                    Task { () async throws -> Bool in
                        waiting.update { $0 += 1 }
                        return try await observation.next() == nil
                    }
                }
            defer { for waiter in waiters { waiter.cancel() } }
            try await eventually("all wait") { waiting.value == 4 }
            await store.close()
            for (number, waiter) in waiters.enumerated() {
                let hasEnded = try await withTimeout(TestTimeout.usual, "waiter \(number) ends") {
                    try await waiter.value
                }
                try expect(hasEnded, "waiter \(number) gets the end, not an event")
            }
            // An ended watch stays ended: a later call returns nil as well.
            for watch in watches {
                let event = try await withTimeout(TestTimeout.usual, "a closed watch ends") { try await watch.next() }
                try expect(event, is: nil, "the next event of a closed watch")
            }
            for observation in observations {
                let delivery = try await withTimeout(TestTimeout.usual, "a closed observation ends") {
                    try await observation.next()
                }
                try expect(delivery, is: nil, "the next delivery of a closed observation")
            }
        }
    }

    static let closeMeetsCalls = ConformanceCase(
        "S13c", "calls in flight when the handle closes take effect whole or are refused"
    ) { context in
        try await context.withGroup { group in
            let witness = try await group.open()
            var total = 0
            // A close waits for a hub only for a limited time. If the machine stalls for longer, an outcome may be
            // unknown.
            var unknownRounds = 0
            for round in 0..<20 {
                let store = try await group.open()
                let key = try Key("round/\(round)")
                let counts = try await together(5) { number -> (done: Int, unknown: Int) in
                    if number == 4 {
                        await store.close()
                        return (0, 0)
                    }
                    for done in 0..<50 {
                        let outcome = try await attempt {
                            try await store.commit(
                                Transaction(operations: [.post("count", state: nil), .put(key, [1], .persistent)]))
                        }
                        if case .failure(let error) = outcome {
                            if error.code == .outcomeUnknown { return (done, 1) }
                            // The code is `closed` even if the call finds that its session has ended, because the
                            // application itself has closed the handle.
                            try expect(error.code == .closed, "a call at the close is `closed`, not: \(error)")
                            return (done, 0)
                        }
                    }
                    return (50, 0)
                }
                let done = counts.reduce(0) { $0 + $1.done }
                let unknown = counts.reduce(0) { $0 + $1.unknown }
                if unknown > 0 { unknownRounds += 1 }
                try await witness.catchUp()
                let count = Int(try await witness.state(of: "count").count)
                try expect(
                    (total + done...total + done + unknown).contains(count),
                    "by round \(round) \(count) commits took effect, of \(total + done), and \(unknown) of an unknown outcome"
                )
                let isThere = try await witness.get(key) != nil
                try expect(isThere, is: count > total, "whether the key of round \(round) is there")
                total = count
            }
            try expect(unknownRounds <= 2, "in \(unknownRounds) of 20 rounds a close did not wait for an answer")
        }
    }

    static let cancelledCommitsDoNothing = ConformanceCase(
        "S13d", "a task that was cancelled before its commit does nothing"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let before = try await store.put("k", [1]).revision
            let gate = Promise<Void>()
            let task = Task {
                await gate.pass()
                return try await code { try await store.put("k", [2]) }
            }
            task.cancel()
            gate.open()
            let outcome = try await withTimeout(TestTimeout.usual, "the cancelled commit ends") { try await task.value }
            try expect(outcome, is: .cancelled, "the code of the cancelled commit")
            try expect(try await store.get("k")?.revision, is: before, "the revision of the entry")
        }
    }

    static let cancellationIsAllOrNothing = ConformanceCase(
        "S13e", "cancelled at any moment, a commit is done when it says so, and not done when it was `cancelled`"
    ) { context in
        try await context.withGroup { group in
            let handles = try await group.open(count: 4)
            let seed = context.seed.rawValue
            let counts = try await together(4) { number -> (done: Int, unknown: Int) in
                var random = SeededRandom(seed: seed &+ UInt64(number))
                var (done, unknown) = (0, 0)
                for turn in 0..<400 {
                    let store = handles[number]
                    let task = Task {
                        try await code {
                            if turn.isMultiple(of: 2) { return try await store.post("count") }
                            return try await store.commit(Transaction(operations: [.post("count", state: nil)]))
                                .revision
                        }
                    }
                    for _ in 0..<Int.random(in: 0...3, using: &random) { await Task.yield() }
                    task.cancel()
                    let outcome = try await withTimeout(TestTimeout.usual, "a cancelled commit ends") {
                        try await task.value
                    }
                    switch outcome {
                    case nil: done += 1
                    case .cancelled: break
                    // The server is far away, and did not answer promptly.
                    case .outcomeUnknown: unknown += 1
                    default:
                        try expect(false, "a commit is done, `cancelled` or unknown, and this is \(outcome as Any)")
                    }
                }
                return (done, unknown)
            }
            try await handles[0].catchUp()
            let count = try await handles[0].state(of: "count").count
            let done = counts.reduce(0) { $0 + $1.done }
            let unknown = counts.reduce(0) { $0 + $1.unknown }
            try expect(
                UInt64(done)...UInt64(done + unknown) ~= count,
                "\(count) posts, where \(done) returned and the outcome of \(unknown) is unknown")
        }
    }

    static let cancelledWaitsEnd = ConformanceCase(
        "S13f", "a cancelled wait ends, though no event comes (W4)"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let watch = try await store.watch(.all, from: .now)
            let observation = try await store.observe("news")
            for _ in 0..<50 {
                let begun = Box(0)
                let waits = Task {
                    begun.update { $0 += 1 }
                    return try await watch.next()
                }
                let wakes = Task {
                    begun.update { $0 += 1 }
                    return try await observation.next()
                }
                try await eventually("both wait") { begun.value == 2 }
                waits.cancel()
                wakes.cancel()
                let event = try await withTimeout(TestTimeout.usual, "the watch's wait ends") { try await waits.value }
                try expect(event, is: nil, "what a cancelled wait at a watch gets")
                let delivery = try await withTimeout(TestTimeout.usual, "the observation's wait ends") {
                    try await wakes.value
                }
                try expect(delivery, is: nil, "what a cancelled wait at an observation gets")
            }
            // The watch and the observation still deliver.
            let commit = try await store.commit(
                Transaction(operations: [.put("k", [1], .persistent), .post("news", state: 3)]))
            let event = try await withTimeout(TestTimeout.usual, "the watch goes on") { try await watch.next() }
            try expect(event?.revision, is: commit.revision, "the revision of the next event")
            let delivery = try await withTimeout(TestTimeout.usual, "the observation goes on") {
                try await observation.next()
            }
            try expect(delivery?.revision, is: commit.revision, "the revision of the next delivery")
        }
    }

    static let cancelledWaitsSwallowNothing = ConformanceCase(
        "S13g", "a cancelled wait ends promptly, and the next wait gets what it would have got (W4)"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let watch = try await store.watch(.all, from: .now)
            let observation = try await store.observe("news")
            var written: [Revision] = []
            var seen: [Revision] = []
            var posts: UInt64 = 0
            var random = context.random()
            let executor = HeldExecutor()
            defer { executor.letGo() }
            for round in 0..<300 {
                let waits = Task(executorPreference: executor) { try await watch.next() }
                let wakes = Task(executorPreference: executor) { try await observation.next() }
                for _ in 0..<Int.random(in: 0...12, using: &random) { await Task.yield() }
                let transaction = Transaction(
                    operations: [.put("k", [UInt8(round % 256)], .persistent), .post("news", state: nil)])
                // The cancellation comes during the commit, right after its updates, or after its tasks were resumed by
                // these and before they continue.
                if round % 3 == 1 { await executor.hold() }
                if round.isMultiple(of: 3) {
                    async let commit = store.commit(transaction)
                    for _ in 0..<Int.random(in: 0...4, using: &random) { await Task.yield() }
                    waits.cancel()
                    wakes.cancel()
                    written.append(try await commit.revision)
                } else {
                    let commit = try await store.commit(transaction)
                    if round % 3 == 1 { try await eventually("both are resumed") { executor.heldCount >= 2 } }
                    waits.cancel()
                    wakes.cancel()
                    written.append(commit.revision)
                }
                executor.letGo()
                if let event = try await withTimeout(TestTimeout.usual, "the wait ends", { try await waits.value }) {
                    seen.append(event.revision)
                }
                if let delivery = try await withTimeout(TestTimeout.usual, "the wait ends", { try await wakes.value }) {
                    posts += delivery.count
                }
                // Take all events and posts of the earlier rounds first: with one of them, the call of this round would
                // not wait.
                while seen.count < written.count,
                    let event = try await withTimeout(
                        TestTimeout.usual, "an event that no wait took", { try await watch.next() })
                { seen.append(event.revision) }
                while posts < written.count,
                    let delivery = try await withTimeout(
                        TestTimeout.usual, "a post that no wait took", { try await observation.next() })
                { posts += delivery.count }
            }
            try expect(seen, is: written, "the revisions that the watch delivered, by those that were committed")
            try expect(posts, is: 300, "the number of posts that were delivered")
        }
    }

    static let closedWhenCancelled = ConformanceCase(
        "S13h", "closing in a cancelled task ends the session for all processes (L1)"
    ) { context in
        try await context.withGroup { group in
            let leaving = try await group.open()
            let staying = try await group.open()
            try await leaving.put("held", [1], lifetime: .session)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                await leaving.close()
            }
            try await withTimeout(TestTimeout.usual, "the close ends") { await task.value }
            // A read checks no process, so it shows the end only if the end was recorded.
            try await staying.catchUp()
            try expect(try await staying.get("held"), is: nil, "what lived with the one that left")
            try await expect(.closed, from: "a call of the one that left") { try await leaving.get("held") }
        }
    }
}

/// Runs the tasks that prefer it on one thread, and can hold them between a resumption and their next step.
private final class HeldExecutor: TaskExecutor {
    private struct State {
        var isHeld = false
        var kept: [UnownedJob] = []
    }

    /// The number of jobs that are held.
    var heldCount: Int { state.withLock(\.kept.count) }

    private let thread = SerialThread(name: "held tasks")
    private let state = Mutex(State())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isKept = state.withLock { state in
            if state.isHeld { state.kept.append(job) }
            return state.isHeld
        }
        if !isKept { submit(job) }
    }

    /// Holds all later jobs. Returns when all earlier jobs have run.
    func hold() async {
        await thread.run { [self] in state.withLock { $0.isHeld = true } }
    }

    /// Runs the held jobs, and all later ones.
    func letGo() {
        let kept = state.withLock { state in
            defer { state = State() }
            return state.kept
        }
        for job in kept { submit(job) }
    }

    private func submit(_ job: UnownedJob) {
        thread.submit { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
