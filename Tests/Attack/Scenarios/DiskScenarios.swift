internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport

/// A full disk refuses only puts, and everything works again by itself once there is space.
enum DiskScenarios {
    static var all: [Scenario] {
        [
            Scenario("names-on-full-disk", weight: 3) { selection in
                let cases = [
                    Scenario.Case("owner-killed", seed: selection.seed) {
                        try await postNames($0, count: 400, isOwned: true)
                    },
                    Scenario.Case("nothing-killed", seed: selection.seed) {
                        try await postNames($0, count: 200, isOwned: false)
                    },
                ]
                // Hundreds of processes one after the other.
                return selection.isBrief ? [] : cases
            },
            Scenario("puts-until-full", weight: 3) { selection in
                SmallDisk.Kind.allCases.flatMap { kind in
                    (selection.isBrief ? [4] : [2, 3, 4, 6, 8, 10, 12, 16]).filter { kind == .tmpfs || $0 > 3 }.map {
                        size in
                        Scenario.Case("\(kind)-\(size)", seed: selection.seed) {
                            try await putUntilFull(on: kind, size, $0)
                        }
                    }
                }
            },
            Scenario("refused-while-full", weight: 2) { selection in
                SmallDisk.Kind.allCases.flatMap { kind in
                    [false, true].map { isOwned in
                        Scenario.Case("\(kind)-\(isOwned ? "owned" : "alone")", seed: selection.seed) {
                            try await refuse(selection.isBrief ? 40 : 400, isOwned: isOwned, on: kind, $0)
                        }
                    }
                }
            },
            Scenario("disk-tmpfs", weight: 4) { selection in
                selection.histories(200, brief: 8) { try await history(on: .tmpfs, $0) }
            },
            Scenario("disk-ext4", weight: 4) { selection in
                selection.histories(100, brief: 6) { try await history(on: .ext4, $0) }
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
            // The kept files are a copy: the file system goes with this program.
            _ = try? await attempt.tool("cp", "-a", attempt.groups, attempt.directory + "/found")
            await disk.unmount(attempt)
            throw error
        }
        await disk.unmount(attempt)
    }

    /// Names are content: they never take the space reserved for endings and a compaction.
    private static func postNames(_ attempt: Attempt, count: Int, isOwned: Bool) async throws {
        try await with(.tmpfs, mebibytes: 2, attempt) { disk in
            try await attempt.put("before", number: 1)
            if isOwned { try await fill(disk, attempt) }
            let owner = isOwned ? try await attempt.own("main") : nil
            let posted = await withTaskGroup(of: Int.self) { tasks in
                for part in 0..<4 {
                    tasks.addTask {
                        for number in 0..<count / 4 {
                            let name = String(repeating: "n", count: 480) + "\(number * 4 + part)"
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
            if let owner { try await attempt.kill(owner) } else { try await fill(disk, attempt) }
            try await attempt.demand("status")
            try await attempt.demand("exclusive", "--role", "main", "--", "true")
            disk.free()
            try await attempt.verifyRecovery()
        }
    }

    /// Puts alone fill the disk, and continue while it is full. After all values are deleted, the group works as
    /// before.
    private static func putUntilFull(on kind: SmallDisk.Kind, _ mebibytes: Int, _ attempt: Attempt) async throws {
        try await with(kind, mebibytes: mebibytes, attempt) { _ in
            var refusedCount = 0
            var number: UInt64 = 0
            while refusedCount < 8, number < mebibytes * 30 {
                number += 1
                // Half of them have the same key, so that the log is longer than the state.
                let key = number % 2 == 0 ? "same" : "key\(number)"
                let answer = try await attempt.put(
                    key, number: number, byteCount: 100_000, options: ["--durability", "process"])
                if !answer.isSuccess { refusedCount += 1 }
            }
            attempt.countFaults(refusedCount)
            for _ in 1...10 { try await attempt.demand("status") }
            try await attempt.demand("exclusive", "--role", "main", "--", "true")
            for key in attempt.log.presentKeys {
                let answer = try await attempt.delete(key)
                try expect(answer.isSuccess, "a value can be deleted on a full disk; \(answer.summary)")
            }
            try await attempt.verifyRecovery()
            for _ in 1...40 { try await attempt.demand("status") }
            try await attempt.demand("exclusive", "--role", "main", "--", "true")
            try await eventually("the spare space is there again", timeout: .seconds(5)) {
                attempt.names.contains("spare")
            }
        }
    }

    /// Puts are refused again and again, while another program takes the free space after each. The reserved space is
    /// not used up.
    private static func refuse(_ count: Int, isOwned: Bool, on kind: SmallDisk.Kind, _ attempt: Attempt) async throws {
        try await with(kind, mebibytes: 4, attempt) { disk in
            for number: UInt64 in 0..<9 { try await attempt.put("key\(number)", number: number, byteCount: 30_000) }
            try await fill(disk, attempt)
            let owner = isOwned ? try await attempt.own("main") : nil
            for number in 0..<UInt64(count) {
                let answer = try await attempt.put(
                    "key\(number % 9)", number: number + 9, byteCount: 30_000, options: ["--durability", "process"])
                if !answer.isSuccess { attempt.countFaults() }
                try disk.fill()
                if number % 20 == 0 { try await attempt.verify() }
            }
            if let owner { try await attempt.kill(owner) }
            try await attempt.demand("exclusive", "--role", "main", "--", "true")
            let answer = try await attempt.delete("key1")
            try expect(answer.isSuccess, "a value can be deleted on a full disk; \(answer.summary)")
            disk.free()
            try await attempt.verifyRecovery()
        }
    }

    /// Short-lived writers, sessions and owners, killed at random, while the disk fills up and is freed again.
    private static func history(on kind: SmallDisk.Kind, _ attempt: Attempt) async throws {
        var random = SeededRandom(seed: attempt.seed)
        let mebibytes = Int.random(in: 2...16, using: &random)
        try await with(kind, mebibytes: kind == .ext4 ? max(4, mebibytes) : mebibytes, attempt) { disk in
            try await attempt.put("before", number: 1)
            var owner: ChildProcess?
            for step in 1...16 {
                let number = attempt.seed &* 1000 &+ UInt64(step)
                switch Int.random(in: 0..<13, using: &random) {
                case 0...4: try await burst(of: attempt, number, &random)
                case 5: try await attempt.delete(name(&random), killedAfter: pause(&random))
                case 6:
                    let name = String(repeating: "p", count: Int.random(in: 1...240, using: &random)) + "\(number)"
                    try await attempt.run(["notify", "post", name], killedAfter: pause(&random))
                case 7:
                    let left = random.once(in: 2) ? 0 : Int.random(in: 0...2 << 20, using: &random)
                    try await fill(disk, leaving: left, beside: owner, attempt)
                case 8: disk.free()
                case 9:
                    if let living = owner { try await attempt.kill(living) }
                    owner = try await attempt.own(random.once(in: 2) ? "main" : "executor")
                case 10:
                    let watcher = try attempt.start(["store", "watch"])
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0...60, using: &random)))
                    try await attempt.kill(watcher)
                case 11: try await storm(of: attempt, number, &random)
                default: try await attempt.verify()
                }
            }
            if owner == nil { owner = try await attempt.own("executor") }
            try await fill(disk, beside: owner, attempt)
            attempt.countFaults()
            if let owner { try await attempt.kill(owner) }
            try await attempt.demand("exclusive", "--role", "executor", "--", "true")
            try await attempt.verify()
            let main = try await attempt.own("main")
            try await attempt.demand("exclusive", "--role", "main", "--take-over", "--", "true")
            if main.ended == nil { try await attempt.kill(main, with: .terminate) }
            try await attempt.demand("status")

            disk.free()
            try await attempt.verifyRecovery()
            try await eventually("the spare space is there again", timeout: .seconds(5)) {
                attempt.names.contains("spare")
            }
        }
    }

    /// Another program takes the free space, but not between a compaction and the group's next reservation: the
    /// contract names that moment (S10). A process that joins ends that moment if another one was killed there.
    private static func fill(
        _ disk: SmallDisk, leaving byteCount: Int = 0, beside owner: ChildProcess? = nil, _ attempt: Attempt
    ) async throws {
        try await attempt.run(["status"])
        if let owner {
            try await eventually("the owner does not compact") {
                !Attempt.threadNames(of: owner.pid).contains("sc-compact")
            }
        }
        try disk.fill(leaving: byteCount)
    }

    /// Writers of different keys at once, each killed or not.
    private static func burst(of attempt: Attempt, _ number: UInt64, _ random: inout SeededRandom) async throws {
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

    /// Puts of one large key, one after the other, so that the log becomes long enough for compactions.
    private static func storm(of attempt: Attempt, _ number: UInt64, _ random: inout SeededRandom) async throws {
        for index: UInt64 in 0..<12 {
            try await attempt.put(
                "storm", number: number &* 16 &+ index, byteCount: 100_000, options: ["--durability", "process"],
                killedAfter: random.once(in: 4) ? pause(&random) : nil)
        }
    }

    private static func name(_ random: inout SeededRandom) -> String { "key\(Int.random(in: 0..<8, using: &random))" }

    /// When a process is killed: most are not.
    private static func pause(_ random: inout SeededRandom) -> Duration? {
        random.once(in: 3) ? .milliseconds(Int.random(in: 0...80, using: &random)) : nil
    }
}
