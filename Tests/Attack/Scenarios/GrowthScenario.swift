internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Synchronization
internal import TestSupport

/// A group's directory stays within a multiple of its content, however short its writers live and however slow the disk
/// is.
enum GrowthScenario {
    static let scenario = Scenario("growth", weight: 4) { wish in
        Way.allCases.map { way in
            Scenario.Case(way.rawValue, seed: wish.seed) {
                try await grow($0, count: way.count(in: wish.form), way)
            }
        }
    }

    /// What befalls the writers.
    private enum Way: String, CaseIterable, Sendable {
        /// Each sync takes 40 ms, so that a compaction outlasts its writer.
        case slowSync = "slow-sync"
        case slowSyncOnDisk = "slow-sync-on-disk"
        case killed
        /// Each writer stands still inside a commit, so that the next one passes it over.
        case frozen

        func count(in form: Options.Form) -> Int {
            switch form {
            case .brief: 45
            case .timed: self == .frozen ? 120 : 320
            case .whole: self == .killed ? 10_000 : 1000
            }
        }
    }

    private static func grow(_ attempt: Attempt, count: Int, _ way: Way) async throws {
        let disk = try await SmallDisk(.tmpfs, mebibytes: 512, for: attempt)
        let most = Mutex(0)
        let sampler = Task {
            while !Task.isCancelled {
                let used = disk.usedByteCount
                most.withLock { $0 = max($0, used) }
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        defer { sampler.cancel() }
        do {
            var random = SeededRandom(seed: attempt.seed)
            for number in 1...UInt64(count) {
                try await write(attempt, number, way, &random)
                let used = most.withLock { $0 }
                let bound = 6 * attempt.log.liveByteCount + 8 << 20
                try expect(
                    used <= bound,
                    "\(number) writers of \(attempt.log.liveByteCount) bytes take at most \(bound), not \(used) "
                        + "in \(attempt.names.count) files")
            }
            let used = most.withLock { $0 }
            say("         \(way.rawValue): \(count) writers of \(attempt.log.liveByteCount) bytes take at most \(used)")
            try await attempt.verifyRecovery()
        } catch {
            await disk.unmount(attempt)
            throw error
        }
        await disk.unmount(attempt)
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
        case .frozen:
            if number == 1 { try await attempt.put("key", number: 0) }
            let frozen = try await attempt.frozenWriter()
            let answer = try await attempt.put("key", number: number, options: [])
            try expect(answer.isSuccess, "a frozen writer holds up nobody; \(answer.summary)")
            try await attempt.kill(frozen)
        }
    }
}
