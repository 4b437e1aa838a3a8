internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport

/// Each system call that the backend makes on the group's directory fails once, and is once the place of a kill.
///
/// A run without faults counts the calls. Then each one is struck alone, in a group of its own, and once all of a kind
/// together for as long as the program runs.
enum FaultScenarios {
    /// Something that the program does while the faults strike.
    private struct Operation: Sendable {
        let name: String
        /// Its part of the time.
        let weight: Int
        /// Whether the program has to be told what the file system lacks, which a release build cannot be.
        var needsFailPoints = false
        /// What is there before it.
        let prepare: @Sendable (Attempt) async throws -> Void
        /// Does it below strace.
        let run: @Sendable (Attempt, _ strace: [String]) async throws -> Void
        /// How many of its cases are tried in the short form.
        var sampleCount = 6
    }

    static var all: [Scenario] {
        [opening, put, commit, roll, compaction, takeOver, backup, restoration, renaming].map { operation in
            Scenario("faults-\(operation.name)", weight: operation.weight) { wish, look in
                try await cases(of: operation, wish, look)
            }
        }
    }

    private static let opening = Operation(name: "first-opening", weight: 3) { _ in
    } run: { attempt, strace in
        try await attempt.put("faulted", number: 1, through: ["strace", "-D"] + strace, mayBeKilled: true)
    }

    private static let put = Operation(name: "opening", weight: 2) { attempt in
        try await putTwo(attempt)
    } run: { attempt, strace in
        try await attempt.put("faulted", number: 1, through: ["strace", "-D"] + strace, mayBeKilled: true)
    }

    private static let commit = Operation(name: "commit", weight: 1) { attempt in
        try await putTwo(attempt)
    } run: { attempt, strace in
        _ = try await attempt.putLate("faulted", number: 1, byteCount: 20_000, strace: strace, mayBeKilled: true)
    }

    /// The writer before stands still inside its commit, so that the order goes on in a new journal.
    private static let roll = Operation(name: "roll", weight: 2) { attempt in
        try await putTwo(attempt)
    } run: { attempt, strace in
        let frozen = try await attempt.frozenWriter()
        defer { frozen.signal(SIGKILL) }
        try await attempt.put("faulted", number: 1, through: ["strace", "-D"] + strace, mayBeKilled: true)
    }

    /// The log is long, since its writers end before their compactions. A participant that goes on after its commits
    /// compacts.
    private static let compaction = Operation(name: "compaction", weight: 4) { attempt in
        for _ in 1...2 {
            try await attempt.demand("--durability", "disk", "mailbox", "send", "jobs", "1", "--queue")
        }
        let slow = [Fault(call: "fdatasync", kind: .delay(1_000_000), occurrence: nil)]
        for number: UInt64 in 1...13 {
            let answer = try await attempt.put(
                "large", number: number, byteCount: 100_000, options: ["--durability", "process"],
                through: ["strace", "-D"] + Fault.arguments(for: slow, output: "/dev/null"))
            try expect(answer.isSuccess, answer.summary)
        }
    } run: { attempt, strace in
        try await attempt.run(
            ["--durability", "disk", "mailbox", "take", "jobs", "--count", "3", "--timeout", "1s"],
            through: ["strace", "-D"] + strace, mayBeKilled: true)
    }

    private static let takeOver = Operation(name: "take-over", weight: 3) { attempt in
        try await putTwo(attempt)
        let owner = try await attempt.own("executor")
        try await attempt.kill(owner)
    } run: { attempt, strace in
        try await attempt.run(
            ["--durability", "disk", "exclusive", "--role", "main", "--", "true"], through: ["strace", "-D"] + strace,
            mayBeKilled: true)
    }

    /// What was written counts only as a whole.
    private static let backup = Operation(name: "backup", weight: 2) { attempt in
        try await putTwo(attempt)
    } run: { attempt, strace in
        let answer = try await attempt.run(
            ["backup", "\(attempt.directory)/copy"], through: ["strace", "-D"] + strace, mayBeKilled: true)
        if answer.isSuccess { try await attempt.demand("salvage", "\(attempt.directory)/copy") }
    }

    /// The group differs from its backup in a changed, a new and a deleted key. Afterwards it is all of the one or all
    /// of the other, and the backup where that was acknowledged.
    private static let restoration = Operation(name: "restoration", weight: 2) { attempt in
        try await putTwo(attempt)
    } run: { attempt, strace in
        try await attempt.demand("backup", "\(attempt.directory)/copy")
        let old = try attempt.log.copy(path: attempt.newPath("old-log"))
        let changes = [
            try await attempt.put("before1", number: 3), try await attempt.put("after", number: 1),
            try await attempt.delete("before2"),
        ]
        for change in changes { try expect(change.isSuccess, change.summary) }
        let answer = try await attempt.run(
            ["restore", "\(attempt.directory)/copy"], through: ["strace", "-D"] + strace, mayBeKilled: true)
        let found = try await attempt.entries()
        if answer.isSuccess || (try? attempt.log.verify(found)) == nil { attempt.log.adopt(old) }
        try attempt.log.verify(found)
    }

