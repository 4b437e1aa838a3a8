#if Etcd
    internal import Platform

    /// Proves to processes of this machine which process has a session: the process listens at a socket with an
    /// abstract name that contains the session's lease. The kernel tells the socket's process, even while that is
    /// stopped.
    ///
    /// It ends with the process. A full queue of connections leaves the process unproven, for example if others connect
    /// faster than ``drain()`` is called: every user of the machine may connect to an abstract name.
    final class SessionSocket: Sendable {
        /// The most connections in its queue.
        private static let queueLength = 64
        /// Each session takes a descriptor, and a process may have more sessions than the usual soft limit of 1,024.
        private static let descriptors: Void = SpareDescriptors.raiseLimit()

        private let listener: StreamListener

        /// - Returns: Nil if the name is taken or the system has no socket left: then the process is not proven.
        init?(ofLease lease: Int64) {
            _ = Self.descriptors
            guard let listener = try? StreamListener(abstractName: Self.name(ofLease: lease)) else { return nil }
            self.listener = listener
        }

        /// Takes the connections out of the queue: the kernel has answered their question already.
        func drain() {
            for _ in 0...Self.queueLength {
                guard (try? listener.accept()) != nil else { return }
            }
        }

        /// Returns why a process may not be the one that has a lease; nil if it is.
        static func doubt(that process: Int32, hasLease lease: Int64) -> String? {
            do throws(SystemCallError) {
                return try StreamConnection(to: "@" + name(ofLease: lease)).peer?.process == process
                    ? nil : "another process has its session's socket"
            } catch {
                return "its session's socket does not answer (\(error.reason))"
            }
        }

        private static func name(ofLease lease: Int64) -> String {
            "sharedcore/etcd/" + String(UInt64(bitPattern: lease), radix: 16)
        }
    }
#endif
