package import CoreAPI
internal import Platform
internal import Synchronization

/// What a participant does at the orders of a measurement, and how long it takes, in nanoseconds.
package final class BenchOrders: Sendable {
    /// How many looks are one sample: one alone takes less time than reading the clock.
    private static let looksPerSample = 100
    /// How many bytes a value has where no number is given.
    private static let valueByteCount = 256
    private static let writerCount = 8

    private let group: any SharedGroup
    /// What runs until the end.
    private let tasks = Mutex<[Task<Void, any Error>]>([])
    private let seenCount = Atomic(0)
    private let filledCount = Atomic(1)
    private let report: @Sendable (String) -> Void

    /// - Parameter report: Told what happens beside the orders, as a line.
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
    /// | `puts` | puts values from several tasks at once | the time of all by their number, so often |
    /// | `fill` | makes keys up to this number, among which is read and put | nothing |
    /// | `oneway` | posts, and is answered by whoever does `echo` | how long each was on its way |
    /// | `echo` | answers from now on | nothing |
    /// | `observe` | so many observers; reports `heard` with the time when all have heard a post | nothing |
    /// | `post` | posts to them | when it began and how long it took |
    /// | `watch` | watches key COUNT of a herd, and counts | nothing |
    /// | `seen` | | how many changes that watch has delivered |
    /// | `herd` | puts to the NUMBER keys of a herd in turn | the time of each |
    ///
    /// - Returns: Nil for a word that is none of these.
    package func obey(_ order: String) async throws -> [Double]? {
        let parts = order.split(separator: " ")
        guard let word = parts.first, parts.count > 1, let count = Int(parts[1]) else { return nil }
        let number = parts.count > 2 ? Int(parts[2]) : nil
        switch word {
        case "get": return try await get(count, .linearizable)
        case "look": return try await get(count, .causal)
        case "put": return try await put(count, byteCount: number ?? Self.valueByteCount)
        case "puts": return try await putTogether(count)
        case "fill":
            for index in 0..<count { try await group.put(Self.key(index), Self.value(Self.valueByteCount)) }
            filledCount.store(count, ordering: .relaxed)
            return []
        case "oneway": return try await ping(count)
        case "echo":
            try await echo()
            return []
        case "observe":
            try await observe(count)
            return []
        case "post":
            let begin = SystemClock().now()
            try await group.post("bench/all", state: begin.nanoseconds)
            return [Double(begin.nanoseconds), begin.nanoseconds(to: SystemClock().now())]
        case "watch":
            try await watch(count)
            return []
        case "seen": return [Double(seenCount.load(ordering: .relaxed))]
        case "herd": return try await drive(count, herd: number ?? 1)
        default: return nil
        }
    }

    // MARK: - The store

    private static func key(_ index: Int) throws -> Key { try Key("bench/key-\(index)") }

    private static func value(_ byteCount: Int) -> [UInt8] { [UInt8](repeating: 118, count: byteCount) }

    private func get(_ count: Int, _ consistency: ReadConsistency) async throws -> [Double] {
        let keys = try (0..<filledCount.load(ordering: .relaxed)).map(Self.key)
        if filledCount.load(ordering: .relaxed) == 1 { try await group.put(keys[0], Self.value(Self.valueByteCount)) }
        // Over a connection one look takes long enough.
        let looks = consistency == .linearizable && group.capabilities.backend == "zmq" ? 1 : Self.looksPerSample
        var samples: [Double] = []
        var index = 0
        for _ in 0..<count {
            let begin = SystemClock().now()
            for _ in 0..<looks {
                // Not in the order in which they were made.
                index = (index + 7919) % keys.count
                _ = try await group.get(keys[index], consistency: consistency)
            }
            samples.append(begin.nanoseconds(to: SystemClock().now()) / Double(looks))
        }
        return samples
    }

    private func put(_ count: Int, byteCount: Int) async throws -> [Double] {
        let keys = try (0..<filledCount.load(ordering: .relaxed)).map(Self.key)
        let value = Self.value(byteCount)
        var samples: [Double] = []
        for index in 0..<count {
            let begin = SystemClock().now()
            try await group.put(keys[index * 7919 % keys.count], value)
            samples.append(begin.nanoseconds(to: SystemClock().now()))
        }
        return samples
    }

    private func putTogether(_ count: Int) async throws -> [Double] {
        var samples: [Double] = []
        for _ in 0..<count {
            let begin = SystemClock().now()
            try await withThrowingTaskGroup(of: Void.self) { writers in
                for writer in 0..<Self.writerCount {
                    writers.addTask { [group] in try await group.put(Self.key(writer), Self.value(Self.valueByteCount)) }
                }
                try await writers.waitForAll()
            }
            samples.append(begin.nanoseconds(to: SystemClock().now()) / Double(Self.writerCount))
        }
        return samples
    }

    // MARK: - Notifications

    private func ping(_ count: Int) async throws -> [Double] {
        let answers = try await group.observe("bench/back")
        var samples: [Double] = []
        for _ in 0..<count {
            try await group.post("bench/there", state: SystemClock().now().nanoseconds)
            guard let answer = try await answers.next() else { break }
            samples.append(Double(answer.state))
        }
        return samples
    }

    private func echo() async throws {
        let questions = try await group.observe("bench/there")
        begin { [group] in
            for try await question in questions {
                let elapsed = SystemClock().now().nanoseconds &- question.state
                try await group.post("bench/back", state: elapsed)
            }
        }
    }

    private func observe(_ count: Int) async throws {
        let heard = HeardPosts()
        for _ in 0..<count {
            let posts = try await group.observe("bench/all")
            begin { [report] in
                for try await post in posts {
                    let now = SystemClock().now().nanoseconds
                    if heard.add(post.state) == count { report("heard \(now)") }
                }
            }
        }
    }

    // MARK: - Herds

    private func watch(_ number: Int) async throws {
        let watch = try await group.watch(KeyPrefix(Key("bench/herd-\(number)")), from: .now)
        begin { [self] in
            for try await event in watch {
                if case .changes(let set) = event { seenCount.add(set.changes.count, ordering: .relaxed) }
            }
        }
    }

    private func drive(_ count: Int, herd: Int) async throws -> [Double] {
        let keys = try (0..<herd).map { try Key("bench/herd-\($0)") }
        let value = Self.value(Self.valueByteCount)
        var samples: [Double] = []
        for index in 0..<count {
            let begin = SystemClock().now()
            try await group.put(keys[index % herd], value)
            samples.append(begin.nanoseconds(to: SystemClock().now()))
        }
        return samples
    }

    private func begin(_ body: @escaping @Sendable () async throws -> Void) {
        let task = Task.detached { try await body() }
        tasks.withLock { $0.append(task) }
    }
}
