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

    @Test("Where the system has no thread left, a job's write to a closed pipe leaves the calling thread no SIGPIPE")
    func closedPipe() {
        let armed = FailPoint.arm("pthread_create/pipe:fail=11*")
        defer { armed.disarm() }
        // Blocked here, so that a signal which is left stays pending and can be seen.
        var pipeSignal = sigset_t()
        sigemptyset(&pipeSignal)
        sigaddset(&pipeSignal, SIGPIPE)
        var former = sigset_t()
        pthread_sigmask(SIG_BLOCK, &pipeSignal, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        let failure = Box<Int32>(0)
        SerialThread(name: "pipe").submit {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { return }
            close(ends[0])
            if write(ends[1], "x", 1) == -1 { failure.update { $0 = errno } }
            close(ends[1])
        }
        #expect(failure.value == EPIPE)
        var pending = sigset_t()
        sigpending(&pending)
        #expect(sigismember(&pending, SIGPIPE) == 0)
    }

    /// True if the calling thread takes no SIGPIPE.
    private static var isPipeBlocked: Bool {
        var blocked = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &blocked)
        return sigismember(&blocked, SIGPIPE) == 1
    }
}
