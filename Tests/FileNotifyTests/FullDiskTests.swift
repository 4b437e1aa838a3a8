internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// The group lies in a small file system in memory, which only the peers see: the first one's own mount namespace.
@Suite("A full disk", .timeLimit(.minutes(10)))
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
        try await PeerProcess.joining(path + "/group", through: command(enteringDiskOf: first))
    }

    /// Runs a program in the mount namespace of the first peer.
    private func command(enteringDiskOf first: PeerProcess) -> [String] {
        ["nsenter", "--target", "\(first.pid)", "--mount"]
            + (Self.isRoot ? [] : ["--user", "--preserve-credentials"])
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

    @Test("S10: endings, releases and take-overs go on succeeding on a full disk, for any length of time")
    func endingsSucceedForEver() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path)
        let second = try await peer(beside: first, at: directory.path)
        #expect(try await first.tell("fillUp 3000").hasPrefix("storageFull"))
        #expect(try await first.tell("fillUp 1").hasPrefix("storageFull"), "down to the last byte")
        // Each round is a few hundred bytes, so this is many times the space reserved for them at once.
        for round in 0..<15 {
            #expect(try await first.tell("fillUp 3000").hasPrefix("storageFull"), "what was freed is taken again")
            try await second.tell("takeOvers owner 100")
            try await first.tell("takeOvers owner 100")
            let guest = try await peer(beside: first, at: directory.path)
            try await guest.tell("hold owner guest\(round)")
            if round % 2 == 0 { await guest.killNow() } else { try await guest.tell("close") }
            #expect(try await first.tell("sessions").split(separator: " ").count == 2)
            #expect(try await second.tell("get owner") == "nothing")
        }
        #expect(try await first.tell("fillUp 3000").hasPrefix("storageFull"), "the disk is full still")
    }

    @Test("S10: the space for a compaction grows with the store, so what is deleted on a full disk comes back")
    func compactionOfALargeStore() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "6m")
        // Much more than the space reserved at first.
        try await first.tell("fill kept/ 300 3000")
        #expect(try await first.tell("fillUp 3000").hasPrefix("storageFull"))
        #expect(try await first.tell("compact") == "true", "with all of it in place")
        try await first.tell("clear full")
        #expect(try await first.tell("compact") == "true")
        #expect(try await first.tell("compact") == "true", "the space for the next one is there again")
        try await first.tell("fill again/ 100 3000")
        #expect(try await first.tell("get kept/299") != "nothing")
    }

    @Test(
        "S10: on a disk filled by any file, endings, take-overs and a compaction succeed, and a put when it is deleted",
        arguments: Seed.several(3))
    func randomContent(_ seed: Seed) async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "2m")
        let owner = try await peer(beside: first, at: directory.path)
        let holder = try await peer(beside: first, at: directory.path)
        try await owner.tell("hold owner me")
        var random = SeededRandom(seed)
        var refusals = 0
        var number = 0
        // Names of notifications, values of any size, entries that live with a session, and messages of an inbox.
        while refusals < 12 {
            number += 1
            let name = "n\(number)" + String(repeating: "x", count: 200)
            let value = String(repeating: "v", count: Int.random(in: 1...6_000, using: &random))
            let command =
                [
                    number > 1_500 ? "put full/a v" : "post \(name) \(number)", "put full/\(number) \(value)",
                    "hold full/held\(number) \(value.prefix(300))",
                    "pair full/.sharedcore-inbox/\(number) 1 \(Int.random(in: 1...2_000, using: &random))",
                ].randomElement(using: &random) ?? ""
            let peer = Bool.random(using: &random) ? first : holder
            try peer.send(command)
            let answer = try await peer.answer()
            guard answer.hasPrefix("error") else { continue }
            #expect(answer.hasPrefix("error storageFull"), "\(answer)")
            refusals += 1
        }
        #expect(number > 100, "\(number)")
        await owner.killNow()
        /// Demands success, and names the command that failed.
        func demand(_ command: String, of peer: PeerProcess) async throws {
            try peer.send(command)
            let answer = try await peer.answer()
            #expect(answer.hasPrefix("ok"), "\(command): \(answer)")
        }
        try await demand("takeOvers owner 20", of: first)
        try await demand("close", of: holder)
        #expect(try await first.tell("get owner") == "nothing")
        #expect(try await first.tell("sessions").split(separator: " ").count == 1)
        // A compaction that a commit has asked for may still run.
        try await eventually("a compaction is done") { try await first.tell("compact") == "true" }
        try await demand("takeOvers owner 20", of: first)
        // The end of a session is not content. Names stay, since their states are not 0.
        try await demand("clear full", of: first)
        try await eventually("a compaction is done") { try await first.tell("compact") == "true" }
        try await demand("put again value", of: first)
    }

    @Test("S10: content is not refused while only the log of a group fills the disk, however short its writers live")
    func logFillsTheDisk() async throws {
        let directory = try TemporaryDirectory()
        // The file system is smaller than a log for whose compaction each commit waits.
        let first = try await firstPeer(at: directory.path, size: "2m")
        for number in 1...40 {
            let writer = try await peer(beside: first, at: directory.path)
            try await writer.tell("fillOne key\(number % 2) 100000")
            await writer.killNow()
        }
    }

    @Test(
        "S10: the bound holds also where processes stand still in the middle of a compaction, more than there are locks"
    )
    func frozenCompactors() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "64m")
        // The stopped processes end when this array is released.
        var stopped: [PeerProcess] = []
        for _ in 0..<6 {
            let frozen = try await peer(beside: first, at: directory.path)
            try await frozen.tell("arm compaction.afterSnapshot:stop")
            // Far beyond the size at which a commit waits for a compaction.
            for _ in 0..<60 { try frozen.send("fillOne key 100000") }
            try await frozen.stopped()
            stopped.append(frozen)
        }
        var most = 0
        for _ in 0..<60 {
            try await first.tell("fillOne key 100000")
            most = max(most, usedByteCount(at: directory.path, in: first))
        }
        #expect(most <= 6 * 100_000 + 8 << 20, "\(most)")
        for process in stopped { await process.killNow() }
    }

    @Test(
        "S10: each process that stands still in the middle of a compaction keeps one snapshot beside the bound",
        .enabled(if: TestScope.isCheck))
    func frozenCompactorsOfLargeContent() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "256m")
        let content = 12_000_000
        let count = 5
        try await first.tell("fill large/ 12 1000000")
        var stopped: [PeerProcess] = []
        for _ in 0..<count {
            let frozen = try await peer(beside: first, at: directory.path)
            try await frozen.tell("arm compaction.afterSnapshot:stop")
            for _ in 0..<60 { try frozen.send("fillOne large/0 1000000") }
            try await frozen.stopped()
            stopped.append(frozen)
        }
        var most = usedByteCount(at: directory.path, in: first)
        #expect(most > (count + 3) * content, "all of them have their snapshots: \(most)")
        for _ in 0..<60 {
            try await first.tell("fillOne large/0 1000000")
            most = max(most, usedByteCount(at: directory.path, in: first))
        }
        #expect(most <= (6 + count) * content + 8 << 20, "\(most)")
        for process in stopped { await process.killNow() }
    }

    /// The bytes that a file system takes of its disk, files included that have no name any more.
    private func usedByteCount(at path: String, in peer: PeerProcess) -> Int {
        var status = statvfs()
        guard statvfs("/proc/\(peer.pid)/root\(path)", &status) == 0 else { return 0 }
        return Int(status.f_blocks - status.f_bfree) * Int(status.f_frsize)
    }

    @Test(
        "S10: a directory takes at most six times its content and 8 MiB, however short its writers live",
        .enabled(if: TestScope.isCheck))
    func boundedSize() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "64m")
        let bystander = try await peer(beside: first, at: directory.path)
        bystander.signal(.stop)
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
            await writer.killNow()
        }
        for _ in 0..<20 {
            let frozen = try await peer(beside: first, at: directory.path)
            try await frozen.tell("arm commit.afterLock:stop")
            try frozen.send("put other value")
            try await frozen.stopped()
            try await first.tell("put other value")
            await frozen.killNow()
        }
        isOver.update { $0 = true }
        let most = try await sampler.value
        #expect(most > 100_000)
        #expect(most <= 6 * 100_000 + (8 << 20))
        bystander.signal(.continue)
        #expect(try await bystander.tell("get other") == "value value")
        #expect(try await bystander.tell("get key").utf8.count > 100_000)
    }

    @Test(
        "S10: processes that end behind their compactions, before old journals are removed, leave one of them at most",
        arguments: ["compaction.beforeFloor", "compaction.afterFloor"])
    func interruptedRemovals(_ place: String) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        for _ in 0..<5 {
            let writer = try await PeerProcess.joining(path, failPoint: "\(place):kill")
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
        await third.killNow()
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
        // Larger than the free space, and than any journal that fits into the spare file.
        try await third.tell("fill more/ 1 300000")
    }

    @Test("S10: content without space makes no snapshot before it is refused, so that endings do not wait behind it")
    func contentWithoutSpace() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "3m")
        try await first.tell("arm \(onlyWhenWoken)")
        try await first.tell("fill kept/ 100 3000")
        #expect(try await first.tell("compact") == "true")
        // A former journal that cannot be removed.
        #expect(mkdir("/proc/\(first.pid)/root\(directory.path)/group/journal-1", 0o700) == 0)
        #expect(try await first.tell("fillUp 3000").hasPrefix("storageFull"))
        // No compaction begins when the put is refused: no space can be given back.
        try await first.tell("compact")
        try await first.tell("arm compaction.afterSnapshot:kill")
        try first.send("put key \(String(repeating: "n", count: 200_000))")
        #expect(try await first.answer().hasPrefix("error storageFull"))
        try await first.tell("arm \(onlyWhenWoken)")
        try await first.tell("takeOvers owner 10")
    }

    /// Makes files until the file system has no inode left; returns their paths.
    private func occupyInodes(at path: String, in peer: PeerProcess) throws -> [String] {
        var paths: [String] = []
        while true {
            let new = "/proc/\(peer.pid)/root\(path)/inode-\(UInt64.random(in: 0...UInt64.max))"
            let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else {
                guard errno == ENOSPC else { throw FileProblem(path: new, code: errno) }
                return paths
            }
            close(file)
            paths.append(new)
        }
    }

    @Test("S10: while no inode is free, endings and take-overs succeed, and a frozen writer is passed over")
    func withoutInodes() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "16m,nr_inodes=64")
        let second = try await peer(beside: first, at: directory.path)
        try await first.tell("put key old")
        var occupied = try occupyInodes(at: directory.path, in: first)
        #expect(occupied.count > 40)
        let spare = "/proc/\(first.pid)/root\(directory.path)/group/spare"

        func changeHands(_ what: String) async throws {
            for peer in [first, second] { try await peer.tell("takeOvers owner 100") }
            let guest = try await peer(beside: first, at: directory.path)
            try await guest.tell("observe news")
            try await first.tell("post news 7")
            try await eventually("a process that joins is woken") { try await guest.tell("seen").hasSuffix(" 7") }
            try await guest.tell("hold owner guest")
            await guest.killNow()
            #expect(try await first.tell("sessions").split(separator: " ").count == 2, "\(what)")
            #expect(try await second.tell("get owner") == "nothing", "\(what)")
        }

        try await changeHands("at first")
        try await first.tell("put key new")
        try await first.tell("fill kept/ 100 3000")
        // The other process has the old journal, and with it an inode, until it polls.
        #expect(try await first.tell("compact") == "true")
        try await changeHands("behind a compaction")
        for round in 0..<3 {
            try await eventually("an inode is kept again") {
                try await first.tell("get key")
                _ = try? await first.tell("put key new")
                return (try? FileStatus(ofPath: spare)) != nil
            }
            occupied += try occupyInodes(at: directory.path, in: first)
            let frozen = try await peer(beside: first, at: directory.path)
            try await frozen.tell("arm commit.afterLock:stop")
            try frozen.send("put other frozen")
            try await frozen.stopped()
            try await second.tell("hold mine \(round)")
            try await first.tell("delete mine")
            await frozen.killNow()
            try await frozen.ended()
            try await changeHands("behind frozen writer \(round)")
        }
        // Of two frozen writers, the second one holds up all until an inode is free, for example that of the first
        // one's journal.
        try await second.tell("get key")
        try await eventually("an inode is kept again") {
            _ = try? await first.tell("put key new")
            return (try? FileStatus(ofPath: spare)) != nil
        }
        occupied += try occupyInodes(at: directory.path, in: first)
        var frozen: [PeerProcess] = []
        for _ in 0..<2 {
            let writer = try await peer(beside: first, at: directory.path)
            try await writer.tell("arm commit.afterLock:stop")
            try writer.send("hold frozen\(frozen.count) value")
            try await writer.stopped()
            frozen.append(writer)
            try first.send("hold mine value")
            #expect(try await first.answer().hasPrefix(frozen.count == 1 ? "ok" : "error storageFull"))
            try await second.tell("get key")
        }
        // The journal of the frozen writer is not ended while there can be no other.
        frozen[1].signal(.continue)
        #expect(try await frozen[1].answer().hasPrefix("ok"))
        for writer in frozen {
            await writer.killNow()
            try await writer.ended()
            try await first.tell("hold mine again")
        }
        try await changeHands("behind two frozen writers")
        for path in occupied { unlink(path) }
        #expect(try await first.tell("compact") == "true")
        try await second.tell("fill more/ 100 3000")
        #expect(try await second.tell("get kept/99") != "nothing")
        try await changeHands("with inodes")
    }

    @Test("S10: space that a process has not kept again behind its compaction is kept by the next one that joins")
    func interruptedKeeping() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "3m")
        // The idle poll of the first process would keep the space.
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
        await fourth.killNow()
        try await third.tell("takeOvers owner 1000")
    }

    /// Takes the free space of a peer's file system, and keeps it.
    private func takeAllSpace(at path: String, in peer: PeerProcess) throws {
        let hog = "/proc/\(peer.pid)/root\(path)/hog"
        let file = open(hog, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileProblem(path: hog, code: errno) }
        defer { close(file) }
        let page = [UInt8](repeating: 1, count: 4096)
        while write(file, page, page.count) > 0 {}
    }

    @Test(
        "S10: a copy of the directory with holes, or without the spare file, has its space again when it is opened",
        arguments: ["cp -r --sparse=always old group", "cp -r old group && rm group/spare"])
    func sparseCopy(copy: String) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path
        let first = try await firstPeer(at: path, size: "3m")
        try await first.tell("fill kept/ 100 3000")
        try await first.tell("close")
        let words =
            command(enteringDiskOf: first) + ["sh", "-c", "cd '\(path)' && mv group old && \(copy) && rm -r old"]
        let copying = try ChildProcess(words[0], Array(words.dropFirst()))
        #expect(await copying.end() == .exited(0))
        let second = try await peer(beside: first, at: path)
        for round in 0..<3 {
            try takeAllSpace(at: path, in: first)
            try await second.tell("takeOvers owner 500")
            let guest = try await peer(beside: first, at: path)
            try await guest.tell("hold owner guest\(round)")
            await guest.killNow()
            #expect(try await second.tell("sessions").split(separator: " ").count == 1)
            #expect(try await second.tell("compact") == "true")
        }
    }

    @Test(
        "S10: however often content is refused on a disk that stays full, sessions, owners and endings have their space",
        arguments: TestScope.isCheck ? [false, true] : [true])
    func refusedAgainAndAgain(_ isBesideOwner: Bool) async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "3m")
        try await first.tell(isBesideOwner ? "hold owner first" : "close")
        for number in 0..<9 {
            let writer = try await peer(beside: first, at: directory.path)
            try await writer.tell("fill kept\(number)/ 1 30000")
            try await writer.tell("close")
        }
        try takeAllSpace(at: directory.path, in: first)
        var refusalCount = 0
        for round in 0..<(TestScope.isCheck ? 500 : 150) {
            let writer = try await peer(beside: first, at: directory.path)
            // Some of the first puts find space that a journal has left.
            try writer.send("put kept\(round % 9) \(String(repeating: "n", count: 30_000))")
            if try await writer.answer().hasPrefix("error storageFull") { refusalCount += 1 }
            // A program ends when it has its answer, and ends its session or not.
            if round % 2 == 0 { try await writer.tell("close") }
            await writer.killNow()
            try await writer.ended()
            try takeAllSpace(at: directory.path, in: first)
        }
        #expect(refusalCount > 100)
        // Journals were made for the records of sessions, and none for a refusal.
        let names = TemporaryDirectory.names(in: "/proc/\(first.pid)/root\(directory.path)/group")
        let newest = names.compactMap { $0.hasPrefix("journal-") ? Int($0.dropFirst("journal-".count)) : nil }.max()
        #expect(try #require(newest) <= 2 + refusalCount / 30)
        let last = try await peer(beside: first, at: directory.path)
        #expect(try await last.tell("get kept0/0") != "nothing")
        try await last.tell("takeOvers other 100")
        #expect(try await last.tell("compact") == "true")
        try takeAllSpace(at: directory.path, in: first)
        try await last.tell("takeOvers other 100")
        try await last.tell("delete kept0/0")
        #expect(unlink("/proc/\(first.pid)/root\(directory.path)/hog") == 0)
        try await last.tell("put key value")
    }

    @Test("S10: a compaction that no request waits for leaves the space that is kept alone")
    func compactionThatIsNotAwaited() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "4m")
        try await first.tell("arm \(onlyWhenWoken)")
        // The journal is not as long as a log that is compacted.
        for _ in 0..<10 { try await first.tell("fillOne key 103000") }
        try takeAllSpace(at: directory.path, in: first)
        try await first.tell("arm compaction.afterSnapshot:kill@2")
        // Now it is long enough.
        for _ in 0..<40 { try await first.tell("hold mine \(String(repeating: "h", count: 1000))") }
        // The first compaction that gets so far, after all that were begun.
        #expect(try await first.tell("compact") == "true")
    }

    @Test(
        "S10: where a process ends in the middle of a compaction, no program that takes what is free takes what is kept",
        arguments: ["build.afterRename", "compaction.beforeFloor", "compaction.afterSnapshot"])
    func interruptedBesideOthers(_ place: String) async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "4m")
        try await first.tell("arm \(onlyWhenWoken)")
        try await first.tell("fill kept/ 100 3000")
        try takeAllSpace(at: directory.path, in: first)
        for _ in 0..<10 {
            let second = try await peer(beside: first, at: directory.path)
            try await second.tell("arm \(place):kill")
            try second.send("compact")
            try await second.ended()
            try takeAllSpace(at: directory.path, in: first)
            if place != "compaction.afterSnapshot" {
                // The next one finishes it, and ends in the middle as well.
                let other = try PeerProcess(
                    failPoint: "compaction.beforeFinish:kill", through: command(enteringDiskOf: first))
                _ = try await other.answer()
                try other.send("open \(directory.path)/group")
                try await other.ended()
                try takeAllSpace(at: directory.path, in: first)
            }
            let third = try await peer(beside: first, at: directory.path)
            try await third.tell("hold owner third")
            try await third.tell("takeOvers other 100")
            await third.killNow()
            try takeAllSpace(at: directory.path, in: first)
        }
        #expect(try await first.tell("get kept/99") != "nothing")
    }

    @Test(
        "S10, S16: a restoration for which the disk has no space is refused, and leaves what stands and the space that is kept",
        arguments: [0, 400_000])
    func refusedRestoration(_ byteCount: Int) async throws {
        let directory = try TemporaryDirectory()
        let elsewhere = try TemporaryDirectory()
        let backup = elsewhere.path(of: "backup")
        let first = try await firstPeer(at: directory.path, size: "4m")
        let restoring = try await PeerProcess.joining(
            elsewhere.path(of: "group"), through: command(enteringDiskOf: first))
        try await restoring.tell("put key new")
        try await restoring.tell("fillOne large \(byteCount)")
        try await restoring.tell("backup \(backup)")
        try await first.tell("put key old")
        try await first.tell("close")
        try takeAllSpace(at: directory.path, in: first)
        let hog = "/proc/\(first.pid)/root\(directory.path)/hog"
        // The second time there is space for the journal, and not for the reserve beside it.
        for free in byteCount > 0 ? [0, 500_000] : [0, 0] {
            #expect(truncate(hog, try FileStatus(ofPath: hog).byteCount - free) == 0)
            try restoring.send("restore \(backup) \(directory.path)/group")
            #expect(try await restoring.answer().hasPrefix("error storageFull"))
            try takeAllSpace(at: directory.path, in: first)
            for _ in 0..<2 {
                let newcomer = try await peer(beside: first, at: directory.path)
                #expect(try await newcomer.tell("get key") == "value old")
                try await newcomer.tell("takeOvers owner 100")
                await newcomer.killNow()
                try await newcomer.ended()
                try takeAllSpace(at: directory.path, in: first)
            }
        }
        #expect(unlink(hog) == 0)
        // The session of the last one ends with the restoration.
        try await restoring.tell("restore \(backup) \(directory.path)/group")
        try takeAllSpace(at: directory.path, in: first)
        let newcomer = try await peer(beside: first, at: directory.path)
        #expect(try await newcomer.tell("get key") == "value new")
        try await newcomer.tell("takeOvers owner 1000")
        #expect(try await newcomer.tell("compact") == "true")
    }

    @Test("S10: the space that is kept shrinks with the content")
    func spareSpaceShrinks() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "64m")
        let second = try await peer(beside: first, at: directory.path)
        try await first.tell("fill large/ 12 1000000")
        #expect(usedByteCount(at: directory.path, in: first) > 24_000_000)
        try await first.tell("clear large")
        #expect(try await first.tell("compact") == "true")
        try await eventually("the space comes back") {
            usedByteCount(at: directory.path, in: first) < 8 << 20
        }
        try takeAllSpace(at: directory.path, in: first)
        for peer in [first, second] { try await peer.tell("takeOvers owner 1000") }
        #expect(try await second.tell("compact") == "true")
        try await first.tell("takeOvers owner 1000")
    }

    @Test("S10: the bound holds where each process stands still in its first commit and passes over the one before")
    func passedOverWhileJoining() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let first = try await PeerProcess.joining(path)
        try await first.tell("put key value")
        await first.killNow()
        try await first.ended()
        var previous: PeerProcess?
        for _ in 0..<(TestScope.isCheck ? 130 : 30) {
            let next = try PeerProcess(failPoint: "commit.beforePublish:stop")
            _ = try await next.answer()
            try next.send("open \(path)")
            try await next.stopped()
            await previous?.killNow()
            previous = next
            let journals = try groupNames(in: directory).filter { $0.hasPrefix("journal-") }
            #expect(journals.count <= 20)
        }
        await previous?.killNow()
        let reader = try await PeerProcess.joining(path)
        #expect(try await reader.tell("get key") == "value value")
    }

    @Test("S10: content has the space that a journal has left behind a compaction on a full disk")
    func contentBehindCompaction() async throws {
        let directory = try TemporaryDirectory()
        let first = try await firstPeer(at: directory.path, size: "4m")
        try await first.tell("arm \(onlyWhenWoken)")
        try await first.tell("fill kept/ 100 3000")
        try takeAllSpace(at: directory.path, in: first)
        #expect(try await first.tell("compact") == "true")
        try takeAllSpace(at: directory.path, in: first)
        // The put takes as much space in the journal, which has it, as in the spare file, which does not.
        try await first.tell("put key \(String(repeating: "n", count: 20_000))")
    }
}
