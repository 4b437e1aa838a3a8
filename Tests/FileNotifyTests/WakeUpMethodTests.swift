internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// How a process waits when the system lets it watch no files, or not these files.
@Suite("Waiting without reports of writes", .timeLimit(.minutes(10)))
struct WakeUpMethodTests {
    /// The reason for which a peer cannot watch the wake channels.
    enum Obstacle: String, CaseIterable, CustomTestStringConvertible {
        case noInstance, noWatch, silentFileSystem
        /// Nor can a thread sleep at several futex words.
        case silentFileSystemOfOldKernel

        var testDescription: String { rawValue }

        /// The command in front of the peer: limits of its own, in a user namespace of its own.
        var start: [String] {
            let limit: String
            switch self {
            case .noInstance: limit = "max_inotify_instances"
            case .noWatch: limit = "max_inotify_watches"
            case .silentFileSystem, .silentFileSystemOfOldKernel: return []
            }
            return [
                "unshare", "--user", "--map-root-user", "sh", "-c", "echo 0 > /proc/sys/user/\(limit) && exec \"$0\"",
            ]
        }

        /// The words for the peer when it opens the group.
        var words: String { start.isEmpty ? " silent" : "" }

        var failPoints: [String] { self == .silentFileSystemOfOldKernel ? ["sleep.several:fail"] : [] }
    }

    /// A peer that cannot watch the wake channels and has the group open.
    private func deafPeer(_ obstacle: Obstacle, in path: String, failPoint: String? = nil) async throws -> PeerProcess {
        let failPoints = obstacle.failPoints + [failPoint].compactMap(\.self)
        let peer = try PeerProcess(
            failPoint: failPoints.isEmpty ? nil : failPoints.joined(separator: ","), through: obstacle.start)
        _ = try await peer.answer()
        try await peer.tell("open \(path)\(obstacle.words)")
        return peer
    }

