internal import CZMQ
internal import CoreAPI
internal import Glibc

/// One endpoint of a hub: the socket of the requests and that of the stream.
struct Door {
    let endpoint: HubEndpoint
    let requests: Socket
    let stream: Socket
    /// The port of the stream, when the system chose it.
    let streamPort: UInt16?

    /// How many messages wait for one client before more are dropped, which it notices.
    private static let queueLimit = 1_000

    /// Begins to listen. What was bound there by a hub that is gone is taken over.
    ///
    /// - Parameter domain: The domain in which the authenticator knows this hub's clients; nil without keys.
    init(_ endpoint: HubEndpoint, keys: CurveHubKeys?, domain: String?) throws(MessagingError) {
        requests = try Socket(.router, for: endpoint.bindable.description)
        stream = try Socket(.publisher, for: endpoint.bindable.stream().description)
        for socket in [requests, stream] {
            try socket.set(.sendLimit, Self.queueLimit)
            try socket.set(.receiveLimit, Self.queueLimit)
            try socket.set(.handshakeInterval, 5_000)
            try socket.set(.backlog, 1_024)
            if case .tcp = endpoint {
                try socket.set(.bothAddressFamilies, 1)
                try socket.set(.heartbeatInterval, 5_000)
                try socket.set(.heartbeatTimeout, 15_000)
                if let keys, let domain {
                    try socket.set(.domain, domain.utf8)
                    try socket.set(.curveServer, 1)
                    try socket.set(.curveSecretKey, keys.own.secretKey.utf8)
                }
            }
        }
        try requests.set(.messageByteLimit, Wire.requestByteLimit)
        // An answer that cannot be queued is reported instead of dropped in silence.
        try requests.set(.knownPeersOnly, 1)
        // Subscribers only send their subscriptions, which are short, and their part of the handshake. Each subscription is
        // seen, also the second of its kind.
        try stream.set(.messageByteLimit, 4_096)
        try stream.set(.verboseSubscriptions, 1)
        try Self.bind(requests)
        try Self.bind(stream)
        guard case .tcp(let host, 0) = endpoint else {
            self.endpoint = endpoint
            streamPort = nil
            return
        }
        let port = Self.port(of: try requests.boundEndpoint())
        self.endpoint = .tcp(host: host, port: port)
        streamPort = Self.port(of: try stream.boundEndpoint())
    }

    /// How often and how soon a place is asked for again that is taken: a socket of this process that was closed gives it
    /// back a little later.
    private static let bindAttempts = 25
    private static let bindPause: UInt32 = 20_000

    private static func bind(_ socket: Socket) throws(MessagingError) {
        for _ in 1..<bindAttempts {
            do throws(MessagingError) {
                return try socket.bind()
            } catch {
                guard error.number == EADDRINUSE else { throw error }
                usleep(bindPause)
            }
        }
        try socket.bind()
    }

    func close() {
        requests.close()
        stream.close()
    }

    private static func port(of endpoint: String) -> UInt16 {
        endpoint.lastIndex(of: ":").flatMap { UInt16(endpoint[endpoint.index(after: $0)...]) } ?? 0
    }
}
