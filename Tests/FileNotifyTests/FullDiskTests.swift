internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import TestSupport
internal import Testing

/// The group lies in a small file system in memory, which only the peers see: the first one's own mount namespace.
@Suite("A full disk", .timeLimit(.minutes(5)))
struct FullDiskTests {
    private static let isRoot = geteuid() == 0

    /// A peer in a mount namespace of its own, in which `path` is a file system of one MiB unless said otherwise.
    private func firstPeer(at path: String, size: String = "1m") async throws -> PeerProcess {
        let script = "mount -t tmpfs -o size=\(size),mode=700 none '\(path)' && exec \"$0\""
        let unshare = Self.isRoot ? ["unshare", "--mount"] : ["unshare", "--user", "--map-root-user", "--mount"]
        return try await PeerProcess.joining(path + "/group", through: unshare + ["sh", "-c", script])
    }

    /// A peer beside the first one.
    private func peer(beside first: PeerProcess, at path: String) async throws -> PeerProcess {
        var enter = ["nsenter", "--target", "\(first.pid)", "--mount"]
        if !Self.isRoot { enter += ["--user", "--preserve-credentials"] }
        return try await PeerProcess.joining(path + "/group", through: enter)
    }

    @Test("S10: on a full disk a put is refused as such, what stood there stands, and it works again with space")
    func refusesAndRecovers() async throws {
        let directory = try TemporaryDirectory()
        let peer = try await firstPeer(at: directory.path)
        try await peer.tell("put key old")
        let refusal = try await peer.tell("fillUp 3000").split(separator: " ")
        #expect(refusal.first == "storageFull")
        let count = try #require(refusal.last.flatMap { Int($0) })
        #expect(count > 50)
        #expect(try await peer.tell("get key") == "value old")
        // More than a compaction could make room for.
        let new = String(repeating: "n", count: 200_000)
        try peer.send("put key \(new)")
        #expect(try await peer.answer().hasPrefix("error storageFull"))
        #expect(try await peer.tell("get key") == "value old")

        try await peer.tell("clear full")
        #expect(try await peer.tell("compact") == "true")
        try await peer.tell("put key \(new)")
        #expect(try await peer.tell("get key") == "value \(new)")
    }

