internal import CLinux
internal import Glibc

/// A counter of the kernel that any thread can raise to wake one that polls it.
package final class EventCounter: Sendable {
    /// The descriptor to poll for reading.
    package let descriptor: Int32

    package init() throws(SystemCallError) {
        descriptor = try SystemCall.negated("eventfd", at: "event counter") { clinux_event_counter() }
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Makes the descriptor readable. It never blocks: a counter at its end is readable anyway.
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
