internal import CLinux
internal import Glibc

/// A set of descriptors that reports when they become readable: once each, to the thread that polls the set
/// (``add(_:key:)``, ``take()``), or each time, to a thread that waits (``addEdges(of:key:)``, ``wait()``).
package final class ReadinessSet: Sendable {
    /// The descriptor to poll for reading.
    package let descriptor: Int32

    package init() throws(SystemCallError) {
        descriptor = try SystemCall.negated("epoll_create1", at: "readiness set") { clinux_readiness_set() }
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Adds a descriptor that is reported once when it becomes readable, by its key.
    package func add(_ added: Int32, key: UInt64) throws(SystemCallError) {
        try SystemCall.negated("epoll_ctl", at: "readiness set") { clinux_add_readiness(descriptor, added, key) }
    }

    /// Adds a descriptor that ``wait()`` reports each time it becomes readable. All readable data must be taken before
    /// the next report.
    package func addEdges(of added: Int32, key: UInt64) throws(SystemCallError) {
        try SystemCall.negated("epoll_ctl", at: "readiness set") { clinux_add_edges(descriptor, added, key) }
    }

    /// Adds a connection: ``wait()`` reports each time it becomes readable or writable, or ends.
    package func add(_ connection: StreamConnection, key: UInt64) throws(SystemCallError) {
        try SystemCall.negated("epoll_ctl", at: "readiness set") {
            clinux_add_stream(descriptor, connection.descriptor, key)
        }
    }

    /// Waits for the next report. Any number of threads may wait: each report wakes one of them. Blocks.
    ///
    /// - Returns: The keys of the readable descriptors, none after a signal; nil if the set's descriptor was closed.
    package func wait() -> [UInt64]? {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 16) { keys in
            let count = clinux_wait_ready(descriptor, keys.baseAddress, Int32(keys.count))
            if count < 0 { return count == -EINTR ? [] : nil }
            return Array(keys[..<Int(count)])
        }
    }

    /// Removes a descriptor. A closed descriptor is removed by itself.
    package func remove(_ removed: Int32) {
        _ = clinux_remove_readiness(descriptor, removed)
    }

    /// Returns the keys of the descriptors that have become readable since the last call.
    package func take() -> [UInt64] {
        var keys = [UInt64](repeating: 0, count: 64)
        let count = clinux_take_ready(descriptor, &keys, Int32(keys.count))
        return count > 0 ? Array(keys.prefix(Int(count))) : []
    }
}
