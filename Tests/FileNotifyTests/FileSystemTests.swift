internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import FileNotifyBackend

@Suite("File systems that lack something, or refuse to answer", .timeLimit(.minutes(2)))
struct FileSystemTests {
    /// A file system without files that have no name (EOPNOTSUPP) and without RENAME_NOREPLACE (EINVAL).
    private let withoutRename = "openat(O_TMPFILE):fail=95*,renameat2:fail=22*"

    @Test("S9, E1: a listing that the system cuts short is an error, not a directory without the rest")
    func partialListing() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path, options: FileGroupOptions(clock: ManualClock()))
        try await group.put("key", text: "kept")
        await group.close()
        // To the system's clock, the machine was started anew: the newest journal is looked for.
        let peer = try PeerProcess(failPoint: "readdir:fail*")
        _ = try await peer.answer()
        try peer.send("open \(path)")
        let answer = try await peer.answer()
        #expect(answer.hasPrefix("error system") && answer.contains("readdir"), "\(answer)")
        try await peer.tell("arm none:fail")
        try await peer.tell("open \(path)")
        #expect(try await peer.tell("get key") == "value kept")
    }

    @Test("S6, S9: without RENAME_NOREPLACE a group works by link and unlink, and leaves no second names")
    func renameByLink() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path, failPoint: withoutRename)
        try await peer.tell("put key one")
        #expect(try await peer.tell("compact") == "true")
        let group = try await FileGroup.open(directory: path)
        #expect(try await group.text("key") == "one")
        #expect(group.generation == 2)
        #expect(!TemporaryDirectory.names(in: path).contains { $0.hasSuffix(".new") })
        await group.close()
    }

    @Test(
        "S10: a commit makes the spare file again when another process takes it for what a killed one has left",
        arguments: ["hold key value", "put key value"])
    func cleanedSpareFile(command: String) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path)
        // Without the file, and without what the journal says of it, the next commit makes it.
        #expect(unlink(path + "/spare") == 0)
        let journal = try Journal(try OpenFile(path: path + "/journal-1", .write))
        journal.spareByteCount = 0
        // Between making the file and locking it. Content tries again with less when the first one fails.
        let isContent = command.hasPrefix("put")
        try await peer.tell("arm openat(O_TMPFILE):fail=95*,statx/spare.:stop\(isContent ? "*2" : "")")
        try peer.send(command)
        for _ in 0..<(isContent ? 2 : 1) {
            try await peer.stopped()
            let unfinished = TemporaryDirectory.names(in: path).filter { $0.hasPrefix("spare.") }
            #expect(unfinished.count == 1)
            JournalBuilder.removeUnfinished(in: try Directory(path: path))
            #expect(!TemporaryDirectory.names(in: path).contains { $0.hasPrefix("spare.") })
            peer.signal(SIGCONT)
        }
        let answer = try await peer.answer()
        #expect(answer.hasPrefix("ok"), "\(answer)")
        #expect(TemporaryDirectory.names(in: path).contains("spare"))
    }

    @Test("S10: endings on a full disk are promised where reserved space is kept, and refused elsewhere")
    func endingsOnFullDisk() async throws {
        let kinds: [(UInt64, Bool)] = [
            // ext4, XFS, tmpfs
            (0xef53, true), (0x5846_5342, true), (0x0102_1994, true),
            // Btrfs, ZFS, overlayfs, FUSE, and one that is not known
            (0x9123_683e, false), (0x2fc1_2fc1, false), (0x794c_7630, false), (0x6573_5546, false), (0x1234, false),
        ]
        for (number, isPromised) in kinds {
            let promised = FileGroup.promises(of: FileGroupOptions(), on: FileSystemKind(rawValue: number))
            #expect(promised.features.contains(.endingsOnFullDisk) == isPromised, "0x\(String(number, radix: 16))")
        }
        let directory = try TemporaryDirectory()
        let isKept = try Directory(path: directory.path).fileSystemKind().keepsReservedSpace
        let options = FileGroupOptions(requirements: Requirements(features: [.endingsOnFullDisk]))
        let refusal = try await code {
            try await FileGroup.open(directory: directory.path(of: "group"), options: options).close()
        }
        #expect(refusal == (isKept ? nil : .unsupported))
    }

    @Test("E1: where links are impossible as well, the error names the file system, what it lacks and the way out")
    func neitherRenameNorLink() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try PeerProcess(failPoint: withoutRename + ",linkat:fail=1*")
        _ = try await peer.answer()
        try peer.send("open \(path)")
        let answer = try await peer.answer()
        #expect(answer.hasPrefix("error unsupported"), "\(answer)")
        let kind = try Directory(path: directory.path).fileSystemKind().description
        for part in [kind, "RENAME_NOREPLACE", "link", "Give a directory"] {
            #expect(answer.contains(part), "\(answer)")
        }
        #expect(TemporaryDirectory.names(in: path).isEmpty)
    }
}
