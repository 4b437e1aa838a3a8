internal import CoreAPI
internal import ProgramOutput

extension GrowthFigures {
    /// What a post to many took, in microseconds.
    struct PostSample: Sendable {
        let post: Double
        /// Until the last of them had heard it.
        let heard: Double
    }

    /// What many commits took, each of which one of many processes watches for.
    struct HerdSample: Sendable {
        let commits: [Double]
        /// How many threads woke for each commit in all of the watching processes.
        let wakeUps: Double
    }

    /// How many posts are one round.
    private static let postCount = 10
    /// How many commits are one round.
    private static let commitCount = 500
    /// How often it is looked whether processes rest, and whether they have seen all, on a machine that is busy.
    private static let lookLimit = 10

    /// Processes that observe, and one that posts, each time when all have heard the post before.
    func audience(
        _ name: String, processes: Int, observers: Int, _ pick: @escaping @Sendable (PostSample) -> Double
    ) -> (Figure.Measurement, BenchMeter) {
        let meter = crowd(name, of: processes) { _, process in try await process.numbers(after: "observe \(observers)")
        }
        return (
            {
                var all = try await meter.processes()
                let poster = all.removeLast()
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
        let meter = crowd(name, of: processes) { number, process in try await process.numbers(after: "watch \(number)")
        }
        return (
            {
                var all = try await meter.processes()
                let writer = all.removeLast()
                let seenBefore = try await seen(by: all)
                let before = try await restingSwitches(of: all)
                let commits = try await writer.numbers(after: "herd \(Self.commitCount) \(processes)")
                // To ask whether they have seen all would wake them; so it is asked afterwards.
                var after = try await restingSwitches(of: all)
                var looks = 0
                while try await seen(by: all) < seenBefore + Self.commitCount {
                    looks += 1
                    guard looks < Self.lookLimit else {
                        throw CommandFailure(.unavailable, "a herd has not seen all of its commits")
                    }
                    after = try await restingSwitches(of: all)
                }
                let woken = after - before
                return pick(
                    HerdSample(
                        commits: commits.map { $0 / 1000 },
                        wakeUps: Double(woken) / Double(Self.commitCount)))
            }, meter
        )
    }

    private func seen(by processes: [BenchProcess]) async throws -> Int {
        var sum = 0
        for process in processes { sum += Int(try await process.numbers(after: "seen 1").first ?? 0) }
        return sum
    }

    /// How often they have woken, once they do so no more but for the look that each takes every ten seconds.
    private func restingSwitches(of processes: [BenchProcess]) async throws -> Int {
        func count() throws -> Int { try processes.reduce(0) { $0 + (try ThreadSwitches.count(of: $1.pid)) } }
        var known = try count()
        for _ in 0..<Self.lookLimit {
            try await Task.sleep(for: .milliseconds(300))
            let now = try count()
            if now - known <= 2 + processes.count / 10 { return now }
            known = now
        }
        return known
    }

    /// Processes that were told what to do, and at the end one more.
    private func crowd(
        _ name: String, of count: Int, _ begin: @escaping @Sendable (Int, BenchProcess) async throws -> Void
    ) -> BenchMeter {
        BenchMeter { [programs, stage] in
            let place = try stage.place("crowd")
            let group = stage.isolated(name)
            var all: [BenchProcess] = []
            for _ in 0...count { all.append(try programs.start(.store, .tool, in: place, of: group)) }
            for process in all { try await process.hear("ready") }
            for (number, process) in all.dropLast().enumerated() { try await begin(number, process) }
            return all
        }
    }
}
