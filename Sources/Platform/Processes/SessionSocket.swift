/// Proves to processes of this machine which process has a session: the process listens at a socket with an abstract
/// name that belongs to the session. The kernel tells each connecting process the pid of the listener, even while the
/// listener is stopped.
///
/// It ends with the process. A full queue of connections leaves the process unproven, for example if others connect
/// faster than ``drain()`` is called: every user of the machine may connect to an abstract name.
package final class SessionSocket: Sendable {
    /// The maximum number of connections in its queue.
    private static let queueLength = 64

    private let listener: StreamListener

    /// Begins to listen at the abstract name of a session.
    ///
    /// - Parameter name: The backend's name, and an identifier that is unique to the session.
    /// - Returns: Nil if the name is taken or the system has no socket left: then the process is not proven.
    package init?(named name: String) {
        guard let listener = try? StreamListener(abstractName: Self.prefix + name) else { return nil }
        self.listener = listener
    }

    /// Accepts and closes the waiting connections: the kernel has already told each which process listens.
    package func drain() {
        for _ in 0...Self.queueLength {
            guard (try? listener.accept()) != nil else { return }
        }
    }

    /// Returns why a process may not be the one that has the session with a name; nil if it is.
    package static func doubt(that process: Int32, hasSessionNamed name: String) -> String? {
        do throws(SystemCallError) {
            return try StreamConnection(to: "@" + prefix + name).peer?.process == process
                ? nil : "another process has its session's socket"
        } catch {
            return "its session's socket does not answer (\(error.reason))"
        }
    }

    private static let prefix = "sharedcore/"
}
