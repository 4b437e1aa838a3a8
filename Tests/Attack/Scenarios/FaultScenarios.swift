internal import CoreAPITesting
internal import Glibc
internal import TestSupport

/// Each system call that the backend makes on the group's directory fails once, and is once the place of a kill.
///
/// A run without faults counts the calls. Then each one is struck alone, in a group of its own, and once all of a kind together
/// for as long as the program runs.
enum FaultScenarios {
    /// Something that the program does while the faults strike.
    private struct Operation: Sendable {
        let name: String
        /// What is there before it.
        let prepare: @Sendable (Attempt) async throws -> Void
        /// Does it below strace.
        let run: @Sendable (Attempt, _ strace: [String]) async throws -> Void
        /// One case of so many is tried in the short form.
        var sampling = 12
    }

    static var all: [Scenario] {
        [opening, put, commit, compaction, takeOver].map { operation in
            Scenario("faults-\(operation.name)", weight: operation.name == "compaction" ? 3 : 2) { wish, look in
                try await cases(of: operation, wish, look)
            }
        }
    }

    private static let opening = Operation(name: "first-opening") { _ in
    } run: { attempt, strace in
        try await attempt.put("faulted", number: 1, through: ["strace", "-D"] + strace, mayBeKilled: true)
    }

    private static let put = Operation(name: "opening") { attempt in
        try await putTwo(attempt)
    } run: { attempt, strace in
        try await attempt.put("faulted", number: 1, through: ["strace", "-D"] + strace, mayBeKilled: true)
    }

    private static let commit = Operation(name: "commit") { attempt in
        try await putTwo(attempt)
    } run: { attempt, strace in
        _ = try await attempt.putLate("faulted", number: 1, byteCount: 20_000, strace: strace, mayBeKilled: true)
    }

    /// The log is long, so that whoever commits next compacts.
    private static let compaction = Operation(name: "compaction") { attempt in
        for number in 1...12 { try await attempt.put("large", number: UInt64(number), byteCount: 100_000) }
    } run: { attempt, strace in
        try await attempt.run(
            ["--durability", "disk", "exclusive", "--role", "executor", "--", "sleep", "0.5"],
            through: ["strace", "-D"] + strace, mayBeKilled: true)
    }

    private static let takeOver = Operation(name: "take-over") { attempt in
        try await putTwo(attempt)
        let owner = try await attempt.own("executor")
        try await attempt.kill(owner)
    } run: { attempt, strace in
        try await attempt.run(
            ["--durability", "disk", "exclusive", "--role", "main", "--", "true"], through: ["strace", "-D"] + strace,
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
        try await look.tool("strace", "--version")
        try await operation.prepare(look)
        let template = look.newPath("template")
        try Attempt.makeDirectory(template)
        if !look.names.isEmpty { try await look.tool("cp", "-a", look.group, template) }
        let known = try AcknowledgementLog(path: look.newPath("template-log"))
        known.adopt(look.log)

        let trace = look.newPath("trace")
        try await operation.run(look, SystemCalls.arguments(output: trace, calls: SystemCalls.watched))
        let calls = SystemCalls(trace: trace, group: look.groups)
        let counts = Dictionary(grouping: calls.places, by: \.call).map { "\($0.key) \($0.value.count)" }.sorted()
        print(
            "         \(operation.name): \(calls.count) calls at \(calls.places.count) places: \(counts.joined(separator: ", "))"
        )

        var faults: [Fault] = []
        for place in calls.places {
            for error in Fault.errors(of: place.call) {
                faults.append(Fault(call: place.call, kind: .error(error), occurrence: place.occurrence))
            }
            faults.append(Fault(call: place.call, kind: .kill, occurrence: place.occurrence))
        }
        for call in Set(calls.places.map(\.call)).sorted() where call != "openat" && call != "mmap" {
            faults += Fault.errors(of: call).map { Fault(call: call, kind: .error($0), occurrence: nil) }
        }
        if wish.isBrief {
            faults = faults.enumerated().filter { ($0.offset + Int(wish.seed % 12)) % operation.sampling == 0 }.map(
                \.element)
        }
        return faults.map { fault in
            Scenario.Case(fault.description, seed: wish.seed) { attempt in
                if !TemporaryDirectory.names(in: template).isEmpty {
                    try await attempt.tool("cp", "-a", template + "/default", attempt.groups)
                }
                attempt.log.adopt(known)
                let trace = attempt.newPath("trace")
                try await operation.run(attempt, fault.arguments(output: trace))
                attempt.countFaults(SystemCalls.injectedCount(trace: trace))
                try await attempt.verifyRecovery()
            }
        }
    }
}
