#if Etcd
    internal import CoreAPI
    internal import GRPCCore
    internal import GRPCNIOTransportHTTP2Posix
    internal import NIOCore
    internal import NIOSSL
    internal import Platform
    internal import Synchronization

    /// A connection to one member of a cluster.
    final class Member: Sendable {
        typealias Connection = GRPCClient<HTTP2ClientTransport.Posix>

        /// The index of its endpoint.
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
                        // Another member is tried soon if this one is unreachable; no request waits for minutes.
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

    /// Records why a TLS connection could not be set up, because the transport reports only that the connection was
    /// closed.
    final class SecurityNote: Sendable {
        private let content = Mutex<String?>(nil)

        /// The last error; nil for none.
        var cause: String? { content.withLock { $0 } }

        /// A handler that records the errors of a connection, placed after the TLS handler.
        var handler: any ChannelInboundHandler { Handler(note: self) }

        private final class Handler: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer

            private let note: SecurityNote
            /// True after the member has sent data, which proves that it accepts this client. The handshake is no such
            /// proof: a member verifies the client's certificate after the client has completed its part.
            private var isSecured = false

            init(note: SecurityNote) {
                self.note = note
            }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                if !isSecured {
                    isSecured = true
                    note.content.withLock { $0 = nil }
                }
                context.fireChannelRead(data)
            }

            func errorCaught(context: ChannelHandlerContext, error: any Error) {
                // Only before the connection is secured. An error after that has another cause, such as the end of the
                // member.
                if !isSecured { note.content.withLock { $0 = "\(error)" } }
                context.fireErrorCaught(error)
            }
        }
    }

    /// Answers a member's pings before the HTTP/2 library counts them.
    ///
    /// A member sends a ping with each answer, to measure the line. The library treats 200 of them in 30 s as an
    /// attack, and closes the connection; the transport provides no setting for that. All other frames pass unchanged.
    final class PingAnswers: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private static let headerByteCount = 9
        private static let pingByteCount = 17
        private static let ping: UInt8 = 6
        private static let acknowledged: UInt8 = 1

        private var received = ByteBuffer()
        /// The number of bytes of the present frame that have not arrived yet and are passed on unchanged.
        private var rest = 0

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            received.writeBuffer(&bytes)
            var kept = context.channel.allocator.buffer(capacity: received.readableBytes)
            while received.readableBytes > 0 {
                if rest > 0 {
                    guard var part = received.readSlice(length: min(rest, received.readableBytes)) else { break }
                    rest -= part.readableBytes
                    kept.writeBuffer(&part)
                    continue
                }
                let start = received.readerIndex
                guard let high = received.getInteger(at: start, as: UInt8.self),
                    let low = received.getInteger(at: start + 1, as: UInt16.self),
                    let type = received.getInteger(at: start + 3, as: UInt8.self),
                    let flags = received.getInteger(at: start + 4, as: UInt8.self),
                    received.readableBytes >= Self.headerByteCount
                else { break }
                if type == Self.ping, flags & Self.acknowledged == 0, high == 0, low == 8 {
                    guard var answer = received.readSlice(length: Self.pingByteCount) else { break }
                    answer.setInteger(flags | Self.acknowledged, at: answer.readerIndex + 4)
                    // Whole frames are written on this event loop, so the answer is sent between two frames.
                    context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
                } else if var header = received.readSlice(length: Self.headerByteCount) {
                    rest = Int(high) << 16 | Int(low)
                    kept.writeBuffer(&header)
                }
            }
            received.discardReadBytes()
            if kept.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(kept)) }
        }
    }
#endif
