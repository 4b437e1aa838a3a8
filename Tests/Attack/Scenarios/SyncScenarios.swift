internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport

/// No write counts as stored before the disk has confirmed it. No write after a failed sync depends on data that may be
/// lost.
enum SyncScenarios {
    static var all: [Scenario] {
        [
            Scenario("sync") { selection in
                [
                    Scenario.Case("refused", seed: selection.seed, refused),
                    Scenario.Case("retried", seed: selection.seed, retried),
                    Scenario.Case("lost", seed: selection.seed, lost),
                    Scenario.Case("slow", seed: selection.seed, slow),
                ]
            }
        ]
    }

    /// The arguments of strace with which no content reaches the disk.
    private static func unsynced(_ attempt: Attempt) -> [String] {
        Fault.arguments(
            for: [Fault(call: "fdatasync", kind: .error("EIO"), occurrence: nil)], output: attempt.newPath("trace"))
    }

    /// A guard that the caller's own unconfirmed write made fail is no confirmation: the retry must not be told “no”.
    private static func refused(_ attempt: Attempt) async throws {
        try await attempt.put("before", number: 1)
        // The second participant has the group open before the disk fails, as the collector that tries again.
        let second = try await attempt.putLate(
            "mail", number: 2, options: ["--if-absent"], strace: unsynced(attempt)
        ) {
            let first = try await attempt.putLate("mail", number: 1, byteCount: 20_000, strace: unsynced(attempt))
            try expect(!first.isSuccess, "a put that the disk did not confirm is not acknowledged")
        }
        attempt.countFaults(2)
        try expect(second.end != .exited(1), "a refusal rests on what the disk has confirmed; \(second.summary)")
        try expect(!second.isSuccess, "a put that the disk did not confirm is not acknowledged")
        try await attempt.verifyRecovery()
    }

    /// While every sync of content fails, no process acknowledges anything, and it works once they succeed.
    private static func retried(_ attempt: Attempt) async throws {
        try await attempt.put("before", number: 1)
        for number: UInt64 in 1...10 {
            let answer = try await attempt.put("mail", number: number, through: ["strace", "-D"] + unsynced(attempt))
            attempt.countFaults()
            try expect(!answer.isSuccess, "a put that the disk did not confirm is not acknowledged")
        }
        try await attempt.verifyRecovery()
    }

    /// The kernel marks pages with a failed write as clean: without power they are as they were before. A commit that
    /// another process has acknowledged after that must be there all the same.
    private static func lost(_ attempt: Attempt) async throws {
        let reboot = try NamespaceScenarios.otherBoot(attempt)
        try await attempt.put("before", number: 1)
        let path = try expectSome(attempt.newestJournal, "a journal")
        let journal = try OpenFile(path: path, .read)
        let synced = try journal.read(count: 4 << 20, at: 0)
        let answer = try await attempt.putLate(
            "doubtful", number: 1, byteCount: 50_000,
            strace: unsynced(attempt))
        attempt.countFaults()
        try expect(!answer.isSuccess, "a put that the disk did not confirm is not acknowledged")
        let failed = try journal.read(count: 4 << 20, at: 0)
        let later = try await attempt.put("later", number: 1)
        try expect(later.isSuccess, "the group goes on; \(later.summary)")

        // The loss of power: pages that nothing has made dirty since are those of the last sync that succeeded.
        // A group that was written anew has given the file up.
        if let now = try? OpenFile(path: path, .write), try now.status().identity == journal.status().identity {
            let last = try now.read(count: 4 << 20, at: 0)
            for start in stride(from: 0, to: last.count, by: 4096) {
                let page = start..<min(start + 4096, last.count)
                guard page.upperBound <= failed.count, last[page] == failed[page] else { continue }
                let old =
                    page.upperBound <= synced.count ? Array(synced[page]) : [UInt8](repeating: 0, count: page.count)
                if old != Array(last[page]) { try now.write(old, at: start) }
            }
        }
        try await attempt.verify(through: reboot)
        try await attempt.demand("store", "put", "recovered", "x", through: reboot)
        try await attempt.demand("exclusive", "--role", "main", "--", "true", through: reboot)
    }

    /// A slow sync delays its own caller, and no call that does not ask for the disk.
    ///
    /// This sync outlasts the attack, so the calls that wait for it do not end. No command takes its writer for a
    /// stopped one, which would show as a further journal.
    private static func slow(_ attempt: Attempt) async throws {
        try await attempt.put("before", number: 1)
        let owner = try await attempt.own("executor")
        let trace = attempt.newPath("trace")
        let delay = Fault(call: "fdatasync", kind: .delay(1_000_000_000), occurrence: nil)
        let slow = try attempt.start(
            ["--durability", "disk", "notify", "post", "name"],
            through: ["strace", "-D"] + Fault.arguments(for: [delay], output: trace))
        attempt.countFaults()
        try await eventually("the sync has begun") { Attempt.text(ofFile: trace).contains("fdatasync(") }
        let journal = attempt.newestJournal
        func demandGoingOn(_ what: String) throws {
            try expect(slow.ended == nil, "the sync goes on after \(what)")
            try expect(attempt.newestJournal, is: journal, "the journal after \(what)")
        }
        let answer = try await attempt.put("during", number: 1, options: ["--durability", "process"])
        try expect(answer.isSuccess, "a commit that does not ask for the disk; \(answer.summary)")
        try demandGoingOn("a commit")
        try await attempt.demand("exclusive", "--role", "main", "--", "true")
        try demandGoingOn("a hand-over")
        // The next participant records the end of the owner's session.
        if owner.ended == nil { try await attempt.kill(owner) }
        try await attempt.demand("status")
        try demandGoingOn("the end of a participant")
        // A deadline of the user's (C7) does not wait for the disk either.
        let late = try await attempt.run(["executor", "--call-id", "never", "--timeout", "1s"])
        try expect(!late.isSuccess, "there is no such message")
        try demandGoingOn("a deadline")
        // strace lets a call that it delays end no sooner, not even by a kill, so it is ended as well.
        let status = Attempt.text(ofFile: "/proc/\(slow.pid)/status").split(separator: "\n")
        let tracer = status.first { $0.hasPrefix("TracerPid:") }?.split(separator: "\t").last.flatMap { Int32($0) }
        slow.signal(.kill)
        if let tracer, tracer > 0 { kill(tracer, SIGKILL) }
        _ = try await attempt.end(of: slow, ["notify", "post"], mayBeKilled: true)
        try await attempt.verifyRecovery()
    }
}
