#if Etcd
    public import CoreAPI
    internal import Platform

    /// The addresses of a cluster, and the way in which its members are reached.
    public struct EtcdCluster: Hashable, Sendable {
        /// The address of one member's listener for clients.
        public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
            public let host: String
            public let port: Int
            /// True if the address was written with `https://`: connections then require TLS.
            public let isSecure: Bool

            /// Reads `host:port`, `[address]:port` or either with `http://` or `https://` in front.
            ///
            /// - Throws: ``SharedCoreError/Code/invalidArgument`` for anything else.
            public init(_ text: String) throws(SharedCoreError) {
                var rest = text[...]
                isSecure = text.hasPrefix("https://")
                for scheme in ["http://", "https://"] where rest.hasPrefix(scheme) {
                    rest = rest.dropFirst(scheme.count)
                }
                if rest.last == "/" { rest = rest.dropLast() }
                guard let colon = rest.utf8.lastIndex(of: UInt8(ascii: ":")),
                    let port = Int(rest[rest.utf8.index(after: colon)...]),
                    (1...65_535).contains(port)
                else { throw Self.unreadable(text) }
                var host = rest[..<colon]
                if host.first == "[", host.last == "]" {
                    host = host.dropFirst().dropLast()
                } else if host.contains(":") {
                    throw Self.unreadable(text)
                }
                guard !host.isEmpty, !host.contains(where: { "/[]@ ".contains($0) }) else {
                    throw Self.unreadable(text)
                }
                self.host = String(host)
                self.port = port
            }

            public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

            private static func unreadable(_ text: String) -> SharedCoreError {
                SharedCoreError(
                    .invalidArgument, "An endpoint of etcd is written host:port, as 127.0.0.1:2379.",
                    at: "endpoint \(text)")
            }
        }

        /// How a connection is secured: the paths of PEM files.
        public struct Security: Hashable, Sendable {
            /// The authorities that verify the members' certificates; nil for the system's.
            public var authorities: String?
            /// The client's own certificate and key; nil for none.
            public var certificate: String?
            public var key: String?

            public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
                self.authorities = authorities
                self.certificate = certificate
                self.key = key
            }

            /// Throws unless this user alone can have read or written the key.
            ///
            /// - Throws: ``SharedCoreError/Code/forbidden`` when its file belongs to another user, is open to others or
            ///   is a symbolic link, ``SharedCoreError/Code/invalidArgument`` when it is missing or is no regular file.
            func requireOwnKey() throws(SharedCoreError) {
                guard let key else { return }
                _ = try GuardedFile.read(key, forbidding: 0o077, "A secret key", right: "600")
            }
        }

        /// The members. One of them is used at a time; another one if it does not answer.
        public let endpoints: [Endpoint]
        /// Nil for unencrypted connections.
        public let security: Security?

        /// Makes the address of a cluster. One endpoint with `https://` secures the connections to all of them.
        ///
        /// - Throws: ``SharedCoreError/Code/invalidArgument`` when no endpoint is given, or a certificate without its
        ///   key.
        public init(_ endpoints: [Endpoint], security: Security? = nil) throws(SharedCoreError) {
            guard !endpoints.isEmpty else {
                throw SharedCoreError(.invalidArgument, "A cluster has one endpoint at least.", at: "endpoints")
            }
            if let security, (security.certificate == nil) != (security.key == nil) {
                throw SharedCoreError(
                    .invalidArgument, "A certificate and its key are given together.", at: "certificate")
            }
            self.endpoints = endpoints
            self.security = security ?? (endpoints.contains(where: \.isSecure) ? Security() : nil)
        }
    }
#endif
