internal import CoreAPITesting
internal import Glibc
internal import Synchronization
internal import TestSupport

/// A group's directory stays within a multiple of its content, however short its writers live and however slow the disk is.
enum GrowthScenario {
    static let scenario = Scenario("growth", weight: 4) { wish in
        Way.allCases.map { way in
            Scenario.Case(way.rawValue, seed: wish.seed) { try await grow($0, putCount: wish.isBrief ? 60 : 320, way) }
        }
    }

    /// What befalls the writers.
    private enum Way: String, CaseIterable, Sendable {
        case slowSync = "slow-sync"
        case slowSyncOnDisk = "slow-sync-on-disk"
        case killed
    }

    private static func grow(_ attempt: Attempt, putCount: Int, _ way: Way) async throws {
        let disk = try await SmallDisk(.tmpfs, mebibytes: 512, for: attempt)
        let bound = 6 * 100_000 + 8 << 20
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
            var random = SplitMix64(seed: attempt.seed)
            let delay = Fault(call: "fdatasync", kind: .delay(40_000), occurrence: nil)
            for number in 1...putCount {
                let killed: Duration? = way == .killed ? .milliseconds(Int.random(in: 10...80, using: &random)) : nil
                let strace = ["strace", "-D"] + delay.arguments(output: "/dev/null")
                try await attempt.put(
                    "large", number: UInt64(number), byteCount: 100_000,
                    options: ["--durability", way == .slowSyncOnDisk ? "disk" : "process"],
                    through: way == .killed ? [] : strace, killedAfter: killed)
                attempt.countFaults()
                let used = most.withLock { $0 }
                try expect(
                    used <= bound,
                    "\(number) puts of one key of 100,000 bytes take at most \(bound) bytes, not \(used): \(attempt.names.count) files"
                )
            }
            try await attempt.verifyRecovery()
        } catch {
            await disk.unmount(attempt)
            throw error
        }
        await disk.unmount(attempt)
    }
}
