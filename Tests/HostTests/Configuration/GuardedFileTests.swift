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

    /// The refusal of a file; nil when it is read.
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
        let status = try FileStatus(ofPath: path)
        let refusal = refusal(of: path)
        if mode == 0o620, status.group == status.owner {
            // A group of the owner's own number has no other member.
            #expect(refusal == nil)
        } else {
            #expect(refusal?.code == .forbidden)
            #expect(refusal?.message.contains("the file's mode is \(String(mode, radix: 8)). Set it to 600.") == true)
        }
    }

    @Test("A file that is not there, no file, or a link to one is refused")
    func kinds() {
        #expect(refusal(of: directory.path(of: "none"))?.code == .invalidArgument)
        #expect(refusal(of: directory.path)?.code == .invalidArgument)
        #expect(symlink("key", directory.path(of: "link")) == 0)
        #expect(refusal(of: directory.path(of: "link"))?.code == .forbidden)
    }

    @Test(
        "A file of another user ends as forbidden, whatever its mode",
        .enabled(if: getuid() == 0, "it takes root to give a file away"), arguments: [0o600, 0o400] as [mode_t])
    func owner(mode: mode_t) {
        #expect(chmod(path, mode) == 0)
        #expect(chown(path, 65534, 65534) == 0)
        let refusal = refusal(of: path)
        #expect(refusal?.code == .forbidden && refusal?.message.contains("belongs to user 65534") == true)
    }
}
