internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import FileNotifyBackend

@Suite("The resources that a participant takes and gives back", .serialized, .timeLimit(.minutes(10)))
struct ResourceTests {
    /// The number of a group's wake channels that the system watches for this process. A watch is no descriptor: each
    /// stands as a line in what the system says of the descriptor that all of them share.
    private func watchedBells(of path: String) throws -> Int {
        let group = try Directory(path: path)
        let wakeChannels = try group.names().filter { $0.hasPrefix("bell-") }.map { name in
            try FileStatus(ofPath: path + "/" + name).identity.number
        }
        let descriptors = "/proc/self/fdinfo"
        return try Directory(path: descriptors).names().reduce(0) { sum, name in
            // A descriptor may have been closed meanwhile.
            guard let bytes = try? OpenFile(path: descriptors + "/" + name, .read).read(count: 1 << 20, at: 0) else {
                return sum
            }
            let watched = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { line in
                guard line.hasPrefix("inotify "), let start = line.firstRange(of: " ino:")?.upperBound else {
                    return false
                }
                return UInt64(line[start...].prefix { $0 != " " }, radix: 16).map(wakeChannels.contains) ?? false
            }
            return sum + watched.count
        }
    }

    @Test("L1: a program has room for its high descriptors before it opens a group, when that takes long")
    func roomForDescriptors() async throws {
        // Through a shell that stays: a program that is started from here has the room of this process.
        let peer = try PeerProcess(through: ["/bin/sh", "-c", "\"$0\" \"$@\"; exit $?"])
        _ = try await peer.answer()
        let child = try text(of: "/proc/\(peer.pid)/task/\(peer.pid)/children").split(separator: " ").first
        let status = try text(of: "/proc/\(try #require(child))/status").split(separator: "\n")
        let line = try #require(status.first(where: { $0.hasPrefix("FDSize:") }))
        let size = try #require(line.split(separator: "\t").last.flatMap { Int($0) })
        #expect(size > Int(OpenFile.EarlyEnd.lock.descriptor))
    }

    private func text(of path: String) throws -> String {
        String(decoding: try OpenFile(path: path, .read).read(count: 1 << 16, at: 0), as: UTF8.self)
    }

    /// Returns, for each mapping of a file in a process, true if it is locked in memory: the flag `lo` of
    /// proc_pid_smaps(5).
    private func locks(of file: String, in process: Int32) throws -> [Bool] {
        // By inode number: a file that was created without a name is not listed under the name that it got later.
        let number = try FileStatus(ofPath: file).identity.number
        var isOfFile = false
        var locks: [Bool] = []
        let path = "/proc/\(process)/smaps"
        let table = String(decoding: try OpenFile(path: path, .read).read(count: 16 << 20, at: 0), as: UTF8.self)
        for line in table.split(separator: "\n") {
            if let first = line.first, first.isHexDigit, !first.isUppercase {
                let fields = line.split(separator: " ")
                isOfFile = fields.count > 4 && UInt64(fields[4]) == number
            } else if isOfFile, line.hasPrefix("VmFlags:") {
                locks.append(line.split(separator: " ").contains("lo"))
            }
        }
        return locks
    }

    @Test("S9: the page with the commit word stays in memory, in each journal that a participant comes to")
    func lockedPages() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path)
        let group = try await FileGroup.open(directory: path)
        for generation in 1...2 {
            let journal = path + "/journal-\(generation)"
            #expect(try locks(of: journal, in: peer.pid) == [true])
            #expect(try locks(of: path + "/sessions", in: peer.pid) == [true])
            if generation == 1 { #expect(try await group.compactNow()) }
            // This makes the peer read the group's newest journal.
            try await peer.tell("put key \(generation)")
        }
        // A process that only reads changes no word, and may lock nothing.
        let reader = try await PeerProcess.joining(path + " readOnly")
        #expect(try locks(of: path + "/journal-2", in: reader.pid) == [false])
        await group.close()
    }

    @Test("W4: 100,000 watches and observations leave no descriptor, bell or cursor", .enabled(if: TestScope.isCheck))
    func watchesLeaveNothing() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let standing = try await group.watch("standing")
        #expect(try watchedBells(of: directory.path(of: "group")) == 1)
        for index in 0..<50_000 {
            let watch = try await group.watch(KeyPrefix("k\(index % 100)"))
            watch.cancel()
            let observation = try await group.observe("n")
            observation.cancel()
            // None of these calls waits: other tests need their turn.
            await Task.yield()
        }
        #expect(try watchedBells(of: directory.path(of: "group")) == 1)
        standing.cancel()
        #expect(group.local.openCursorCount == 0)
        #expect(group.local.listening.withLock { $0.isEmpty })
        #expect(try watchedBells(of: directory.path(of: "group")) == 0)
        await group.close()
    }

    @Test("L1: opening and closing a group gives everything back")
    func groupsLeaveNothing() async throws {
        let directory = try TemporaryDirectory()
        for index in 0..<200 {
            let group = try await FileGroup.open(directory: directory.path(of: "group\(index % 3)"))
            let watch = try await group.watch()
            try await group.put("key", text: "\(index)")
            _ = try await watch.next()
            await group.close()
        }
        try await eventually("no file of the groups is open") {
            try openTargets(of: getpid()).allSatisfy { !$0.hasPrefix(directory.path) }
        }
    }

    @Test("100 participants of one process share its files")
    func participantsShare() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        var groups = [try await FileGroup.open(directory: path)]
        // The descriptors of this group only: the process is shared with the tests that run beside this one.
        func open() throws -> Int { try openTargets(of: getpid()).count { $0.hasPrefix(path) } }
        let before = try open()
        for _ in 1..<100 { groups.append(try await FileGroup.open(directory: path)) }
        #expect(try open() - before < 20)
        #expect(groups.allSatisfy { $0.local === groups[0].local })
        #expect(try await groups[0].sessions().count == 100)
        for group in groups { await group.close() }
    }

    @Test("S13: a request that waits for the lock leaves the queue when its task is cancelled, and nothing is written")
    func cancelledRequest() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        // The lock's holder is passed over after a while, so an attempt may come too late.
        for round in 0..<20 {
            let peer = try await PeerProcess.joining(directory.path(of: "group"))
            try await peer.tell("arm commit.afterLock:stop")
            try peer.send("put other x")
            try await peer.stopped()
            let key = try Key("key\(round)")
            let task = Task { try await group.put(key, text: "never") }
            while group.local.queue.isEmpty, try await group.get(key) == nil { await Task.yield() }
            task.cancel()
            switch await task.result {
            case .success:
                #expect(try await group.text(key) == "never")
            case .failure(let error):
                #expect((error as? SharedCoreError)?.code == .cancelled)
                try await group.put("next", text: "x")
                #expect(try await group.get(key) == nil)
                await group.close()
                return
            }
        }
        Issue.record("no request was cancelled while it waited")
    }

    @Test("S13: closing ends the watches and observations of a handle, and no other handle's")
    func closeUnblocks() async throws {
        let directory = try TemporaryDirectory()
        let one = try await FileGroup.open(directory: directory.path(of: "group"))
        let other = try await FileGroup.open(directory: directory.path(of: "group"))
        let ending = WatchRecorder(try await one.watch())
        let going = WatchRecorder(try await other.watch())
        await one.close()
        #expect(try await ending.ended() == nil)
        let revision = try await other.put("key", text: "x")
        try await going.reaches(revision)
        #expect(try await code { try await one.get("key") } == .closed)
        #expect(try await code { try await one.put("key", [1]) } == .closed)
        try await going.stop()
        await other.close()
    }
}
