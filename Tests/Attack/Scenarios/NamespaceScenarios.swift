internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport

/// Participants in containers: other boot ids, other clocks, other process numbers.
enum NamespaceScenarios {
    static var all: [Scenario] {
        [
            Scenario("namespaces", weight: 2) { selection in
                [
                    Scenario.Case("boot-id", seed: selection.seed, twoBoots),
                    Scenario.Case("boot-clock", seed: selection.seed, twoClocks),
                    Scenario.Case("process-numbers", seed: selection.seed, twoNumberings),
                ]
            }
        ]
    }

    /// The command that runs a program with another boot id, as after a start of the machine or in some containers.
    static func otherBoot(_ attempt: Attempt) throws -> [String] {
        let path = attempt.newPath("boot-id")
        guard let file = fopen(path, "w") else { throw FileProblem(path: path, code: errno) }
        fputs("01234567-89ab-4def-8123-456789abcdef\n", file)
        fclose(file)
        let script = #"mount --bind "$0" /proc/sys/kernel/random/boot_id || exit 99; exec "$@""#
        return ["unshare", "--mount", "sh", "-c", script, path]
    }

    /// Two boot ids alive on one directory: one of them is refused, or both are one group.
    private static func twoBoots(_ attempt: Attempt) async throws {
        let other = try otherBoot(attempt)
        try await attempt.put("before", number: 1)
        let main = try await attempt.own("main")
        // Each opens the group in turn, and both hold it open together.
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for (key, prefix) in [("here", []), ("there", other)] {
                tasks.addTask {
                    for number: UInt64 in 1...20 {
                        let answer = try await attempt.put(key, number: number, through: prefix)
                        if answer.end == .exited(99) { throw HarnessLimitation("the boot id cannot be replaced here") }
                    }
                }
            }
            try await tasks.waitForAll()
        }
        attempt.countFaults(20)
        try await attempt.verify()
        let second = try await attempt.run(["exclusive", "--role", "main", "--no-wait", "--", "true"], through: other)
        try expect(!second.isSuccess, "a second Main is refused while the first one runs")
        try expect(main.ended == nil, "the first Main runs on")
        try await attempt.kill(main)
        try await attempt.verifyRecovery()
    }

    /// Another boot clock ends no live session and lets no entry expire.
    private static func twoClocks(_ attempt: Attempt) async throws {
        let other = ["unshare", "--time", "--boottime", "1000000", "--monotonic", "1000000"]
        guard (try? await attempt.tool("unshare", "--time", "--boottime", "1000", "true")) != nil else {
            throw HarnessLimitation("there are no time namespaces here")
        }
        let main = try await attempt.own("main")
        let answer = try await attempt.put("lasting", number: 1, options: ["--ttl", "10m"])
        try expect(answer.isSuccess, answer.summary)
        for _ in 1...3 { try await attempt.run(["status"], through: other) }
        let second = try await attempt.run(["exclusive", "--role", "main", "--no-wait", "--", "true"], through: other)
        attempt.countFaults(4)
        try expect(!second.isSuccess, "a second Main is refused while the first one runs")
        try expect(main.ended == nil, "the first Main runs on")
        try await attempt.verify()
        try await attempt.kill(main)
        try await attempt.verifyRecovery()
    }

    /// A frozen owner has number 2 in its namespace of process numbers. A Main in another namespace does not kill number 2 of its
    /// own, which began in the same tick of the clock.
    private static func twoNumberings(_ attempt: Attempt) async throws {
        let inside = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        guard (try? await attempt.tool("unshare", "--pid", "--fork", "--mount-proc", "true")) != nil else {
            throw HarnessLimitation("there are no namespaces of process numbers here")
        }
        try await attempt.put("before", number: 1)
        let begin = #"until [ -e "$0/go" ]; do :; done; "#
        let note = #"cut -d" " -f22 /proc/2/stat >"$0/"#
        for _ in 1...40 {
            let place = attempt.newPath("pair")
            try Attempt.makeDirectory(place)
            let freeze = #"; until [ -e "$0/owns" ]; do sleep 0.02; done; kill -STOP 2; echo frozen; wait"#
            let owner = try attempt.start(
                ["exclusive", "--role", "executor", "--"] + attempt.witness.command,
                through: inside + ["sh", "-c", begin + #""$@" & "# + note + #"owner""# + freeze, place])
            let visit =
                #"; until [ -e "$0/frozen" ]; do sleep 0.02; done; "$@"; echo ended; kill -0 2 && echo survived"#
            let stranger = try attempt.start(
                ["exclusive", "--role", "main", "--", "true"],
                through: inside + ["sh", "-c", begin + #"sleep 1000 & "# + note + #"stranger""# + visit, place])
            defer { for process in [owner, stranger] { process.signal(.kill) } }
            // Both processes are at the gate by then. If not, the round shows that and is repeated.
            try await Task.sleep(for: .milliseconds(100))
            try await attempt.tool("touch", place + "/go")
            let starts = ["owner", "stranger"].map { name in { Attempt.text(ofFile: "\(place)/\(name)") } }
            try await eventually("both have begun") { starts.allSatisfy { !$0().isEmpty } }
            guard starts[0]() == starts[1]() else { continue }
            try await eventually("the executor owns") { owner.lines.contains("owning") || owner.ended != nil }
            try await attempt.tool("touch", place + "/owns")
            try await eventually("the executor is frozen") { owner.lines.contains("frozen") || owner.ended != nil }
            try await attempt.tool("touch", place + "/frozen")
            try await eventually("the other namespace's Main is done") { stranger.ended != nil }
            attempt.countFaults()
            try expect(stranger.lines.contains("ended"), "the other namespace's Main ends in order")
            try expect(stranger.lines.contains("survived"), "a process of another namespace is not killed")
            try await attempt.kill(owner)
            return try await attempt.verifyRecovery()
        }
        throw HarnessLimitation("no two processes began in the same tick of the clock")
    }
}
