internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@Suite("Durability on the disk", .timeLimit(.minutes(10)))
struct DurabilityTests {
    /// The commit word and the durable tail of a group's first journal.
    private func words(of path: String) throws -> (tail: Int, durable: Int) {
        let file = try OpenFile(path: path + "/journal-1", .read)
        func word(_ offset: Int) throws -> Int {
            try file.read(count: 8, at: offset).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        return (try word(1_024), try word(1_024 + 192))
    }

    @Test("S10: a commit returns only when it is on the disk; others see it before")
    func returnsWhenDurable() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path, disk: true)
        try await peer.tell("arm durability.sync:stop")
        try peer.send("put key new")
        try await peer.stopped()
        // Read before any other process joins: its session would be a commit as well.
        let (tail, durable) = try words(of: path)
        #expect(durable < tail)
        let group = try await FileGroup.open(directory: path)
        #expect(try await group.text("key") == "new")
        peer.signal(.continue)
        _ = try await peer.answer()
        try await peer.tell("put key next")
        #expect(try words(of: path).durable == words(of: path).tail)
        await group.close()
    }

    @Test("S10, S12: an outcome that the disk does not confirm is unknown; the next commit is in a journal of its own")
    func failingDisk() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path, disk: true)
        try await peer.tell("put key old")
        try await peer.tell("arm durability.sync:fail")
        try peer.send("put key new")
        #expect(try await peer.answer().hasPrefix("error outcomeUnknown"))
        try await peer.tell("put key newer")
        #expect(try groupNames(in: directory).contains("journal-2"), "a sync after a failed one proves nothing")
        #expect(try await peer.tell("get key") == "value newer")
    }

    @Test("S15: a long sync after a compaction holds up no writer, and no journal is passed over for it")
    func slowDisk() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path, disk: true)
        let other = try await PeerProcess.joining(path)
        try await peer.tell("put key old")
        try await peer.tell("arm build.synchronize:stop@2")
        try peer.send("compact")
        try await peer.stopped()
        for number in 0..<5 { try await other.tell("put key \(number)") }
        try await other.tell("hold mine value")
        #expect(
            try groupNames(in: directory).filter { $0.hasPrefix("journal-") }.sorted() == ["journal-1", "journal-2"])
        peer.signal(.continue)
        #expect(try await peer.answer() == "ok true")
        #expect(try await peer.tell("get key") == "value 4")
    }

    @Test("S10: several writers of one process are served, each after its commit is on the disk")
    func severalWriters() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path, options: FileGroupOptions(durability: .disk))
        #expect(group.capabilities.durability == .disk)
        _ = try await together(8) { writer in
            for index in 0..<20 { try await group.put(Key("\(writer)/\(index)"), text: "x") }
        }
        #expect(try await group.list().entries.count == 160)
        #expect(try words(of: path).durable == words(of: path).tail)
        await group.close()
    }

    @Test("S10: more than the group promises is refused as unsupported")
    func requirement() async throws {
        let directory = try TemporaryDirectory()
        var options = FileGroupOptions(requirements: Requirements(durability: .disk))
        let path = directory.path(of: "group")
        let refused = options
        #expect(try await code { try await FileGroup.open(directory: path, options: refused) } == .unsupported)
        #expect(directory.names.isEmpty, "nothing was made")
        options.durability = .disk
        await (try await FileGroup.open(directory: path, options: options)).close()
    }

    @Test("S15: a compaction never waits for the disk between the old journal's seal and the new one's name")
    func nobodyWaitsForTheDisk() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path, disk: true)
        try await peer.tell("put key old")
        // First the snapshot, outside of the lock; then the complete file under its final name.
        for pass in 1...2 {
            let generation = try #require(
                groupNames(in: directory).compactMap { Int($0.dropFirst("journal-".count)) }.max())
            try await peer.tell("arm build.synchronize:stop@\(pass)")
            try peer.send("compact")
            try await peer.stopped()
            let word = try OpenFile(path: path + "/journal-\(generation)", .read).read(count: 8, at: 1_024)
            let isSealed = word[7] & 0x80 != 0
            #expect(isSealed == (pass == 2))
            #expect(try groupNames(in: directory).contains("journal-\(generation + 1)") == isSealed)
            peer.signal(.continue)
            #expect(try await peer.answer() == "ok true")
        }
        try await peer.tell("arm build.synchronize:fail@3")
        #expect(try await peer.tell("compact") == "true", "there is no third time")
        #expect(try await peer.tell("get key") == "value old")
    }

    @Test("S12: when a process cannot go on behind its own published commit, the outcome is unknown, not failed")
    func publishedAndNotApplied() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        let listener = try await PeerProcess.joining(path, failPoint: onlyWhenWoken)
        try await listener.tell("watch key")
        let peer = try await PeerProcess.joining(path)
        try await peer.tell("arm commit.advance:fail")
        try peer.send("put key new")
        #expect(try await peer.answer().hasPrefix("error outcomeUnknown"))
        let entry = try #require(try await group.get("key"))
        #expect(String(decoding: entry.value, as: UTF8.self) == "new")
        try await listener.tell("watched \(entry.revision)")
        #expect(try await peer.tell("get key") == "value new")
        await group.close()
    }
}
