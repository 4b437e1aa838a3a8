internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import FileNotifyBackend

@Suite("File systems that lack something, or refuse to answer", .timeLimit(.minutes(10)))
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
        // To the system's clock, the machine was started anew: the newest journal is searched.
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
        // Without the file and the journal's record of it, the next commit makes the file.
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
            peer.signal(.continue)
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

    /// Lines of `/proc/self/mountinfo`, in all forms: with no optional field, with several, with escaped spaces, and one that is cut.
    private static let mounts = """
        22 27 0:21 / /proc rw,nosuid - proc proc rw
        41 27 0:36 / /mnt/shared\\040files rw,relatime - virtiofs tag rw
        42 27 0:37 / /mnt/far rw shared:7 master:2 propagate_from:1 - fuse.sshfs me@host:/home rw,user_id=0
        43 27 0:38 / /mnt/- rw shared:1 - fuse.bindfs /srv/-\\040dir rw
        44 27 0:39 / /mnt/plain rw - fuse /dev/fuse rw
        45 27 0:40 / /mnt/cut rw shared:1
        4 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,discard
        """

    @Test("S9: of file systems with the number of FUSE, the table of mounts tells which are another machine's")
    func mountTypes() {
        let types = [
            (22, "proc"), (41, "virtiofs"), (42, "fuse.sshfs"), (43, "fuse.bindfs"), (44, "fuse"), (45, nil),
            (4, "ext4"),
            (7, nil),
        ]
        for (mount, type) in types { #expect(FileSystemKind.mountType(of: mount, inTable: Self.mounts) == type) }
        let kinds = ["virtiofs": true, "fuse.sshfs": true, "fuse.bindfs": false, "fuse": false]
        for (type, isRemote) in kinds {
            let kind = FileSystemKind(rawValue: 0x6573_5546, mountType: type)
            #expect(kind.isRemote == isRemote && kind.description == type)
            #expect(!kind.keepsReservedSpace && !kind.reportsWrites)
        }
        // If the table cannot be read, the answer is as before.
        #expect(!FileSystemKind(rawValue: 0x6573_5546).isRemote)
        let refusal = SharedCoreError.remote(
            FileSystemKind(rawValue: 0x6573_5546, mountType: "virtiofs"), at: "/shared")
        #expect(refusal.code == .unsupported && refusal.location == "/shared")
        for part in ["is on virtiofs,", "locks and mapped pages", "local file system, or a hub"] {
            #expect(refusal.message.contains(part), "\(refusal.message)")
        }
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
