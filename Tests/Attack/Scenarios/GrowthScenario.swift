internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Synchronization
internal import TestSupport

/// A group's directory stays within a multiple of its content, however short its writers live and however slow the disk
/// is.
enum GrowthScenario {
    static let scenario = Scenario("growth", weight: 4) { selection in
        Way.allCases.map { way in
            Scenario.Case(way.rawValue, seed: selection.seed) {
                try await grow($0, count: way.count(in: selection.form), way)
            }
        }
    }

    /// The fault that strikes the writers.
    private enum Way: String, CaseIterable, Sendable {
        /// Each sync takes 40 ms, so that a compaction outlasts its writer.
        case slowSync = "slow-sync"
        case slowSyncOnDisk = "slow-sync-on-disk"
        case killed
        /// Each writer stands still inside a commit, so that the next one passes it over.
        case frozen
        /// Some writers stand still in the middle of their compactions, and stay so.
        case frozenCompactors = "frozen-compactors"

        func count(in form: Options.Form) -> Int {
            switch form {
            case .brief: self == .frozenCompactors ? 250 : 45
            case .timed: self == .frozen ? 120 : 320
            case .whole: self == .killed ? 10_000 : 1000
            }
        }
    }

    /// The number of processes that stand still in the middle of a compaction.
    private static let frozenCompactorCount = 5

    private static func grow(_ attempt: Attempt, count: Int, _ way: Way) async throws {
        let disk = try await SmallDisk(.tmpfs, mebibytes: 512, for: attempt)
        let most = Mutex(0)
        // The sizes of the files when the most was used.
        let contents = Mutex("")
        let sampler = Task {
            while !Task.isCancelled {
                let used = disk.usedByteCount
                let isMore = most.withLock { most in
                    defer { most = max(most, used) }
                    return used > most
                }
                if isMore {
                    let found = attempt.spaceOfFiles
                    contents.withLock { $0 = found }
                }
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        defer { sampler.cancel() }
        var frozen: [ChildProcess] = []
        do {
            var random = SeededRandom(seed: attempt.seed)
            var number: UInt64 = 0
            // Of processes that are slow, some end before they compact: then it takes more of them.
            while number < count
                || way == .frozenCompactors && frozen.count < frozenCompactorCount && number < 10 * count
            {
                number += 1
                if way == .frozenCompactors, number > 24, frozen.count < frozenCompactorCount,
                    let next = try await frozenCompactor(attempt)
                {
                    frozen.append(next)
                }
                try await write(attempt, number, way, &random)
                let used = most.withLock { $0 }
                // A process that stands still in the middle of a compaction keeps its snapshot.
                let bound = (6 + frozen.count) * attempt.log.liveByteCount + 8 << 20
                try expect(
                    used <= bound,
                    "\(number) writers of \(attempt.log.liveByteCount) bytes take at most \(bound), not \(used) "
                        + "in \(contents.withLock { $0 })")
            }
            let used = most.withLock { $0 }
            if way == .frozenCompactors {
                try expect(frozen.count, is: frozenCompactorCount, "processes that compact and stand still")
            }
            for process in frozen { try await attempt.kill(process) }
            say(
                "         \(way.rawValue): \(number) writers of \(attempt.log.liveByteCount) bytes take at most \(used)"
            )
            try await attempt.verifyRecovery()
        } catch {
            for process in frozen { process.signal(.kill) }
            await disk.unmount(attempt)
            throw error
        }
        await disk.unmount(attempt)
    }

    /// Starts a writer that stands still where it has written its snapshot, if it finds so long a log that it waits for a
    /// compaction.
    private static func frozenCompactor(_ attempt: Attempt) async throws -> ChildProcess? {
        let trace = attempt.newPath("trace")
        let stop = Fault(call: "fdatasync", kind: .stop, occurrence: 1)
        let writer = try attempt.start(
            ["notify", "post", "name"], through: ["strace", "-D"] + Fault.arguments(for: [stop], output: trace))
        try await eventually("a writer has ended or stands still") {
            writer.ended != nil || Attempt.text(ofFile: trace).contains("stopped by SIGSTOP")
        }
        guard writer.ended == nil else { return nil }
        return writer
    }

    private static func write(
        _ attempt: Attempt, _ number: UInt64, _ way: Way, _ random: inout SeededRandom
    ) async throws {
        attempt.countFaults()
        switch way {
        case .slowSync, .slowSyncOnDisk:
            let delay = Fault(call: "fdatasync", kind: .delay(40_000), occurrence: nil)
            try await attempt.put(
                "large", number: number, byteCount: 100_000,
                options: ["--durability", way == .slowSync ? "process" : "disk"],
                through: ["strace", "-D"] + Fault.arguments(for: [delay], output: "/dev/null"))
        case .killed:
            try await attempt.put(
                "large", number: number, byteCount: 100_000, options: [],
                killedAfter: .milliseconds(Int.random(in: 10...80, using: &random)))
        case .frozenCompactors:
            try await attempt.put("large\(number % 20)", number: number, byteCount: 100_000, options: [])
        case .frozen:
            if number == 1 { try await attempt.put("key", number: 0) }
            let frozen = try await attempt.frozenWriter()
            let answer = try await attempt.put("key", number: number, options: [])
            try expect(answer.isSuccess, "a frozen writer holds up nobody; \(answer.summary)")
            try await attempt.kill(frozen)
        }
    }
}
