#if Etcd
    internal import Platform

    /// What proves to processes of this machine which process has a session: a socket that the process listens at, under
    /// an abstract name that has the session's lease in it. The kernel says whose it is, also while that is stopped.
    ///
    /// It accepts no connection, and ends with the process. Connections of others that fill its queue leave the process
    /// unproven.
    final class SessionSocket: Sendable {
        private let listener: StreamListener

        /// - Returns: nil where the name is taken or the system has no socket left: then the process is not proven.
        init?(ofLease lease: Int64) {
            guard let listener = try? StreamListener(path: Self.name(ofLease: lease)) else { return nil }
            self.listener = listener
        }

        /// Why a process may not be the one that has a lease; nil when it is.
        static func doubt(that process: Int32, hasLease lease: Int64) -> String? {
            do throws(SystemCallError) {
                return try StreamConnection(to: name(ofLease: lease)).peer?.process == process
                    ? nil : "another process has its session's socket"
            } catch {
                return "its session's socket does not answer (\(error.reason))"
            }
        }

        private static func name(ofLease lease: Int64) -> String {
            "@sharedcore/etcd/" + String(UInt64(bitPattern: lease), radix: 16)
        }
    }
#endif
