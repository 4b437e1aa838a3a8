internal import CLinux
internal import Glibc

/// Descriptors that are to become readable: each reported once, to the thread that polls the set (``add(_:key:)``,
/// ``take()``), or each time anew, to a thread that waits (``addEdges(of:key:)``, ``wait()``).
package final class ReadinessSet: Sendable {
    /// The descriptor to poll for reading.
    package let descriptor: Int32

    package init() throws(SystemCallError) {
        descriptor = try SystemCall.negated("epoll_create1", at: "readiness set") { clinux_readiness_set() }
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Waits for a descriptor to become readable, which is reported once, by the key.
    package func add(_ added: Int32, key: UInt64) throws(SystemCallError) {
        try SystemCall.negated("epoll_ctl", at: "readiness set") { clinux_add_readiness(descriptor, added, key) }
    }

    /// Waits for a descriptor to become readable, which ``wait()`` reports each time anew. All readable data must be
    /// taken before the next report.
    package func addEdges(of added: Int32, key: UInt64) throws(SystemCallError) {
        try SystemCall.negated("epoll_ctl", at: "readiness set") { clinux_add_edges(descriptor, added, key) }
    }

    /// Waits for a connection: ``wait()`` reports each time that it becomes readable or writable, or ends.
    package func add(_ connection: StreamConnection, key: UInt64) throws(SystemCallError) {
        try SystemCall.negated("epoll_ctl", at: "readiness set") {
            clinux_add_stream(descriptor, connection.descriptor, key)
        }
    }

    /// Waits for the next report, of which any number of threads may do so: each report wakes one of them. Blocks.
    ///
    /// - Returns: The keys of the readable descriptors, none when a signal came; nil when there is nothing to wait for
    ///   any more, because the set's descriptor was closed.
    package func wait() -> [UInt64]? {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 16) { keys in
            let count = clinux_wait_ready(descriptor, keys.baseAddress, Int32(keys.count))
            if count < 0 { return count == -EINTR ? [] : nil }
            return Array(keys[..<Int(count)])
        }
    }

    /// Waits for a descriptor no longer. One that was closed is gone by itself.
    package func remove(_ removed: Int32) {
        _ = clinux_remove_readiness(descriptor, removed)
    }

    /// Returns the keys of those that have become readable since the last call.
    package func take() -> [UInt64] {
        var keys = [UInt64](repeating: 0, count: 64)
        let count = clinux_take_ready(descriptor, &keys, Int32(keys.count))
        return count > 0 ? Array(keys.prefix(Int(count))) : []
    }
}
