internal import CoreAPI
internal import Glibc

/// Waits on descriptors of the kernel. It blocks its thread, so it is for owned threads only.
package enum Poll {
    /// Returns when any of the descriptors is readable, or at the timeout.
    ///
    /// - Parameters:
    ///   - descriptors: What to wait for.
    ///   - timeout: The longest time to wait; nil waits without an end, zero only looks.
    /// - Returns: For each descriptor, whether it is readable or has failed.
    package static func wait(for descriptors: [Int32], timeout: Duration?) -> [Bool] {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // Rounded up: waking before the time would only mean to wait again.
        let milliseconds = timeout.map { Int32(clamping: ($0.clampedNanoseconds &+ 999_999) / 1_000_000) } ?? -1
        let count = poll(&entries, nfds_t(entries.count), milliseconds)
        guard count > 0 else { return descriptors.map { _ in false } }
        return entries.map { $0.revents != 0 }
    }
}
