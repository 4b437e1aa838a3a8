package import Platform
internal import Synchronization

/// The contact of a core at the registrar of a test, registered until it leaves or its process ends.
package final class Contact: Sendable {
    private let connection: Mutex<MessageSocket?>

    /// Registers.
    ///
    /// - Parameter path: The registrar's socket.
    package init(_ name: String, at path: String) throws(SystemCallError) {
        let connection = try MessageSocket(connectingTo: path)
        try connection.send(Array("register \(name)".utf8))
        self.connection = Mutex(connection)
    }

    /// Takes the next call that the registrar has sent; nil when there is none now.
    package func nextCall() -> String? {
        connection.withLock { connection in
            guard case .message(let bytes, _) = connection?.receive(upTo: 200) else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Tells the registrar that the call is taken, so that it is sent to no other contact.
    package func tookCall(_ call: String) throws(SystemCallError) {
        try connection.withLock { connection throws(SystemCallError) in
            try connection?.send(Array("took \(call)".utf8))
        }
    }

    /// Unregisters.
    package func leave() {
        connection.withLock { connection in
            try? connection?.send(Array("leave".utf8))
            connection = nil
        }
    }
}
