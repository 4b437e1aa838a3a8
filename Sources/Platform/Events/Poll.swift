internal import CLinux
internal import CoreAPI
internal import Glibc

/// Waits on descriptors of the kernel. It blocks its thread, so it is for owned threads only.
package enum Poll {
    /// Returns when any of the descriptors is readable, or at the timeout.
    ///
    /// - Parameters:
    ///   - descriptors: The descriptors to wait for.
    ///   - timeout: The longest time to wait; nil waits without limit, zero only polls.
    /// - Returns: For each descriptor, whether it is readable or has failed.
    package static func wait(for descriptors: [Int32], timeout: Duration?) -> [Bool] {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // Rounded up, because a wait that ends too early must be repeated.
        let milliseconds = timeout.map { Int32(clamping: $0.millisecondsRoundedUp) } ?? -1
        let count = poll(&entries, nfds_t(entries.count), milliseconds)
        guard count > 0 else { return descriptors.map { _ in false } }
        return entries.map { $0.revents != 0 }
    }

    /// Data can be read.
    package static let readable = Int16(POLLIN)
    /// Data can be written.
    package static let writable = Int16(POLLOUT)
    /// The other end is closed, or there is an error.
    package static let failed = Int16(POLLERR | POLLHUP)
    /// The descriptor is not open.
    package static let notOpen = Int16(POLLNVAL)

    /// Returns when a descriptor has an event, or at the timeout.
    ///
    /// - Parameter timeout: The longest time to wait; nil waits without limit.
    /// - Returns: The events of each descriptor; nil when a signal has ended the wait.
    package static func events(
        of descriptors: [(descriptor: Int32, events: Int16)], timeout: Duration?
    ) throws(SystemCallError) -> [Int16]? {
        var entries = descriptors.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
        let count = poll(
            &entries, nfds_t(entries.count), timeout.map { Int32(clamping: $0.millisecondsRoundedUp) } ?? -1)
        if count < 0 {
            let number = errno
            guard number == EINTR else { throw SystemCallError("poll", number: number, at: "event loop") }
            return nil
        }
        return entries.map(\.revents)
    }

    /// Returns when any of the descriptors is readable, or at the deadline, even if signals interrupt the wait.
    ///
    /// - Returns: The same as ``wait(for:timeout:)``.
    package static func wait(for descriptors: [Int32], until deadline: ContinuousClock.Instant) -> [Bool] {
        while true {
            let left = max(.zero, ContinuousClock.now.duration(to: deadline))
            let ready = wait(for: descriptors, timeout: left)
            if left == .zero || ready.contains(true) { return ready }
        }
    }
}

/// A kernel counter that any thread can raise to wake a thread that polls it.
package final class EventCounter: Sendable {
    /// The descriptor to poll for reading.
    package let descriptor: Int32

    package init() throws(SystemCallError) {
        descriptor = try SystemCall.negated("eventfd", at: "event counter") { clinux_event_counter() }
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Makes the descriptor readable. It never blocks: a counter at its maximum is readable anyway.
    package func raise() {
        var one: UInt64 = 1
        while write(descriptor, &one, MemoryLayout<UInt64>.size) == -1, errno == EINTR {}
    }

    /// Makes the descriptor unreadable until it is raised again.
    package func clear() {
        var count: UInt64 = 0
        while read(descriptor, &count, MemoryLayout<UInt64>.size) == -1, errno == EINTR {}
    }
}

/// A timer of the kernel, as a descriptor to poll.
package final class IntervalTimer: Sendable {
    /// The descriptor to poll for reading.
    package let descriptor: Int32

    /// Makes a timer that is not set.
    ///
    /// - Parameter countsSuspension: Whether the timer includes the time in which the machine is suspended.
    package init(countsSuspension: Bool = false) throws(SystemCallError) {
        descriptor = try SystemCall.negated("timerfd_create", at: "timer") { clinux_timer(countsSuspension) }
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Makes the descriptor readable after a time, and then at an interval; once, when that is zero.
    package func set(first: Duration, interval: Duration) {
        // The call fails only for invalid times, and these are valid.
        _ = clinux_set_timer(descriptor, first.clampedNanoseconds, interval.clampedNanoseconds)
    }

    /// Makes the descriptor unreadable until the next expiration. The timer continues only after this.
    package func clear() {
        var count: UInt64 = 0
        while read(descriptor, &count, MemoryLayout<UInt64>.size) == -1, errno == EINTR {}
    }
}
