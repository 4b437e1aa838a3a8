internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform

/// S10: the room on the disk, and its content.
enum DiskCases {
    static let all = [returnsWhenDurable, endingsSucceed, endingsMakeRoom, heldSpace, failedSyncs]

    static let returnsWhenDurable = ConformanceCase(
        "F-S10a", "a commit that has to survive the loss of power returns when it is on the disk; others see it before"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let peer = try await context.start()
            try await peer.tell("open \(group.address) disk")
            try await peer.tell("arm durability.sync:stop")
            try peer.send("put key new")
            try await peer.stopped()
            try expect(try await store.text("key"), is: "new", "what others see before it is on the disk")
            peer.signal(.continue)
            try await peer.done()
        }
    }

    static let endingsSucceed = ConformanceCase(
        "F-S10b", "endings, releases and take-overs succeed on a full disk, and a newcomer can join for them"
    ) { context in
        try await context.withGroup { group in
            let first = try await context.startOnSmallDisk(at: group.address)
            try await first.tell("open \(group.address)/group")
            let second = try await context.start(beside: first)
            try await second.tell("open \(group.address)/group")
            try await second.tell("hold owner second")
            await second.killNow()
            try await fill(by: first, at: group.address)
            let third = try await context.start(beside: first)
            try await third.tell("open \(group.address)/group")
            try expect(try await third.tell("get owner"), is: "nothing", "what a dead owner held")
            try await third.tell("hold owner third")
            try expect(try await first.tell("get owner"), is: "value third", "the owner after a take-over")
            try await third.tell("delete owner")
            try expect(try await first.tell("get owner"), is: "nothing", "the owner after a release")
            try await third.tell("close")
        }
    }

    static let endingsMakeRoom = ConformanceCase(
        "F-S10c", "on a full disk, a take-over that finds no space makes some by a compaction, again and again"
    ) { context in
        try await context.withGroup { group in
            let peer = try await context.startOnSmallDisk(at: group.address)
            try await peer.tell("open \(group.address)/group")
            try await fill(by: peer, at: group.address)
            // Each is some hundred bytes, so this is several times the space reserved for them at once.
            for round in 0..<4 {
                try await peer.tell("takeOvers owner 1000", timeout: TestTimeout.long)
                try expect(try await peer.tell("get owner"), is: "nothing", "the owner after round \(round)")
            }
            try await peer.tell("hold owner last")
            try expect(try await peer.tell("get owner"), is: "value last", "the last owner")
        }
    }

    static let heldSpace = ConformanceCase(
        "F-S10d", "a journal that was replaced gives its space back, also while an idle process has it open"
    ) { context in
        try await context.withGroup { group in
            let peer = try await context.startOnSmallDisk(at: group.address)
            try await peer.tell("open \(group.address)/group")
            let other = try await context.start(beside: peer, arming: CaseContext.onlyWhenWoken)
            try await other.tell("open \(group.address)/group")
            try await fillStore(by: peer)
            // The other process, which nothing wakes, has the first journal open.
            let spare = "/proc/\(peer.pid)/root\(group.address)/group/spare"
            try await eventually("space is kept for the next compaction", timeout: .seconds(5)) {
                (try? FileStatus(ofPath: spare)) != nil
            }
            try expect(try await other.tell("get full-3000/0") != "nothing", "the other one reads on")
            try await peer.tell("occupy \(group.address)/occupied")
            // More than the space reserved for endings in one journal.
            try await other.tell("takeOvers owner 1000", timeout: TestTimeout.long)
        }
    }

    static let failedSyncs = ConformanceCase(
        "F-S10e", "after a failed sync no process relies on the journal; the group goes on in a new one"
    ) { context in
        try await context.withGroup { group in
            let first = try await context.start()
            try await first.tell("open \(group.address) disk")
            let second = try await context.start()
            try await second.tell("open \(group.address) disk")
            try await first.tell("put key old")
            let before = try journals(of: group.address)
            try await first.tell("arm fdatasync/journal:fail*")
            try first.send("put key new")
            let answer = try await first.answer()
            try expect(answer.hasPrefix("error outcomeUnknown"), "the outcome is unknown, and not: \(answer)")
            try await second.tell("put key newer")
            try expect(try journals(of: group.address) != before, "the next commit is in a journal of its own")
            try expect(try await second.tell("get key"), is: "value newer", "the value")
        }
    }

    private static func journals(of directory: String) throws -> Set<String> {
        Set(try Directory(path: directory).names().filter { $0.hasPrefix("journal-") })
    }

    /// Fills the disk: with entries, as much as the store takes, and with a foreign file. No other process may have the
    /// group open, since it could give space back later.
    private static func fill(by peer: Peer, at path: String) async throws {
        try await fillStore(by: peer)
        try await peer.tell("occupy \(path)/occupied")
        // The rest of the last page of each journal.
        for round in 0..<50 {
            try await fill("tiny-\(round)/", byteCount: 1, by: peer)
            if try await peer.tell("get tiny-\(round)/0") == "nothing" { return }
        }
        try expect(false, "a disk of one MiB gets full")
    }

    /// Puts until the store has no space left.
    private static func fillStore(by peer: Peer) async throws {
        for byteCount in [3000, 1] { try await fill("full-\(byteCount)/", byteCount: byteCount, by: peer) }
    }

    private static func fill(_ prefix: String, byteCount: Int, by peer: Peer) async throws {
        try peer.send("fill \(prefix) 100000 \(byteCount)")
        let refusal = try await peer.answer(timeout: TestTimeout.long)
        try expect(refusal.hasPrefix("error storageFull"), "the disk is full, and not: \(refusal)")
        // A put that finds no space starts a compaction. It is over before this one begins.
        try peer.send("compact")
        _ = try await peer.answer()
    }
}
