#if Etcd
    internal import CoreAPI
    internal import GRPCCore
    internal import GRPCNIOTransportHTTP2Posix
    internal import NIOCore
    internal import NIOSSL

    /// A connection to one member of a cluster.
    final class Member: Sendable {
        typealias Connection = GRPCClient<HTTP2ClientTransport.Posix>

        /// The place of its endpoint among all.
        let position: Int
        let connection: Connection
        let securityNote: SecurityNote
        private let running: Task<Void, Never>

        init(at position: Int, of place: EtcdCluster) throws(SharedCoreError) {
            self.position = position
            let endpoint = place.endpoints[position]
            let securityNote = SecurityNote()
            self.securityNote = securityNote
            let target: any ResolvableTarget
            if endpoint.host.contains(":") {
                target = .ipv6(address: endpoint.host, port: endpoint.port)
            } else if endpoint.host.allSatisfy({ $0.isNumber || $0 == "." }) {
                target = .ipv4(address: endpoint.host, port: endpoint.port)
            } else {
                target = .dns(host: endpoint.host, port: endpoint.port)
            }
            do {
                let transport = try HTTP2ClientTransport.Posix(
                    target: target, transportSecurity: Self.security(of: place.security),
                    config: .defaults { config in
                        // A member that is away is another one's turn soon; nobody waits minutes for it.
                        config.backoff = .init(
                            initial: .milliseconds(100), max: .seconds(1), multiplier: 1.6, jitter: 0.2)
                        config.channelDebuggingCallbacks.onCreateTCPConnection = { channel in
                            channel.eventLoop.makeCompletedFuture {
                                let pipeline = channel.pipeline.syncOperations
                                if let security = try? pipeline.handler(type: NIOSSLClientHandler.self) {
                                    try pipeline.addHandler(PingAnswers(), position: .after(security))
                                    try pipeline.addHandler(securityNote.handler, position: .after(security))
                                } else {
                                    try pipeline.addHandler(PingAnswers(), position: .first)
                                }
                            }
                        }
                    })
                connection = GRPCClient(transport: transport)
            } catch {
                throw SharedCoreError(
                    .invalidArgument, "The connection to the cluster cannot be set up.", at: "\(endpoint)",
                    cause: "\(error)")
            }
            running = Task { [connection] in try? await connection.runConnections() }
        }

        deinit {
            end()
        }

        /// Ends the connection, and with it every call on it.
        func end() {
            connection.beginGracefulShutdown()
            running.cancel()
        }

        private static func security(of security: EtcdCluster.Security?) -> HTTP2ClientTransport.Posix.TransportSecurity
        {
            guard let security else { return .plaintext }
            let roots: TLSConfig.TrustRootsSource =
                security.authorities.map { .certificates([.file(path: $0, format: .pem)]) } ?? .systemDefault
            let verification: TLSConfig.CertificateVerification =
                EtcdDefect.believedMember.isPresent ? .noVerification : .fullVerification
            guard let certificate = security.certificate, let key = security.key else {
                return .tls {
                    $0.trustRoots = roots
                    $0.serverCertificateVerification = verification
                }
            }
            return .mTLS(
                certificateChain: [.file(path: certificate, format: .pem)], privateKey: .file(path: key, format: .pem)
            ) {
                $0.trustRoots = roots
                $0.serverCertificateVerification = verification
            }
        }
    }
#endif
