internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import TestSupport
internal import Testing

@testable internal import Platform

@Suite("E1: an error number means what the call makes of it")
struct SystemErrorTests {
    @Test(
        "what is used up is unavailable and named, also where the number is that of a full disk",
        arguments: [
            ("inotify_add_watch", ENOSPC, "fs.inotify.max_user_watches"),
            ("inotify_init1", EMFILE, "fs.inotify.max_user_instances"), ("inotify_init1", ENFILE, "fs.file-max"),
            ("epoll_ctl", ENOSPC, "fs.epoll.max_user_watches"), ("pthread_create", EAGAIN, "threads"),
            ("clone", EAGAIN, "processes"), ("openat", EMFILE, "descriptors"), ("openat", ENFILE, "fs.file-max"),
            ("fcntl(F_OFD_SETLK)", ENOLCK, "file locks"),
        ])
    func exhausted(call: String, number: Int32, name: String) {
        let error = SystemCallError(call, number: number, at: "here")
        #expect(!error.isStorageFull)
        let told = SharedCoreError(error)
        #expect(told.code == .unavailable)
        #expect(told.message.contains(name), "\(told.message)")
    }

    @Test(
        "a full disk and a quota are storageFull",
        arguments: [("posix_fallocate", ENOSPC), ("write", EDQUOT), ("openat", ENOSPC), ("mkdir", EDQUOT)])
    func storage(call: String, number: Int32) {
        let error = SystemCallError(call, number: number, at: "here")
        #expect(error.isStorageFull && error.exhausted == nil)
        #expect(SharedCoreError(error).code == .storageFull)
    }

    @Test(
        "what has no code of its own stays system", arguments: [("read", EIO), ("recvmsg", ENOMEM), ("write", EAGAIN)])
    func others(call: String, number: Int32) {
        #expect(SharedCoreError(SystemCallError(call, number: number, at: "here")).code == .system)
    }

    @Test(
        "E1: a group is refused with a reason where the process has too few descriptors left", .timeLimit(.minutes(10)))
    func fewDescriptors() async throws {
        let directory = try TemporaryDirectory()
        let peer = try PeerProcess(through: ["sh", "-c", "ulimit -n 34 && exec \"$0\""])
        _ = try await peer.answer()
        try peer.send("open \(directory.path(of: "group"))")
        let answer = try await peer.answer()
        #expect(answer.hasPrefix("error unavailable") && answer.contains("ulimit -n"), "\(answer)")
    }

    @Test(
        "the offset of a time namespace is read in nanoseconds, and refused where it is no whole number of ticks",
        arguments: [
            ("monotonic           0         0\nboottime            0         0\n", 0),
            ("monotonic  -5 1\nboottime  1000000 0\n", 1_000_000_000_000_000),
            ("boottime  -1 500000000\n", -500_000_000), ("boottime  1 5000000\n", nil), ("boottime  1\n", nil),
            ("boottime  9223372036854775807 0\n", nil), ("", nil),
        ] as [(String, Int64?)])
    func timeOffset(text: String, offset: Int64?) {
        #expect(TimeNamespace(offsets: text)?.offset == offset)
    }
}
