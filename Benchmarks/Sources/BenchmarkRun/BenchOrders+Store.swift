internal import CoreAPI
internal import Platform
internal import Synchronization

extension BenchOrders {
    static func key(_ index: Int) throws -> Key { try Key("bench/key-\(index)") }

    static func value(_ byteCount: Int) -> [UInt8] { [UInt8](repeating: 118, count: byteCount) }

    func get(_ count: Int, _ consistency: ReadConsistency) async throws -> [Double] {
        let keys = try (0..<filledCount.load(ordering: .relaxed)).map(Self.key)
        if filledCount.load(ordering: .relaxed) == 1 { try await group.put(keys[0], Self.value(Self.valueByteCount)) }
        // Over a connection one read takes long enough.
        let isAsked = consistency == .linearizable && ["zmq", "etcd"].contains(group.capabilities.backend)
        let looks = isAsked ? 1 : Self.looksPerSample
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

    func put(_ count: Int, byteCount: Int) async throws -> [Double] {
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

    func putTogether(_ count: Int) async throws -> [Double] {
        var samples: [Double] = []
        for _ in 0..<count {
            let begin = SystemClock().now()
            try await withThrowingTaskGroup(of: Void.self) { writers in
                for writer in 0..<Self.writerCount {
                    writers.addTask { [group] in try await group.put(Self.key(writer), Self.value(Self.valueByteCount))
                    }
                }
                try await writers.waitForAll()
            }
            samples.append(begin.nanoseconds(to: SystemClock().now()) / Double(Self.writerCount))
        }
        return samples
    }

    func watch(_ number: Int) async throws {
        let watch = try await group.watch(KeyPrefix(Key("bench/herd-\(number)")), from: .now)
        begin(on: group.deliveryExecutor) { [self] in
            for try await event in watch {
                if case .changes(let set) = event { seenCount.add(set.changes.count, ordering: .relaxed) }
            }
        }
    }

    /// The pause between two commits that a cluster of processes watches.
    private static let pause = Duration.milliseconds(1)

    func drive(_ count: Int, herd: Int) async throws -> [Double] {
        let keys = try (0..<herd).map { try Key("bench/herd-\($0)") }
        let value = Self.value(Self.valueByteCount)
        var samples: [Double] = []
        for index in 0..<count {
            let begin = SystemClock().now()
            try await group.put(keys[index % herd], value)
            samples.append(begin.nanoseconds(to: SystemClock().now()))
            // All at once would be over before the first of a hundred processes has woken.
            try await Task.sleep(for: Self.pause)
        }
        return samples
    }

    /// Returns when nothing of those before is under way.
    func flood(_ count: Int) async {
        let former = tasks.withLock { tasks in
            defer { tasks = [] }
            return tasks
        }
        for task in former { task.cancel() }
        for task in former { _ = await task.result }
        for index in 0..<count {
            begin(on: group.deliveryExecutor) { [group] in
                let key = try Key("bench/flood-\(index)")
                while !Task.isCancelled { try await group.put(key, Self.value(Self.valueByteCount)) }
            }
        }
    }
}
