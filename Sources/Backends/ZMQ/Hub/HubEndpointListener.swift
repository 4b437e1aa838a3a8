internal import CZMQ
internal import CoreAPI
internal import Platform

/// One listener of a hub: an endpoint at which requests arrive, and the socket of the stream. It belongs to the hub's
/// actor.
final class HubEndpointListener {
    /// How requests arrive.
    private enum Entrance {
        /// One socket for all clients of this machine.
        case shared(Socket)
        /// Over a network: each connection has a socket of its own.
        case relayed(NetworkEntrance)
    }

    let endpoint: HubEndpoint
    let stream: Socket
    /// The port of the stream, when the system chose it.
    let streamPort: UInt16?
    private let entrance: Entrance

    /// How long sent data may take to leave after the socket was closed. With 0, libzmq (4.3.4 and 4.3.5) aborts the
    /// process when a connection fails while its socket is closed and half a message was sent over it:
    /// `session_base_t::clean_pipes`, as in zeromq/libzmq#3442.
    static let lingerMilliseconds = 1_000
    /// How many messages wait for one client. Further ones are dropped, which the client notices.
    static let queueLimit = 1_000

    /// Begins to listen. Takes over a socket that an ended hub has left there.
    init(at endpoint: HubEndpoint) throws(MessagingError) {
        let requests = try Socket(.router, for: endpoint.bindable.description)
        stream = try Socket(.publisher, for: endpoint.bindable.stream().description)
        try Self.prepareStream(stream, updateCount: Self.queueLimit)
        try requests.set(.sendLimit, Self.queueLimit)
        try requests.set(.receiveLimit, Self.queueLimit)
        try requests.set(.messageByteLimit, Wire.requestByteLimit)
        // Makes the library report an answer that it cannot queue, instead of dropping it silently.
        try requests.set(.knownPeersOnly, 1)
        for socket in [requests, stream] {
            try socket.set(.linger, Self.lingerMilliseconds)
            try socket.set(.handshakeInterval, 5_000)
            try socket.set(.backlog, 1_024)
            // The library cuts connections of other users before it reads a byte of them.
            if case .ipc = endpoint { try socket.set(.onlyUser, Int(FileStatus.currentUser)) }
            try Self.bind(socket)
        }
        self.endpoint = endpoint
        streamPort = nil
        entrance = .shared(requests)
    }

    /// Begins to listen at a port of a network.
    init(at endpoint: HubEndpoint, through network: NetworkEntrance) {
        stream = network.stream
        entrance = .relayed(network)
        guard case .tcp(let host, let port) = endpoint, port == 0 else {
            self.endpoint = endpoint
            streamPort = nil
            return
        }
        self.endpoint = .tcp(host: host, port: network.port)
        streamPort = network.streamPort
    }

    /// Begins to accept connections.
    func begin() throws(MessagingError) { try network?.begin() }

    /// The listener for connections over a network; nil for local endpoints.
    var network: NetworkEntrance? { if case .relayed(let network) = entrance { network } else { nil } }

    static func prepareStream(_ stream: Socket, updateCount: Int) throws(MessagingError) {
        try stream.set(.sendLimit, updateCount)
        try stream.set(.receiveLimit, queueLimit)
        // Subscribers only send their subscriptions, which are short, and their part of the handshake, 400 bytes at
        // most. Every subscription is reported, including repeated ones.
        try stream.set(.messageByteLimit, 512)
        try stream.set(.verboseSubscriptions, 1)
    }

    /// The sockets that exist from the beginning.
    var sockets: [Socket] {
        if case .shared(let requests) = entrance { [stream, requests] } else { [stream] }
    }

    /// Takes the next request, with the connection's name as its first frame; nil when none is there.
    func next() -> IncomingMessage? {
        switch entrance {
        case .shared(let requests): requests.next(upTo: 3, peer: { $0.count > 1 && Request.needsPeer($0[1]) })
        case .relayed(let network): network.next()
        }
    }

    /// Sets whether the hub reads requests now, or leaves them in the library's queue.
    func want(_ isWanted: Bool) {
        switch entrance {
        case .shared(let requests): requests.isWanted = isWanted
        case .relayed(let network): network.want(isWanted)
        }
    }

    /// Sends an answer; returns whether it was queued.
    @discardableResult
    func send(_ frame: OutgoingFrame, to connection: [UInt8]) -> Bool {
        switch entrance {
        case .shared(let requests): requests.send(frame, to: connection)
        case .relayed(let network): network.send(frame, to: connection)
        }
    }

    /// How often and how soon binding is tried again while the address is in use: a closed socket of this process frees
    /// it a little later.
    private static let bindAttempts = 25
    private static let bindPause = Duration.milliseconds(20)

    static func bind(_ socket: Socket) throws(MessagingError) {
        try taking { () throws(MessagingError) in try socket.bind() }
    }

    /// Runs `body` until it succeeds, since the address may be in use for a little while.
    static func taking<Value>(_ body: () throws(MessagingError) -> Value) throws(MessagingError) -> Value {
        for _ in 1..<bindAttempts {
            do throws(MessagingError) {
                return try body()
            } catch {
                guard error.number == SystemCallError.Number.addressInUse else { throw error }
                OwnedThread.sleep(for: bindPause)
            }
        }
        return try body()
    }

    func close() {
        stream.close()
        switch entrance {
        case .shared(let requests): requests.close()
        case .relayed(let network): network.close()
        }
    }
}
