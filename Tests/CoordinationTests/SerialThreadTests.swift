internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// A thread for calls that block.
@Suite("A serial thread")
struct SerialThreadTests {
    @Test("Where the system has no thread left, a job runs on the calling one: with its signals blocked, as on any")
    func withoutThread() {
        let armed = FailPoint.arm("pthread_create/signals:fail=11*")
        defer { armed.disarm() }
        let inside = Box<[Bool]>([])
        let before = Self.isPipeBlocked
        SerialThread(name: "signals").submit { inside.update { $0.append(Self.isPipeBlocked) } }
        #expect(inside.value == [true])
        #expect(Self.isPipeBlocked == before)
    }

    /// True if the calling thread takes no SIGPIPE.
    private static var isPipeBlocked: Bool {
        var blocked = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &blocked)
        return sigismember(&blocked, SIGPIPE) == 1
    }
}