    /// A first opening where each new file needs a name, and is renamed when it is whole.
    private static let renaming = Operation(name: "renaming", weight: 2, needsFailPoints: true) { _ in
    } run: { attempt, strace in
        try await attempt.put(
            "faulted", number: 1,
            through: ["env", "SHAREDCORE_FAIL_POINT=openat(O_TMPFILE):fail=95*", "strace", "-D"] + strace,
            mayBeKilled: true)
    }

    private static func putTwo(_ attempt: Attempt) async throws {
        for number: UInt64 in 1...2 {
            let answer = try await attempt.put("before\(number)", number: number)
            try expect(answer.isSuccess, answer.summary)
        }
    }

    private static func cases(
        of operation: Operation, _ wish: Scenario.Wish, _ look: Attempt
    ) async throws -> [Scenario.Case] {
        let hasFailPoints = try await hasFailPoints(look)
        guard hasFailPoints || !operation.needsFailPoints else {
            return [
                Scenario.Case("unnamed-files", seed: wish.seed) { _ in
                    throw HarnessLimitation("a release build has no fail points")
                }
            ]
        }
        try await operation.prepare(look)
        let template = look.newPath("template")
        try Attempt.makeDirectory(template)
        if !look.names.isEmpty { try await look.tool("cp", "-a", look.group, template) }
        let known = try look.log.copy(path: look.newPath("template-log"))

        let trace = look.newPath("trace")
        try await operation.run(look, SystemCalls.arguments(output: trace))
        let calls = SystemCalls(trace: trace, group: look.group)
        try expect(!calls.places.isEmpty, "strace sees the calls of the program")
        let counts = Dictionary(grouping: calls.places, by: \.call).map { "\($0.key) \($0.value.count)" }.sorted()
        say(
            "         \(operation.name): \(calls.count) calls at \(calls.places.count) places: \(counts.joined(separator: ", "))"
        )

        var shorts: [[Fault]] = []
        var limited: [Scenario.Case] = []
        if hasFailPoints {
            shorts = shortWrites(calls.counts["pwrite64"] ?? 0, operation)
        } else {
            limited.append(
                Scenario.Case("short-writes", seed: wish.seed) { _ in
                    throw HarnessLimitation("a release build has no fail points")
                })
        }
        return limited
            + plans(calls, shorts, operation, wish).map { faults in
                Scenario.Case(faults.map(\.description).joined(separator: "+"), seed: wish.seed) { attempt in
                    if !TemporaryDirectory.names(in: template).isEmpty {
                        try await attempt.tool("cp", "-a", template + "/default", attempt.groups)
                    }
                    attempt.log.adopt(known)
                    let trace = attempt.newPath("trace")
                    try await operation.run(attempt, Fault.arguments(for: faults, output: trace, group: attempt.group))
                    attempt.countFaults(Fault.injectedCount(of: faults, trace: trace))
                    try await attempt.verifyRecovery()
                }
            }
    }

    /// Whether the program can be told to make short calls: it ends at its first write when it can.
    private static func hasFailPoints(_ look: Attempt) async throws -> Bool {
        let answer = try await look.run(
            ["--group", "probe", "store", "put", "never", "put"],
            through: ["env", "SHAREDCORE_FAIL_POINT=pwrite:exit=97"])
        return answer.end == .exited(97)
    }

    /// Each write takes a part of its bytes once, and once the disk is full behind that part.
    private static func shortWrites(_ count: Int, _ operation: Operation) -> [[Fault]] {
        // Its program runs before the faults begin.
        guard operation.name != commit.name, count > 0 else { return [] }
        return (1...count).flatMap { number in
            [false, true].map {
                [Fault(call: "pwrite64", kind: .short(isFull: $0), occurrence: number)]
            }
        }
    }

    /// Each place with each error and a kill, all calls of a kind together, pairs of the last places, and what is
    /// given.
    private static func plans(
        _ calls: SystemCalls, _ others: [[Fault]], _ operation: Operation, _ wish: Scenario.Wish
    ) -> [[Fault]] {
        var plans = others
        let places = calls.places
        for place in places {
            for kind in Fault.errors(of: place.call).map(Fault.Kind.error) + [.kill] {
                plans.append([Fault(call: place.call, kind: kind, occurrence: place.occurrence)])
            }
        }
        for call in Set(places.map(\.call)).sorted() {
            plans += Fault.lastingErrors(of: call).map { [Fault(call: call, kind: .error($0), occurrence: nil)] }
        }
        var pairs = Self.pairs(of: places.filter { !SystemCalls.general.contains($0.call) }.suffix(20))
        pairs += Self.pairs(of: calls.namedPlaces.suffix(20)).filter { pair in
            pair.contains { SystemCalls.general.contains($0.call) }
        }
        var random = SeededRandom(seed: wish.seed)
        if !wish.isSingle, wish.form != .whole { pairs = Array(pairs.shuffled(using: &random).prefix(20)) }
        plans += pairs
        // In another order each time, so that what there is no time for is not always the same.
        plans.shuffle(using: &random)
        return wish.isBrief ? Array(plans.prefix(operation.sampleCount)) : plans
    }

    private static func pairs(of places: some Sequence<SystemCalls.Place>) -> [[Fault]] {
        let faults = places.map {
            Fault(call: $0.call, kind: .error(Fault.errors(of: $0.call)[0]), occurrence: $0.occurrence)
        }
        return faults.indices.flatMap { first in faults[(first + 1)...].map { [faults[first], $0] } }
    }
}
