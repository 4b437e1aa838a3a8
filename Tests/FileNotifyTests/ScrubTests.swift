internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import FileNotifyBackend

/// The parts of the files that `sharedcore check` reads.
@Suite("Reading all of a group's files", .timeLimit(.minutes(10)))
struct ScrubTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path(of: "group")
    }

    /// Values by which the places of a file are found: in the snapshot and behind it, small and large.
    enum Region: String, CaseIterable {
        case snapshot, largeInSnapshot, commit, largeInCommit

        var value: [UInt8] {
            let mark = Array("<\(rawValue)>".utf8)
            let isLarge = self == .largeInSnapshot || self == .largeInCommit
            return isLarge ? mark + (0..<9000).map { UInt8(truncatingIfNeeded: $0 / 7) } : mark
        }
    }

    /// Makes a group with a journal that has all of the regions.
    private func group() async throws -> FileGroup {
        let group = try await FileGroup.open(directory: path)
        for region in [Region.snapshot, .largeInSnapshot] { try await group.put(Key(region.rawValue), region.value) }
        #expect(try await group.compactNow())
        for region in [Region.commit, .largeInCommit] { try await group.put(Key(region.rawValue), region.value) }
        return group
    }

    /// Changes one bit of the byte at a place.
    private func flip(_ name: String, at offset: Int) throws {
        let file = try OpenFile(path: path + "/" + name, .write)
        let byte = try #require(try file.read(count: 1, at: offset).first)
        try file.write([byte ^ 1], at: offset)
    }

    /// Expects that a changed bit at a place is found, and that the report names the file.
    private func expectFound(_ name: String, at offset: Int, _ what: String) throws {
        try flip(name, at: offset)
        let error = #expect(throws: SharedCoreError.self, "\(what)") { try GroupScrub(of: path) }
        #expect(error?.code == .corrupt, "\(what): \(String(describing: error))")
        #expect(error?.location == path + "/" + name, "\(what): \(String(describing: error))")
        try flip(name, at: offset)
        #expect(try GroupScrub(of: path).byteCount > 18_000)
    }

    @Test(
        "S11: a changed bit of a snapshot, a commit, a large value or a first page is found", arguments: [true, false])
    func changedBits(isInUse: Bool) async throws {
        let group = try await group()
        if !isInUse { await group.close() }
        let journal = "journal-\(group.generation)"
        let content = try OpenFile(path: path + "/" + journal, .read).read(count: 1 << 20, at: 0)
        for region in Region.allCases {
            let value = region.value
            let start = try #require(
                content.indices.first { content[$0...].starts(with: value) }, "\(region.rawValue)")
            try expectFound(journal, at: start + value.count - 1, region.rawValue)
        }
        if isInUse { try await group.put("again", [1]) }
        // The header of a journal, and the word that names the layout of the group. An idle handle may notice these.
        try expectFound(journal, at: 40, "header")
        try expectFound("sessions", at: 3, "sessions")
        await group.close()
    }

    @Test(
        "S11: a bit of an ended journal is found that the group is still read through, and one that is gone is not missed"
    )
    func endedJournals() async throws {
        let frozen = try await PeerProcess.joining(path)
        try await frozen.tell("put key \(String(repeating: "k", count: 20_000))")
        try await frozen.tell("arm commit.beforePublish:stop")
        try frozen.send("put key 2")
        try await frozen.stopped()
        let group = try await FileGroup.open(directory: path)
        try await group.put("other", [1])
        #expect(group.generation == 2)
        #expect(try GroupScrub(of: path).journalCount == 2)
        try expectFound("journal-1", at: 10_000, "before the present one")
        #expect(try await group.compactNow())
        #expect(try GroupScrub(of: path).journalCount == 1)
        await frozen.killNow()
        await group.close()
    }

    @Test(
        "S11: a journal that is gone is missed: the first, the last, and the only one", arguments: [[1], [2], [1, 2]])
    func missingJournals(numbers: [Int]) async throws {
        let frozen = try await PeerProcess.joining(path)
        try await frozen.tell("put key 1")
        try await frozen.tell("arm commit.beforePublish:stop")
        try frozen.send("put key 2")
        try await frozen.stopped()
        let writer = try await PeerProcess.joining(path)
        try await writer.tell("put key 3")
        for peer in [frozen, writer] {
            await peer.killNow()
            try await peer.ended()
        }
        #expect(try GroupScrub(of: path).journalCount == 2)
        for number in numbers { try Directory(path: path).remove("journal-\(number)") }
        let error = #expect(throws: SharedCoreError.self) { try GroupScrub(of: path) }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("journal-\(numbers[0]) is missing") == true, "\(String(describing: error))")
    }

    @Test(
        "S11: where the disk cannot be read past the cache, the records are read and the result says so",
        arguments: ["", "openat(O_DIRECT)", "pread"])
    func throughCache(refused: String) async throws {
        try await group().close()
        // A file system that has no such reads refuses to open for them, and one of larger blocks refuses the read.
        let armed = FailPoint.arm(refused.isEmpty ? "" : "\(refused)\(path)/journal-:fail=22")
        defer { armed.disarm() }
        let scrub = try GroupScrub(of: path)
        #expect(scrub.byteCount > 18_000 && scrub.isPastCache == refused.isEmpty)
    }

    @Test("S11: while others write and compact, nothing is missed")
    func whileOthersWrite() async throws {
        let writer = try await PeerProcess.joining(path)
        for number in 0..<20 {
            try writer.send("fill k\(number) 60 5000")
            for _ in 0..<5 { _ = try GroupScrub(of: path) }
            _ = try await writer.answer()
            try writer.send("compact")
            for _ in 0..<5 { _ = try GroupScrub(of: path) }
            _ = try await writer.answer()
        }
    }
}