    @Test("S10: endings, releases and take-overs go on succeeding on a full disk, for as long as anybody likes")
    func endingsSucceedForEver() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path)
        let second = try await peer(beside: first, at: directory.path)
        #expect(try await first.tell("fillUp 3000").hasPrefix("storageFull"))
        #expect(try await first.tell("fillUp 1").hasPrefix("storageFull"), "down to the last byte")
        // Each round is a few hundred bytes, so this is many times what is kept for them at once.
        for round in 0..<15 {
            #expect(try await first.tell("fillUp 3000").hasPrefix("storageFull"), "what was freed is taken again")
            try await second.tell("takeOvers owner 100")
            try await first.tell("takeOvers owner 100")
            let guest = try await peer(beside: first, at: directory.path)
            try await guest.tell("hold owner guest\(round)")
            if round % 2 == 0 { guest.killNow() } else { try await guest.tell("close") }
            #expect(try await first.tell("sessions").split(separator: " ").count == 2)
            #expect(try await second.tell("get owner") == "nothing")
        }
        #expect(try await first.tell("fillUp 3000").hasPrefix("storageFull"), "the disk is full still")
    }

    @Test("S10: the space for a compaction grows with the store, so what is deleted on a full disk comes back")
    func compactionOfALargeStore() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "6m")
        // Much more than what is kept at first.
        try await first.tell("fill kept/ 300 3000")
        #expect(try await first.tell("fillUp 3000").hasPrefix("storageFull"))
        #expect(try await first.tell("compact") == "true", "with all of it in place")
        try await first.tell("clear full")
        #expect(try await first.tell("compact") == "true")
        #expect(try await first.tell("compact") == "true", "the space for the next one is there again")
        try await first.tell("fill again/ 100 3000")
        #expect(try await first.tell("get kept/299") != "nothing")
    }

    /// What a file system takes of its disk, files included that have no name any more.
    private func usedByteCount(at path: String, in peer: PeerProcess) -> Int {
        var status = statvfs()
        guard statvfs("/proc/\(peer.pid)/root\(path)", &status) == 0 else { return 0 }
        return Int(status.f_blocks - status.f_bfree) * Int(status.f_frsize)
    }

    @Test("S10: a directory takes at most six times its content and 8 MiB, however short its writers live")
    func boundedSize() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "64m")
        let bystander = try await peer(beside: first, at: directory.path)
        bystander.signal(SIGSTOP)
        let isOver = Box(false)
        let sampler = Task.detached {
            var most = 0
            while !isOver.value {
                most = max(most, self.usedByteCount(at: directory.path, in: first))
                try await Task.sleep(for: .milliseconds(1))
            }
            return most
        }
        for number in 0..<120 {
            let writer = try await peer(beside: first, at: directory.path)
            try await writer.tell("fillOne key 100000")
            if number % 3 == 0 { try await writer.tell("close") }
            writer.killNow()
        }
        for _ in 0..<20 {
            let frozen = try await peer(beside: first, at: directory.path)
            try await frozen.tell("arm commit.afterLock:stop")
            try frozen.send("put other value")
            try await frozen.stopped()
            try await first.tell("put other value")
            frozen.killNow()
        }
        isOver.update { $0 = true }
        let most = try await sampler.value
        #expect(most > 100_000)
        #expect(most <= 6 * 100_000 + (8 << 20))
        bystander.signal(SIGCONT)
        #expect(try await bystander.tell("get other") == "value value")
        #expect(try await bystander.tell("get key").utf8.count > 100_000)
    }

    @Test(
        "S10: processes that end behind their compactions, before old journals are removed, leave one of them at most")
    func interruptedRemovals() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        for _ in 0..<5 {
            let writer = try await PeerProcess.joining(path, failPoint: "compaction.afterFloor:kill")
            try await writer.tell("put key value")
            try writer.send("compact")
            try await writer.ended()
            #expect(try groupNames(in: directory).count { $0.hasPrefix("journal-") } <= 2)
        }
        let reader = try await PeerProcess.joining(path)
        #expect(try await reader.tell("get key") == "value value")
    }

    @Test("S10: on a full disk, a compaction whose process ended in the middle is finished by the next one")
    func interruptedCompaction() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "3m")
        try await first.tell("fill kept/ 100 3000")
        #expect(try await first.tell("fillUp 3000").hasPrefix("storageFull"))
        let second = try await peer(beside: first, at: directory.path)
        try await second.tell("arm compaction.beforeFloor:kill")
        try second.send("compact")
        try await second.ended()
        // The old journals are there still, and the spare file is a journal.
        let third = try await peer(beside: first, at: directory.path)
        try await third.tell("hold owner third")
        third.killNow()
        #expect(try await first.tell("sessions").split(separator: " ").count == 1)
        try await first.tell("clear full")
        try await first.tell("put key value")
        #expect(try await first.tell("get key") == "value value")
    }

    @Test("S10: where a process ended before it removed the old journals, the first put has their space")
    func journalsBelowTheFloor() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "3m")
        try await first.tell("arm \(onlyWhenWoken)")
        try await first.tell("fill kept/ 100 3000")
        #expect(try await first.tell("fillUp 3000").hasPrefix("storageFull"))
        try await first.tell("clear full")
        let second = try await peer(beside: first, at: directory.path)
        try await second.tell("arm compaction.afterFloor:kill")
        try second.send("compact")
        try await second.ended()
        let third = try await peer(beside: first, at: directory.path)
        // Larger than what is free, and than what the spare file can be the journal of.
        try await third.tell("fill more/ 1 300000")
    }

    @Test("S10: space that a process has not kept again behind its compaction is kept by the next one that joins")
    func interruptedKeeping() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "3m")
        // Its idle look would keep the space.
        try await first.tell("arm \(onlyWhenWoken)")
        try await first.tell("fill kept/ 100 3000")
        #expect(try await first.tell("fillUp 3000").hasPrefix("storageFull"))
        let second = try await peer(beside: first, at: directory.path)
        try await second.tell("arm compaction.beforeSpare:kill")
        try second.send("compact")
        try await second.ended()
        let third = try await peer(beside: first, at: directory.path)
        try await third.tell("occupy \(directory.path)/occupied")
        let fourth = try await peer(beside: first, at: directory.path)
        try await fourth.tell("hold owner fourth")
        fourth.killNow()
        try await third.tell("takeOvers owner 1000")
    }
}
