internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import TestSupport
internal import Testing

@Suite("The directory of a group", .timeLimit(.minutes(10)))
struct DirectoryTests {
    private func refusal(of path: String) async throws -> SharedCoreError.Code? {
        try await code { try await FileGroup.open(directory: path) }
    }

    @Test("S10: it is made with its parents, for its owner alone")
    func isMade() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "a/b/group")
        let group = try await FileGroup.open(directory: path)
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o700)
        await group.close()
    }

    @Test("S10: a symbolic link in its place is refused as forbidden, and nothing is written where it leads")
    func symbolicLink() async throws {
        let directory = try TemporaryDirectory()
        let target = try TemporaryDirectory()
        #expect(symlink(target.path, directory.path(of: "group")) == 0)
        for ending in ["", "/", "//", "/.", "/./"] {
            #expect(try await refusal(of: directory.path(of: "group") + ending) == .forbidden)
        }
        #expect(target.names.isEmpty)
    }

    @Test(
        "S10: a symbolic link of another user on the way is not followed, and nothing is written where it leads",
        .enabled(if: geteuid() == 0),
        // A slash with a combining mark after or before it is one character of Swift, but the kernel reads bytes.
        arguments: [("link", "group"), ("link", "\u{301}group"), ("link\u{600}", "group"), ("\u{301}link", "group")])
    func foreignLink(name: String, group: String) async throws {
        let directory = try TemporaryDirectory()
        let target = try TemporaryDirectory()
        let link = directory.path(of: name)
        #expect(symlink(target.path, link) == 0 && lchown(link, 65534, 65534) == 0)
        #expect(try await refusal(of: link + "/" + group) == .forbidden)
        #expect(try await refusal(of: link + "/deeper/group") == .forbidden)
        #expect(target.names.isEmpty)
        // Links of root, relative links and chains of links are followed.
        #expect(symlink(target.path, directory.path(of: "own")) == 0)
        #expect(symlink("../\(directory.path.split(separator: "/").last ?? "")/own", directory.path(of: "chain")) == 0)
        let group = try await FileGroup.open(directory: directory.path(of: "chain/group"))
        try await group.put("key", text: "kept")
        await group.close()
        #expect(target.names == ["group"])
        #expect(symlink("loop", directory.path(of: "loop")) == 0)
        #expect(try await refusal(of: directory.path(of: "loop/group")) != nil)
    }

    @Test("S10: one that is open to others is refused as forbidden", arguments: [0o755, 0o770, 0o701] as [mode_t])
    func openToOthers(mode: mode_t) async throws {
        let directory = try TemporaryDirectory()
        #expect(mkdir(directory.path(of: "group"), 0o700) == 0 && chmod(directory.path(of: "group"), mode) == 0)
        #expect(try await refusal(of: directory.path(of: "group")) == .forbidden)
    }

    @Test("E2: a path that cannot be that of a directory is refused as such")
    func invalidPath() async throws {
        let directory = try TemporaryDirectory()
        #expect(close(creat(directory.path(of: "file"), 0o600)) == 0)
        for path in ["file", "file/", "file/group", "file/a/b"] {
            #expect(try await refusal(of: directory.path(of: path)) == .invalidArgument)
        }
        #expect(try await refusal(of: "relative/path") == .invalidArgument)
        #expect(try await refusal(of: "") == .invalidArgument)
        #expect(try await refusal(of: directory.path(of: "a\0b")) == .invalidArgument)
    }

    @Test("S10: the directory of another user is refused as forbidden", .enabled(if: geteuid() == 0))
    func foreignDirectory() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        #expect(mkdir(path, 0o700) == 0 && chown(path, 65534, 65534) == 0)
        #expect(try await refusal(of: path) == .forbidden)
        // The other way round, as a user that may not enter: root may enter everything.
        let own = try await FileGroup.open(directory: directory.path(of: "own"))
        let peer = try PeerProcess(through: ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"])
        _ = try await peer.answer()
        try peer.send("open \(directory.path(of: "own"))")
        #expect(try await peer.answer().hasPrefix("error forbidden"))
        await own.close()
    }

    @Test("S10: a directory in which nothing can be made is refused as forbidden", .enabled(if: geteuid() == 0))
    func forbiddenParent() async throws {
        let directory = try TemporaryDirectory()
        #expect(chmod(directory.path, 0o755) == 0)
        let peer = try PeerProcess(through: ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"])
        _ = try await peer.answer()
        try peer.send("open \(directory.path(of: "group"))")
        #expect(try await peer.answer().hasPrefix("error forbidden"))
    }

    @Test("S14: a path with slashes behind it is that of the same group")
    func trailingSlashes() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group//"))
        let same = try await FileGroup.open(directory: directory.path(of: "group"))
        try await group.put("key", text: "x")
        #expect(try await same.text("key") == "x")
        for handle in [group, same] { await handle.close() }
    }
}
