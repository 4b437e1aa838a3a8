internal import CoreAPI
internal import Platform
internal import Synchronization

extension BenchOrders {
    /// - Parameter isOnPool: True if the task that takes the deliveries runs on Swift's pool, and not on the group's
    ///   delivery executor.
    func ping(_ count: Int, isOnPool: Bool) async throws -> [Double] {
        let answers = try await group.observe("bench/back")
        return try await withTaskExecutorPreference(isOnPool ? nil : group.deliveryExecutor) { [group] in
            var samples: [Double] = []
            for _ in 0..<count {
                try await group.post("bench/there", state: SystemClock().now().nanoseconds)
                guard let answer = try await answers.next() else { break }
                samples.append(Double(answer.state))
            }
            return samples
        }
    }

    func echo(isOnPool: Bool) async throws {
        let questions = try await group.observe("bench/there")
        begin(on: isOnPool ? nil : group.deliveryExecutor) { [group] in
            for try await question in questions {
                let elapsed = SystemClock().now().nanoseconds &- question.state
                try await group.post("bench/back", state: elapsed)
            }
        }
    }

    func post() async throws -> [Double] {
        let begin = SystemClock().now()
        try await group.post("bench/all", state: begin.nanoseconds)
        return [Double(begin.nanoseconds), begin.nanoseconds(to: SystemClock().now())]
    }

    func observe(_ count: Int) async throws {
        let heard = HeardPosts()
        for _ in 0..<count {
            let posts = try await group.observe("bench/all")
            begin(on: group.deliveryExecutor) { [report] in
                for try await post in posts {
                    let now = SystemClock().now().nanoseconds
                    if heard.add(post.state) == count { report("heard \(now)") }
                }
            }
        }
    }
}

/// The number of observers that have heard each post.
final class HeardPosts: Sendable {
    private let counts = Mutex<[UInt64: Int]>([:])

    /// - Returns: How many have heard it now.
    func add(_ post: UInt64) -> Int {
        counts.withLock { counts in
            counts[post, default: 0] += 1
            return counts[post, default: 0]
        }
    }
}
