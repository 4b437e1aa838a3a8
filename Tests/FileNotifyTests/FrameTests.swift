internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import FileNotifyBackend
@testable internal import StoreEngine

@Suite("The frames of a journal", .timeLimit(.minutes(10)))
struct FrameTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path(of: "group")
    }

    /// The published records of a journal, with the places and the headers of their frames.
    private func frames(
        of generation: Int
    ) throws -> [(offset: Int, header: FrameHeader, record: JournalRecord)] {
        let journal = try Journal(OpenFile(path: path + "/journal-\(generation)", .read), isReadOnly: true)
        var frames: [(offset: Int, header: FrameHeader, record: JournalRecord)] = []
        var position = JournalFollower.Position(startOf: journal)
        while position.offset < journal.word.tail {
            let offset = position.offset
            let header = FrameHeader(try journal.read(count: FrameHeader.byteCount, at: offset)[...])
            try JournalFollower.read(from: &position, to: journal.word.tail) { record throws(SharedCoreError) in
                frames.append((offset, header, record))
                return false
            }
            #expect(position.offset == offset + FrameHeader.byteCount + Int(header.length))
            #expect(position.chain.value == header.chainWord)
        }
        return frames
    }

    /// The bits that a process that observes these keys and names checks in a mask.
    private func bits(_ keys: [KeyPrefix] = [], _ names: [NotificationName] = []) -> UInt64 {
        let wakeChannels = keys.map { WakeChannels(listeningTo: $0) } + names.map { WakeChannels(of: $0) }
        return wakeChannels.reduce(0) { bits, wakeChannel in
            bits | wakeChannel.indices.reduce(0) { $0 | 1 << UInt64($1 % 64) }
        }
    }

    @Test("N4: the interest mask of a frame has the bits of what its record touches, and no others")
    func masks() async throws {
        let group = try await FileGroup.open(directory: path)
        try await group.put("a/b/c", text: "one")
        try await group.post("news")
        var both = Transaction()
        both.put("x", [1])
        both.delete("a/b/c")
        both.post("other")
        _ = try await group.commit(both)
        try await group.put("later", [1], lifetime: .expiring(after: .milliseconds(1)))
        try await eventually("it expires") { try await group.get("later") == nil }
        try await group.put("held", [1], lifetime: .session)
        var all = Transaction()
        all.deleteAll(under: "x")
        _ = try await group.commit(all)
        await group.close()

        let everything: UInt64 = 1
        let put = bits(["", "a", "a/b", "a/b/c"]) | everything
        let expected =
            [
                0, put, bits([], ["news"]) | everything, put | bits(["x"], ["other"]),
                bits(["", "later"]) | everything, bits(["", "later"]) | everything, bits(["", "held"]) | everything,
                .max, .max,
            ] as [UInt64]
        let frames = try frames(of: 1)
        let masks = frames.map(\.header.interest)
        let snapshot = frames.prefix { if case .snapshot = $0.record { true } else { false } }
        #expect(!snapshot.isEmpty && snapshot.allSatisfy { $0.header.interest == .max })
        #expect(Array(masks.dropFirst(snapshot.count)) == expected)
    }

    @Test("N4: a recorded refusal interests no watch")
    func refusal() throws {
        let failure = GuardFailure(index: 0, condition: .absent("key"), found: nil)
        let effect = Effect(
            revision: Revision(rawValue: 1), time: BootInstant(nanoseconds: 1),
            body: .refused(SessionID(rawValue: 1), requestNumber: 1, failure))
        #expect(WakeChannels(of: effect).interestMask == 0)
    }

    @Test("N4, S9: a compaction keeps the masks of what was committed while it ran")
    func compaction() async throws {
        let group = try await FileGroup.open(directory: path)
        let peer = try await PeerProcess.joining(path, failPoint: "compaction.afterSnapshot:stop")
        try peer.send("compact")
        try await peer.stopped()
        try await group.put("a/b", text: "meanwhile")
        peer.signal(.continue)
        #expect(try await peer.answer() == "ok true")
        let last = try #require(try frames(of: 2).last)
        #expect(last.header.interest == bits(["", "a", "a/b"]) | 1)
        // The new chain continues for the processes that change to it and for those that load it.
        try await group.put("a/b", text: "after")
        #expect(try await peer.tell("get a/b") == "value after")
        await group.close()
    }

    @Test(
        "S9, S11: a changed bit in each field of a header, and in a payload, is found",
        arguments: [("length", 0), ("interest", 8), ("payload checksum", 16), ("chain word", 24), ("payload", 32)])
    func damagedField(name: String, offset: Int) async throws {
        let peer = try await PeerProcess.joining(path)
        try await peer.tell("puts key 10")
        try await peer.tell("close")
        let frame = try #require(try frames(of: 1).dropLast(4).last)
        let file = try OpenFile(path: path + "/journal-1", .write)
        let byte = try #require(try file.read(count: 1, at: frame.offset + offset).first)
        try file.write([byte ^ 4], at: frame.offset + offset)
        let error = await #expect(throws: SharedCoreError.self) { try await FileGroup.open(directory: path) }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("byte \(frame.offset)") == true, "\(error?.message ?? "")")
        let left = try SalvagedGroup(readingFrom: path)
        #expect(left.findings.count == 1, "\(left.findings)")
    }
}
