package import CoreAPI
internal import Platform
internal import Synchronization

/// Carries out the orders of a measurement as a participant, and measures their time in nanoseconds.
package final class BenchOrders: Sendable {
    /// The number of reads in one sample: one alone takes less time than reading the clock.
    static let looksPerSample = 100
    /// The number of bytes of a value where no number is given.
    static let valueByteCount = 256
    static let writerCount = 8

    let group: any SharedGroup
    /// The tasks that run until the end.
    let tasks = Mutex<[Task<Void, any Error>]>([])
    let seenCount = Atomic(0)
    let filledCount = Atomic(1)
    let report: @Sendable (String) -> Void

    /// - Parameter report: Called with a line for each event outside the orders.
    package init(in group: any SharedGroup, report: @escaping @Sendable (String) -> Void = { _ in }) {
        self.group = group
        self.report = report
    }

    deinit {
        for task in tasks.withLock({ $0 }) { task.cancel() }
    }

    /// Obeys `WORD COUNT [NUMBER]`.
    ///
    /// | word | does | gives |
    /// |---|---|---|
    /// | `get`, `look` | reads a key so often, from the group or from what is known of it here | the time of each |
    /// | `put` | puts values of NUMBER bytes | the time of each |
    /// | `get.pool`, `put.pool` | the same on Swift's pool, where `get` and `put` run where answers are heard | the time of each |
    /// | `puts` | puts values from several tasks at once | the time of all by their number, so often |
    /// | `fill` | makes keys up to this number, among which is read and put | nothing |
    /// | `oneway` | posts to a participant that does `echo`; on Swift's pool where NUMBER is 1 | how long each was on its way |
    /// | `echo` | answers from now on; on Swift's pool where NUMBER is 1 | nothing |
    /// | `observe` | so many observers; reports `heard` with the time when all have heard a post | nothing |
    /// | `post` | posts to them | when it began and how long it took |
    /// | `watch` | watches key COUNT of a herd, and counts | nothing |
    /// | `seen` | | how many changes that watch has delivered |
    /// | `herd` | puts to the NUMBER keys of a herd in turn | the time of each |
    /// | `flood` | puts all the time from so many tasks at once, in place of those before | nothing |
    ///
    /// - Returns: Nil for a word that is none of these.
    package func obey(_ order: String) async throws -> [Double]? {
        let parts = order.split(separator: " ")
        guard let word = parts.first, parts.count > 1, let count = Int(parts[1]) else { return nil }
        let number = parts.count > 2 ? Int(parts[2]) : nil
        switch word {
        case "get": return try await whereHeard { try await self.get(count, .linearizable) }
        case "get.pool": return try await get(count, .linearizable)
        case "look": return try await get(count, .causal)
        case "put": return try await whereHeard { try await self.put(count, byteCount: number ?? Self.valueByteCount) }
        case "put.pool": return try await put(count, byteCount: number ?? Self.valueByteCount)
        case "puts": return try await putTogether(count)
        case "fill":
            for index in 0..<count { try await group.put(Self.key(index), Self.value(Self.valueByteCount)) }
            filledCount.store(count, ordering: .relaxed)
            return []
        case "oneway": return try await ping(count, isOnPool: number == 1)
        case "echo":
            try await echo(isOnPool: number == 1)
            return []
        case "observe":
            try await observe(count)
            return []
        case "post": return try await whereHeard { try await self.post() }
        case "watch":
            try await watch(count)
            return []
        case "seen": return [Double(seenCount.load(ordering: .relaxed))]
        case "herd": return try await whereHeard { try await self.drive(count, herd: number ?? 1) }
        case "flood":
            await flood(count)
            return []
        default: return nil
        }
    }

    /// Runs where answers are heard, when they come over a connection.
    private func whereHeard(_ body: @escaping @Sendable () async throws -> [Double]) async throws -> [Double] {
        guard group.capabilities.backend == "zmq" else { return try await body() }
        return try await withTaskExecutorPreference(group.deliveryExecutor) { try await body() }
    }

    func begin(on executor: (any TaskExecutor)?, _ body: @escaping @Sendable () async throws -> Void) {
        let task = Task.detached(executorPreference: executor) { try await body() }
        tasks.withLock { $0.append(task) }
    }
}

extension BootInstant {
    func nanoseconds(to other: BootInstant) -> Double {
        Double(other.nanoseconds &- nanoseconds)
    }
}