    @Test("N4: a wait without file watches is woken each time, and says how", arguments: Obstacle.allCases)
    func isWoken(obstacle: Obstacle) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        #expect(group.capabilities.wakeUp == .fileEvents)
        let peer = try await deafPeer(obstacle, in: path)
        try await peer.tell("observe name")
        #expect(try await peer.tell("wakeUp") == "sharedMemory")
        // Polls without a signal come every ten seconds, so these would take minutes.
        for count in 1...40 as ClosedRange<UInt64> {
            try await group.post("name", state: count)
            var seen = ""
            try await eventually("the peer is woken for post \(count), and not as: \(seen)") {
                seen = try await peer.tell("seen")
                return seen == "\(count) \(count)"
            }
        }
        await group.close()
    }

    @Test("N4: two processes that cannot watch files wake each other", arguments: Obstacle.allCases)
    func wakeEachOther(obstacle: Obstacle) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let one = try await deafPeer(obstacle, in: path)
        let other = try await deafPeer(obstacle, in: path)
        for peer in [one, other] {
            try await peer.tell("observe there")
            try await peer.tell("watch a/b")
        }
        for count in 1...20 {
            try await (count % 2 == 0 ? one : other).tell("post there \(count)")
            for peer in [one, other] {
                try await eventually("each is woken") { try await peer.tell("seen") == "\(count) \(count)" }
            }
            let revision = try await (count % 2 == 0 ? other : one).tell("put a/b/c \(count)")
            for peer in [one, other] { try await peer.tell("watched \(revision)") }
        }
    }

    @Test(
        "N4: they stay woken when the journal is replaced, also while none is awake to notice",
        arguments: [Obstacle.silentFileSystem, .silentFileSystemOfOldKernel])
    func wokenAfterCompaction(obstacle: Obstacle) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        let peer = try await deafPeer(obstacle, in: path, failPoint: onlyWhenWoken)
        try await peer.tell("observe name")
        for count in 1...10 as ClosedRange<UInt64> {
            #expect(try await group.compactNow())
            try await group.post("name", state: count)
            try await eventually("the peer is woken") { try await peer.tell("seen") == "\(count) \(count)" }
        }
        await group.close()
    }

    @Test("W1: a watch of one that cannot watch files has no gap, with writers at work", arguments: Obstacle.allCases)
    func watchWithoutGap(obstacle: Obstacle) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await deafPeer(obstacle, in: path)
        try await peer.tell("watch")
        let writer = try await PeerProcess.joining(path)
        let group = try await FileGroup.open(directory: path)
        try writer.send("puts a 500")
        for index in 0..<500 { try await group.put(Key("b\(index)"), text: "x") }
        _ = try await writer.answer()
        let last = try await group.put("last", text: "x")
        let words = try await peer.tell("watched \(last)").split(separator: " ")
        #expect(words[2] == "0", "no revision came after a later one")
        #expect(words[1] != "0" || (Int(words[0]) ?? 0) >= 1_001, "all came, or it was told that it lagged")
        await group.close()
    }

    @Test("N9: a sleep at shared memory notices a poster that was killed before it woke another")
    func killedPoster() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let observer = try await deafPeer(.silentFileSystem, in: path)
        try await observer.tell("observe name")
        let poster = try await PeerProcess.joining(path)
        try await poster.tell("post name 1")
        try await eventually("the observer is woken") { try await observer.tell("seen") == "1 1" }
        // The polls come every ten seconds. The machine may be slow, but hardly twice.
        let clock = ContinuousClock()
        var quickest = Duration.seconds(3600)
        for seen in ["2 2", "3 3"] {
            let victim = try await PeerProcess.joining(path)
            try await victim.tell("arm commit.beforeRing:kill")
            try victim.send("post name \(seen.prefix(1))")
            try await victim.ended()
            let killed = clock.now
            try await eventually("the observer looks by itself", timeout: TestTimeout.long) {
                try await observer.tell("seen") == seen
            }
            quickest = min(quickest, clock.now - killed)
        }
        #expect(quickest < .seconds(60))
    }

    @Test("N9: a process that waits with a deadline and reads by itself sees what a killed poster left at once")
    func killedPosterWithDeadline() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let observer = try await deafPeer(.silentFileSystem, in: path, failPoint: onlyWhenWoken)
        try await observer.tell("observe name")
        let poster = try await PeerProcess.joining(path)
        try await poster.tell("arm commit.beforeRing:kill")
        try poster.send("post name 2")
        try await poster.ended()
        try await observer.tell("sync")
        try await eventually("it is delivered") { try await observer.tell("seen") == "1 2" }
    }

    @Test("W4: a thousand cycles of waiting at shared memory leave no thread and no descriptor")
    func leavesNothing() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await deafPeer(.silentFileSystem, in: path)
        try await peer.tell("watchCycles 10")
        let before = try openTargets(of: peer.pid).count
        try await peer.tell("watchCycles 1000", timeout: .seconds(60))
        #expect(try openTargets(of: peer.pid).count <= before)
        try await eventually("no thread sleeps any more") {
            try Directory(path: "/proc/\(peer.pid)/task").names().allSatisfy { thread in
                let name = try? OpenFile(path: "/proc/\(peer.pid)/task/\(thread)/comm", .read).read(count: 32, at: 0)
                return name.map { !String(decoding: $0, as: UTF8.self).hasPrefix("sc-signal") } ?? true
            }
        }
    }

    // MARK: - The judgement of a file system

    @Test("a file system that is not known is tried out: this one reports writes")
    func trialSucceeds() async throws {
        let directory = try TemporaryDirectory()
        var options = FileGroupOptions()
        options.wakeUpTrial = .always
        let group = try await FileGroup.open(directory: directory.path(of: "group"), options: options)
        #expect(group.capabilities.wakeUp == .fileEvents)
        #expect(try groupNames(in: directory).allSatisfy { !$0.hasPrefix("trial") }, "nothing is left of the trial")
        await group.close()
    }

    @Test("one that reports nothing when it is tried out is not relied on")
    func trialHearsNothing() async throws {
        let directory = try TemporaryDirectory()
        let peer = try PeerProcess(failPoint: "trial.report:fail")
        _ = try await peer.answer()
        try await peer.tell("open \(directory.path(of: "group")) trial")
        #expect(try await peer.tell("wakeUp") == "sharedMemory")
    }

    @Test("E1: one where processes cannot share memory is refused at open as unsupported")
    func noSharedMemory() async throws {
        let directory = try TemporaryDirectory()
        let peer = try PeerProcess(failPoint: "mmap:fail=19")
        _ = try await peer.answer()
        try peer.send("open \(directory.path(of: "group"))")
        let answer = try await peer.answer()
        #expect(answer.hasPrefix("error unsupported"))
        #expect(answer.contains("share memory"))
    }

    @Test("E1: a directory on a file system of a network is refused, and what is there stays")
    func remote() async throws {
        let directory = try TemporaryDirectory()
        let peer = try PeerProcess(failPoint: "directory.remote:fail")
        _ = try await peer.answer()
        try peer.send("open \(directory.path(of: "group"))")
        let answer = try await peer.answer()
        #expect(answer.hasPrefix("error unsupported") && answer.contains("local file system"), "\(answer)")
    }

    @Test("the local file systems are known")
    func knownKinds() throws {
        for kind: UInt64 in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0xf2f5_2010] {
            #expect(FileSystemKind(rawValue: kind).reportsWrites)
        }
        // NFS, overlay, FUSE, 9P.
        for kind: UInt64 in [0x6969, 0x794c_7630, 0x6573_5546, 0x0102_1997] {
            #expect(!FileSystemKind(rawValue: kind).reportsWrites)
        }
        #expect(FileSystemKind(rawValue: 0x6969).isRemote && !FileSystemKind(rawValue: 0xef53).isRemote)
        #expect(try Directory(path: "/dev/shm").fileSystemKind() == FileSystemKind(rawValue: 0x0102_1994))
    }
}
