internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport

/// Limits of the process, of the user and of the file system, and arguments that are no text.
enum SurroundingScenarios {
    static var all: [Scenario] {
        [
            Scenario("descriptors") { selection in
                stride(from: 12, through: 40, by: selection.isBrief ? 6 : 1).map { limit in
                    Scenario.Case("\(limit)", seed: selection.seed) { try await descriptors($0, limit) }
                }
            },
            Scenario("surroundings") { selection in
                [
                    Scenario.Case("bytes", seed: selection.seed, bytes),
                    Scenario.Case("no-exclusive-rename", seed: selection.seed, withoutExclusiveRename),
                ]
                    + ["watches", "instances"].flatMap { limit in
                        [
                            Scenario.Case("post-without-\(limit)", seed: selection.seed) {
                                try await post($0, without: limit)
                            },
                            Scenario.Case("mail-without-\(limit)", seed: selection.seed) {
                                try await mail($0, without: limit)
                            },
                        ]
                    }
            },
        ]
    }

    private static func shell(_ script: String, _ arguments: String...) -> [String] {
        ["sh", "-c", script + #"; exec "$@""#, "sh"] + arguments
    }

    /// With few descriptors a command works or reports that it cannot.
    private static func descriptors(_ attempt: Attempt, _ limit: Int) async throws {
        try await attempt.put("before", number: 1)
        let limited = shell("ulimit -n \(limit)")
        for command in [
            ["store", "list"], ["store", "watch", "--count", "0"], ["status"],
            ["exclusive", "--role", "main", "--", "true"],
        ] {
            try await attempt.run(command, through: limited)
            attempt.countFaults()
        }
        try await attempt.put("during", number: 2, through: limited)
        try await attempt.verifyRecovery()
    }

    /// Two keys that are no UTF-8 are refused, or two; a value is any bytes.
    private static func bytes(_ attempt: Attempt) async throws {
        func run(_ words: String) async throws -> Attempt.Answer {
            try await attempt.run([], through: ["sh", "-c", #"exec "$@" "# + words, "sh"])
        }
        let first = try await run(#"store put "$(printf 'k\377')" one"#)
        let second = try await run(#"store put "$(printf 'k\376')" two"#)
        let read = try await attempt.run([], through: ["sh", "-c", #""$@" store get "$(printf 'k\377')"; echo"#, "sh"])
        try expect(
            !first.isSuccess && !second.isSuccess || read.lines == ["one"],
            "a key that is no text is refused, or its value is there; found \(read.lines)")
        let value = try await run(#"store put value "$(printf 'v\377w')""#)
        if value.isSuccess {
            let program = attempt.newPath("value")
            _ = try await run(#"store get value >\#(program)"#)
            let bytes = Attempt.text(ofFile: program)
            try expect(bytes.utf8.count < 6 && bytes.hasPrefix("v"), "the bytes of a value are kept")
        }
        attempt.countFaults(3)
        try await attempt.demand("status")
        try await attempt.demand("exclusive", "--role", "main", "--", "true")
    }

    /// The command that runs a program that can watch no file: a limit of inotify for its user is 0.
    private static func unwatched(_ limit: String) -> [String] {
        ["unshare", "--user", "--map-root-user"] + shell("echo 0 >/proc/sys/user/max_inotify_\(limit) || exit 99")
    }

    /// If no file can be watched, the Maildir's core fetches mail all the same.
    private static func mail(_ attempt: Attempt, without limit: String) async throws {
        try await attempt.put("before", number: 1)
        let maildir = attempt.group + "/Maildir"
        for folder in ["", "/new", "/cur", "/tmp"] { try Attempt.makeDirectory(maildir + folder) }
        // Closed at once: a file that a process has open for writing counts as unfinished.
        try OpenFile(path: maildir + "/new/1.attack", .createNew).write(
            Array("From: Ann <ann@example.org>\r\nCall-ID: c1\r\n\r\nHello\r\n".utf8), at: 0)
        let answer = try await attempt.run(
            ["executor", "--call-id", "c1", "--timeout", "10s"], through: unwatched(limit))
        if answer.end == .exited(99) { throw HarnessLimitation("the limits of inotify cannot be set here") }
        attempt.countFaults()
        try expect(answer.isSuccess, "the message is fetched; \(answer.summary)")
        // Without the core's own entries, which no put of the attack has made.
        try await attempt.demand("status")
        try await attempt.demand("exclusive", "--role", "main", "--", "true")
    }

    /// If no file can be watched, a post still wakes its observer.
    private static func post(_ attempt: Attempt, without limit: String) async throws {
        try await attempt.put("before", number: 1)
        let observer = try attempt.start(
            ["notify", "observe", "news", "--count", "1", "--timeout", "30s"], through: unwatched(limit))
        try await eventually("the observer's post") {
            if observer.ended == nil { try await attempt.run(["notify", "post", "news"]) }
            return observer.ended != nil
        }
        let answer = try await attempt.end(of: observer, ["notify", "observe"])
        if answer.end == .exited(99) { throw HarnessLimitation("the limits of inotify cannot be set here") }
        try expect(answer.isSuccess, "the observer is woken; \(answer.summary)")
        attempt.countFaults()
        try await attempt.verifyRecovery()
    }

    /// A file system without RENAME_NOREPLACE works, or the error names it and the missing feature.
    private static func withoutExclusiveRename(_ attempt: Attempt) async throws {
        let fault = Fault(call: "renameat2", kind: .error("EINVAL"), occurrence: nil)
        let answer = try await attempt.put(
            "first", number: 1,
            through: ["strace", "-D"] + Fault.arguments(for: [fault], output: attempt.newPath("trace")))
        attempt.countFaults()
        try expect(
            answer.isSuccess || answer.errors.contains("RENAME_NOREPLACE"),
            "a file system that lacks a call is told of; \(answer.summary)")
        try await attempt.verifyRecovery()
    }
}
