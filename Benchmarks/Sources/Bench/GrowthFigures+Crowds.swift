internal import CoreAPI
internal import Platform
internal import ProgramOutput

extension GrowthFigures {
    /// The time of a post to many, in microseconds.
    struct PostSample: Sendable {
        let post: Double
        /// Until the last of them had heard it.
        let heard: Double
    }

    /// The times of many commits, each of a key that one of many processes watches.
    struct HerdSample: Sendable {
        let commits: [Double]
        /// The number of threads that woke for each commit in all of the watching processes, beyond those that wake at
        /// rest.
        let wakeUps: Double
        /// The same in the hub; zero where there is none.
        let hubWakeUps: Double
    }

    /// The number of posts in one round.
    private static let postCount = 10
    /// The number of commits in one round.
    private static let commitCount = 500
    /// The time for which processes are watched at rest.
    private static let restDuration = Duration.seconds(2)
    /// The most checks whether processes rest, and whether they have seen all, on a machine that is busy.
    private static let listLimit = 10

    /// Processes that observe, and one that posts, each time when all have heard the post before.
    func audience(
        _ name: String, processes: Int, observers: Int, _ pick: @escaping @Sendable (PostSample) -> Double
    ) -> (Figure.Measurement, BenchMeter) {
        let meter = burst(name, of: processes) { _, process in try await process.numbers(after: "observe \(observers)")
        }
        return (
            {
                let (_, all, poster) = cast(try await meter.processes())
                var samples: [Double] = []
                // One that warms up is left out.
                for number in 0...Self.postCount {
                    let post = try await poster.numbers(after: "post 1")
                    guard post.count == 2 else { break }
                    let begin = BootInstant(nanoseconds: UInt64(post[0]))
                    var heard = 0.0
                    for process in all {
                        heard = max(heard, begin.milliseconds(to: try await process.hear("heard")) * 1000)
                    }
                    if number > 0 { samples.append(pick(PostSample(post: post[1] / 1000, heard: heard))) }
                }
                return samples
            }, meter
        )
    }

    /// Processes each of which watches a key of its own, and one that puts to each in turn.
    func herd(
        _ name: String, of processes: Int, _ pick: @escaping @Sendable (HerdSample) -> [Double]
    ) -> (Figure.Measurement, BenchMeter) {
        let meter = burst(name, of: processes) { number, process in try await process.numbers(after: "watch \(number)")
        }
        return (
            {
                let (hub, all, writer) = cast(try await meter.processes())
                let seenBefore = try await seen(by: all)
                let (before, atRest) = try await switchesAtRest(of: all)
                let hubBefore = try ThreadSwitches(of: hub.map(\.pid))
                let begin = SystemClock().now()
                let commits = try await writer.numbers(after: "herd \(Self.commitCount) \(processes)")
                let hubWoken = try ThreadSwitches(of: hub.map(\.pid)).count(since: hubBefore)
                // To ask whether they have seen all would wake them; so it is asked afterwards.
                var after = try await restingSwitches(of: all)
                var looks = 0
                while try await seen(by: all) < seenBefore + Self.commitCount {
                    looks += 1
                    guard looks < Self.listLimit else {
                        throw BenchFailure(.unavailable, "a herd has not seen all of its commits")
                    }
                    after = try await restingSwitches(of: all)
                }
                let woken =
                    Double(after.count(since: before)) - atRest * begin.milliseconds(to: SystemClock().now())
                return pick(
                    HerdSample(
                        commits: commits.map { $0 / 1000 },
                        wakeUps: woken / Double(Self.commitCount),
                        hubWakeUps: Double(hubWoken) / Double(Self.commitCount)))
            }, meter
        )
    }

    private func seen(by processes: [ChildProcess]) async throws -> Int {
        var sum = 0
        for process in processes { sum += Int(try await process.numbers(after: "seen 1").first ?? 0) }
        return sum
    }

    /// The wake-ups so far, and those in a millisecond when nothing comes: Swift's pool has a timer of a second in
    /// every process.
    private func switchesAtRest(of processes: [ChildProcess]) async throws -> (ThreadSwitches, perMillisecond: Double) {
        let before = try await restingSwitches(of: processes)
        let begin = SystemClock().now()
        try await Task.sleep(for: Self.restDuration)
        let after = try ThreadSwitches(of: processes.map(\.pid))
        return (after, Double(after.count(since: before)) / begin.milliseconds(to: SystemClock().now()))
    }

    /// The wake-ups so far, once the only ones left are those of that timer and of the poll that each makes every ten
    /// seconds.
    private func restingSwitches(of processes: [ChildProcess]) async throws -> ThreadSwitches {
        let numbers = processes.map(\.pid)
        var known = try ThreadSwitches(of: numbers)
        for _ in 0..<Self.listLimit {
            try await Task.sleep(for: .milliseconds(300))
            let now = try ThreadSwitches(of: numbers)
            if now.count(since: known) <= 2 + processes.count / 2 { return now }
            known = now
        }
        return known
    }

    /// The parts of the processes: the hub where there is one, the listeners, and the actor.
    private func cast(
        _ processes: [ChildProcess]
    ) -> (hub: [ChildProcess], listeners: [ChildProcess], actor: ChildProcess) {
        let hub = Array(processes.prefix(stage.isBehindHub ? 1 : 0))
        return (hub, Array(processes.dropFirst(hub.count).dropLast()), processes[processes.count - 1])
    }

    /// Processes that have their orders, after their hub if there is one, and one more process at the end.
    private func burst(
        _ name: String, of count: Int, _ begin: @escaping @Sendable (Int, ChildProcess) async throws -> Void
    ) -> BenchMeter {
        BenchMeter { [programs, stage] in
            let place = try stage.place("crowd")
            let (group, hub) = try await stage.served(name)
            var all: [ChildProcess] = []
            for _ in 0...count { all.append(try programs.start(.store, .tool, in: place, of: group)) }
            for process in all { try await process.hear("ready") }
            for (number, process) in all.dropLast().enumerated() { try await begin(number, process) }
            return [hub].compactMap { $0 } + all
        }
    }
}
