internal import CoreAPITesting
internal import Glibc
internal import TestSupport

/// A full disk refuses puts and nothing else, and once it has space everything works by itself.
enum DiskScenarios {
    static var all: [Scenario] {
        [
            Scenario("names-on-full-disk", weight: 3) { wish in
                [
                    Scenario.Case("owner-killed", seed: wish.seed) {
                        try await postNames($0, count: 600, isOwned: true)
                    },
                    Scenario.Case("nothing-killed", seed: wish.seed) {
                        try await postNames($0, count: 400, isOwned: false)
                    },
                ]
            },
            Scenario("disk-tmpfs", weight: 6) { wish in
                wish.histories(200, brief: 8) { try await history(on: .tmpfs, $0) }
            },
            Scenario("disk-ext4", weight: 6) { wish in
                wish.histories(100, brief: 6) { try await history(on: .ext4, $0) }
            },
        ]
    }

    private static func with(
        _ kind: SmallDisk.Kind, mebibytes: Int, _ attempt: Attempt, _ body: (SmallDisk) async throws -> Void
    ) async throws {
        let disk = try await SmallDisk(kind, mebibytes: mebibytes, for: attempt)
        do {
            try await body(disk)
        } catch {
            // What is kept is a copy: the file system goes with this program.
            _ = try? await attempt.tool("cp", "-a", attempt.groups, attempt.directory + "/found")
            await disk.unmount(attempt)
            throw error
        }
        await disk.unmount(attempt)
    }

    /// Names are content: they never take what is kept for endings and a compaction.
    private static func postNames(_ attempt: Attempt, count: Int, isOwned: Bool) async throws {
        try await with(.tmpfs, mebibytes: 2, attempt) { disk in
            try await attempt.put("before", number: 1)
            if isOwned { try disk.fill() }
            let owner = isOwned ? try await attempt.own("main") : nil
            let posted = await withTaskGroup(of: Int.self) { tasks in
                for part in 0..<4 {
                    tasks.addTask {
                        for number in 0..<count / 4 {
                            let name = String(repeating: "n", count: 220) + "\(number * 4 + part)"
                            guard (try? await attempt.run(["notify", "post", name]))?.isSuccess == true else {
                                return number
                            }
                        }
                        return count / 4
                    }
                }
                return await tasks.reduce(0, +)
            }
            attempt.countFaults(posted)
            if let owner { try await attempt.kill(owner) } else { try disk.fill() }
            try await attempt.demand("status")
            try await attempt.demand("exclusive", "--role", "main", "--", "true")
            disk.free()
            try await attempt.verifyRecovery()
        }
    }

    /// Short-lived writers, sessions and owners, killed at random, while the disk fills up and is freed again.
    private static func history(on kind: SmallDisk.Kind, _ attempt: Attempt) async throws {
        var random = SplitMix64(seed: attempt.seed)
        let mebibytes = Int.random(in: 2...16, using: &random)
        try await with(kind, mebibytes: kind == .ext4 ? max(4, mebibytes) : mebibytes, attempt) { disk in
            try await attempt.put("before", number: 1)
            var owner: ChildProcess?
            for step in 1...24 {
                let number = attempt.seed &* 1000 &+ UInt64(step)
                switch Int.random(in: 0..<12, using: &random) {
                case 0...4: try await burst(of: attempt, number, &random)
                case 5: try await attempt.delete(name(&random), killedAfter: pause(&random))
                case 6:
                    let name = String(repeating: "p", count: Int.random(in: 1...240, using: &random)) + "\(number)"
                    try await attempt.run(["notify", "post", name], killedAfter: pause(&random))
                case 7: try disk.fill()
                case 8: disk.free()
                case 9:
                    if let living = owner { try await attempt.kill(living) }
                    owner = try await attempt.own(random.once(in: 2) ? "main" : "executor")
                case 10:
                    let watcher = try attempt.start(["store", "watch"])
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0...60, using: &random)))
                    try await attempt.kill(watcher)
                default: try await attempt.verify()
                }
            }
            if owner == nil { owner = try await attempt.own("executor") }
            try disk.fill()
            attempt.countFaults()
            if let owner { try await attempt.kill(owner) }
            try await attempt.demand("exclusive", "--role", "executor", "--", "true")
            try await attempt.verify()
            let main = try await attempt.own("main")
            try await attempt.demand("exclusive", "--role", "main", "--take-over", "--", "true")
            if main.ended == nil { try await attempt.kill(main, with: SIGTERM) }
            try await attempt.demand("status")

            disk.free()
            try await attempt.verifyRecovery()
            try await eventually("the spare space is there again", within: .seconds(5)) {
                attempt.names.contains("spare")
            }
        }
    }

    /// Writers of different keys at once, each killed or not.
    private static func burst(of attempt: Attempt, _ number: UInt64, _ random: inout SplitMix64) async throws {
        var keys = (0..<8).map { "key\($0)" }
        keys.shuffle(using: &random)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for (index, key) in keys.prefix(Int.random(in: 1...3, using: &random)).enumerated() {
                let size = random.once(in: 2) ? Int.random(in: 1...100_000, using: &random) : 60
                let killed = pause(&random)
                let durability = random.once(in: 2) ? "disk" : "process"
                tasks.addTask {
                    try await attempt.put(
                        key, number: number &* 4 &+ UInt64(index), byteCount: size,
                        options: ["--durability", durability],
                        killedAfter: killed)
                }
            }
            try await tasks.waitForAll()
        }
    }

    private static func name(_ random: inout SplitMix64) -> String { "key\(Int.random(in: 0..<8, using: &random))" }

    /// When a process is killed: most are not.
    private static func pause(_ random: inout SplitMix64) -> Duration? {
        random.once(in: 3) ? .milliseconds(Int.random(in: 0...80, using: &random)) : nil
    }
}
