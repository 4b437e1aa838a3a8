internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport

/// The changes that rsync, mv, a restore or a careless administrator make to the files of a group in use.
enum ReplacementScenarios {
    static var all: [Scenario] {
        [
            Scenario("replaced", weight: 3) { selection in
                [
                    Scenario.Case("journal-renamed-over", seed: selection.seed) { attempt in
                        try await replace(attempt) { copy, path in
                            try await attempt.tool("mv", copy, path)
                        }
                    },
                    Scenario.Case("journal-truncated", seed: selection.seed) { attempt in
                        try await replace(attempt) { _, path in
                            try await attempt.tool("truncate", "-s", "0", path)
                        }
                    },
                    Scenario.Case("journal-cut", seed: selection.seed) { attempt in
                        try await replace(attempt) { _, path in
                            try await attempt.tool("truncate", "-s", "5000", path)
                        }
                    },
                    Scenario.Case("journal-written-over", seed: selection.seed) { attempt in
                        try await replace(attempt) { copy, path in
                            try await attempt.tool("cp", copy, path)
                        }
                    },
                ]
            },
            Scenario("missing") { selection in
                [
                    Scenario.Case("sessions", seed: selection.seed, withoutSessions),
                    Scenario.Case("group", seed: selection.seed, withoutGroup),
                ]
            },
        ]
    }

    /// A Main and a watcher run; the journal becomes an older one, or a part of itself. Both end in order, by no signal, and a
    /// second Main runs beside the first for no longer than the stated window.
    ///
    /// No case has to recover without a restoration, nor to have the writes since the copy. Those stood only in the
    /// replaced file, which is gone with its last handle, or under the bytes that were written over them.
    private static func replace(
        _ attempt: Attempt, _ change: (_ copy: String, _ path: String) async throws -> Void
    ) async throws {
        try await attempt.put("before", number: 1, byteCount: 20_000)
        let path = try expectSome(attempt.newestJournal, "a journal")
        let copy = attempt.newPath("copy")
        try await attempt.tool("cp", path, copy)
        let backup = attempt.newPath("backup")
        try await attempt.demand("backup", backup)
        let first = try await attempt.own("main")
        let watcher = try attempt.start(["store", "watch"])
        try await attempt.put("after", number: 1, byteCount: 20_000)
        // Other processes write meanwhile. Values that they have written to removed files are lost.
        let writer = try attempt.start(
            [], through: ["sh", "-c", #"for n in $(seq 100); do "$@" store put load $n; done >&2 2>/dev/null"#, "sh"])
        try await eventually("a writer has begun") { writer.ended != nil || attempt.names.count > 1 }
        try await change(copy, path)
        attempt.countFaults()

        // Commands see the files in any state: they may refuse, but no signal may end them.
        for command in [["status"], ["store", "list"], ["store", "put", "more", "x"]] { try await attempt.run(command) }
        let second = try attempt.start(["exclusive", "--role", "main", "--no-wait", "--"] + attempt.witness.command)
        // Also where the first has ended at once: a signal that comes while the second starts would end it as any program.
        try await eventually("the second Main owns or is refused", timeout: .seconds(40)) {
            second.ended != nil || second.lines.contains("owning")
        }
        if second.lines.contains("owning") {
            try await eventually(
                "the first Main has ended after a second one began", timeout: .seconds(Witness.windowSeconds + 10)
            ) { first.ended != nil }
        }
        for process in [first, second, watcher] where process.ended == nil { process.signal(.terminate) }
        for (process, name) in [
            (first, "the first Main"), (second, "the second Main"), (watcher, "the watcher"), (writer, "the writer"),
        ] {
            _ = try await attempt.end(of: process, [name])
        }
        try attempt.witness.verify(withinWindow: true)
        // The group works in its present state, or it is damaged and a backup in its place works.
        if try await !attempt.run(["store", "put", "recovered", "x"]).isSuccess {
            try await attempt.tool("mv", attempt.group, attempt.newPath("damaged"))
            try await attempt.demand("restore", backup)
            try await attempt.demand("store", "put", "recovered", "x")
        }
        // The copy and the backup both have it.
        let before = try await attempt.entries()["before"]
        try expect(before, is: Attempt.value("before", 1, byteCount: 20_000), "what was there before the copy")
        try await attempt.demand("exclusive", "--role", "main", "--", "true")
    }

    /// Without `sessions` the group is damaged, or restored; it is never a new one beside the old.
    private static func withoutSessions(_ attempt: Attempt) async throws {
        try await attempt.put("before", number: 1)
        // The first journal of the group was removed, so that a new group would find the name free.
        var number: UInt64 = 0
        while attempt.names.contains("journal-1"), number < 100 {
            number += 1
            try await attempt.put("large", number: number, byteCount: 100_000)
        }
        try await attempt.tool("rm", attempt.group + "/sessions")
        attempt.countFaults()
        let answer = try await attempt.put("after", number: 1)
        if answer.isSuccess {
            try await attempt.verifyRecovery()
        } else {
            let reading = try await attempt.run(["store", "list", "--json"])
            try expect(!reading.isSuccess, "a group that is damaged is not read as an empty one; \(reading.lines)")
        }
    }

    /// Commands that only read make no group.
    private static func withoutGroup(_ attempt: Attempt) async throws {
        try await attempt.put("before", number: 1)
        let commands = [
            ["status"], ["check"], ["timeline"], ["store", "get", "key"], ["store", "list"],
            ["notify", "state", "name"],
            ["mailbox", "read", "id"],
        ]
        for command in commands {
            try await attempt.run(["--group", "mistyped"] + command)
            let names = TemporaryDirectory.names(in: attempt.groups)
            try expect(names, is: ["default"], "the groups after “\(command.joined(separator: " "))” in a mistyped one")
        }
        attempt.countFaults(commands.count)
    }
}
