internal import CLinux

/// One message to a socket that somebody else reads.
package enum Datagram {
    /// Sends a datagram.
    ///
    /// - Parameters:
    ///   - address: The socket's path, or its abstract name after an `@`.
    ///   - seconds: How long to wait where its reader has many to read. Not for 0; else it blocks.
    package static func send(
        _ bytes: [UInt8], to address: String, waiting seconds: Int32 = 0
    ) throws(SystemCallError) {
        try SystemCall.negated("sendto", at: address) { clinux_send_datagram(address, bytes, bytes.count, seconds) }
    }
}
