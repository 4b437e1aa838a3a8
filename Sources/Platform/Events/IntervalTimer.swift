internal import CLinux
internal import CoreAPI
internal import Glibc

/// A timer of the kernel, as a descriptor to poll.
package final class IntervalTimer: Sendable {
    /// The descriptor to poll for reading.
    package let descriptor: Int32

    /// - Parameter countsSuspension: Whether the time counts in which the machine is suspended.
    package init(countsSuspension: Bool = false) throws(SystemCallError) {
        descriptor = try SystemCall.negated("timerfd_create", at: "timer") { clinux_timer(countsSuspension) }
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Makes the descriptor readable after a time, and then at an interval; once, when that is zero.
    package func set(first: Duration, interval: Duration) {
        // It fails only for times that there are not.
        _ = clinux_set_timer(descriptor, first.clampedNanoseconds, interval.clampedNanoseconds)
    }

    /// Makes the descriptor unreadable until the next time has come. The timer goes on only after this.
    package func clear() {
        var count: UInt64 = 0
        while read(descriptor, &count, MemoryLayout<UInt64>.size) == -1, errno == EINTR {}
    }
}
