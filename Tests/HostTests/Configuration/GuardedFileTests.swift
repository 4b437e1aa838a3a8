internal import CoreAPI
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// Keys of hubs, of their clients and of etcd are read from such files. The documentation's tests compare the mode that each
/// asks for.
@Suite("E2: the file of a secret key")
struct GuardedFileTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path(of: "key")
        try OpenFile(path: path, .create).write([1, 2], at: 0)
        #expect(chmod(path, 0o600) == 0)
    }

    /// Returns the refusal of a file; nil if it is read.
    private func refusal(of path: String) -> SharedCoreError? {
        do throws(SharedCoreError) {
            #expect(try GuardedFile.read(path, forbidding: 0o077, "A secret key", right: "600") == [1, 2])
            return nil
        } catch {
            return error
        }
    }

    @Test("Each permission of others ends as forbidden, and is named with the right mode", arguments: 0..<6)
    func modes(bit: Int) throws {
        #expect(refusal(of: path) == nil)
        let mode = mode_t(0o600 | 1 << bit)
        #expect(chmod(path, mode) == 0)
        let refusal = refusal(of: path)
        #expect(refusal?.code == .forbidden)
        #expect(refusal?.message.contains("the file's mode is \(String(mode, radix: 8)). Set it to 600.") == true)
    }

    @Test(
        "A file that all may read may be written by its user's own group, by no other group and not by root's",
        .enabled(if: getuid() == 0, "it takes root to give a file away"),
        arguments: [(1000, 1000, true), (1000, 1001, false), (1000, 0, false), (0, 0, false)] as [(uid_t, gid_t, Bool)])
    func groups(owner: uid_t, group: gid_t, mayWrite: Bool) throws {
        #expect(chmod(path, 0o664) == 0 && chown(path, owner, group) == 0)
        let status = try FileStatus(ofPath: path)
        #expect((status.objection(owners: [owner], forbidding: 0o022) == nil) == mayWrite)
        #expect(status.objection(owners: [owner], forbidding: 0o077) == .open(permissions: 0o664))
        #expect(chmod(path, 0o620) == 0)
        #expect(try FileStatus(ofPath: path).objection(owners: [owner], forbidding: 0o077) == .open(permissions: 0o620))
    }

    @Test("A file that is not there, no file, or a link to one is refused")
    func kinds() {
        #expect(refusal(of: directory.path(of: "none"))?.code == .invalidArgument)
        #expect(refusal(of: directory.path)?.code == .invalidArgument)
        #expect(symlink("key", directory.path(of: "link")) == 0)
        #expect(refusal(of: directory.path(of: "link"))?.code == .forbidden)
    }

    @Test(
        "A file of another user ends as forbidden with any mode",
        .enabled(if: getuid() == 0, "it takes root to give a file away"), arguments: [0o600, 0o400] as [mode_t])
    func owner(mode: mode_t) {
        #expect(chmod(path, mode) == 0)
        #expect(chown(path, 65534, 65534) == 0)
        let refusal = refusal(of: path)
        #expect(refusal?.code == .forbidden && refusal?.message.contains("belongs to user 65534") == true)
    }
}
