internal import CoreAPI
internal import Glibc
internal import Platform
internal import Testing

@Suite("E1: an error number means what the call makes of it")
struct SystemErrorTests {
    @Test(
        "what is used up is unavailable and named, also where the number is that of a full disk",
        arguments: [
            ("inotify_add_watch", ENOSPC, "fs.inotify.max_user_watches"),
            ("inotify_init1", EMFILE, "fs.inotify.max_user_instances"), ("inotify_init1", ENFILE, "fs.file-max"),
            ("epoll_ctl", ENOSPC, "fs.epoll.max_user_watches"), ("pthread_create", EAGAIN, "threads"),
            ("posix_spawn", EAGAIN, "processes"), ("openat", EMFILE, "descriptors"), ("openat", ENFILE, "fs.file-max"),
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
}
