internal import CZMQ
internal import CoreAPI
internal import Platform

/// One endpoint of a hub: where its requests arrive, and the socket of the stream. It belongs to the hub's actor.
final class Door {
    /// How requests come in.
    private enum Entrance {
        /// At one socket for all clients of this machine.
        case shared(Socket)
        /// Over a network, where each connection has a socket of its own.
        case relayed(NetworkEntrance)
    }

    let endpoint: HubEndpoint
    let stream: Socket
    /// The port of the stream, when the system chose it.
    let streamPort: UInt16?
    private let entrance: Entrance

    /// How long what was sent to a client may take to leave after the socket was closed. Without any, libzmq (4.3.4 and
    /// 4.3.5) aborts the process when a connection fails while its socket is closed and half a message was sent over it:
    /// `session_base_t::clean_pipes`, as in zeromq/libzmq#3442.
    static let lingerMilliseconds = 1_000
    /// How many messages wait for one client before more are dropped, which it notices.
    static let queueLimit = 1_000

    /// Begins to listen. What was bound there by a hub that is gone is taken over.
    init(at endpoint: HubEndpoint) throws(MessagingError) {
        let requests = try Socket(.router, for: endpoint.bindable.description)
        stream = try Socket(.publisher, for: endpoint.bindable.stream().description)
        try Self.prepareStream(stream, newsCount: Self.queueLimit)
        try requests.set(.sendLimit, Self.queueLimit)
        try requests.set(.receiveLimit, Self.queueLimit)
        try requests.set(.messageByteLimit, Wire.requestByteLimit)
        // An answer that cannot be queued is reported instead of dropped in silence.
        try requests.set(.knownPeersOnly, 1)
        for socket in [requests, stream] {
            try socket.set(.linger, Self.lingerMilliseconds)
            try socket.set(.handshakeInterval, 5_000)
            try socket.set(.backlog, 1_024)
            // Connections of other users are cut before a byte of theirs is read.
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

    /// Takes connections in, from now on.
    func begin() throws(MessagingError) { try network?.begin() }

    /// Where connections over a network come in; nil where none do.
    var network: NetworkEntrance? { if case .relayed(let network) = entrance { network } else { nil } }

    static func prepareStream(_ stream: Socket, newsCount: Int) throws(MessagingError) {
        try stream.set(.sendLimit, newsCount)
        try stream.set(.receiveLimit, queueLimit)
        // Subscribers only send their subscriptions, which are short, and their part of the handshake, 400 bytes at most. Each
        // subscription is seen, also the second of its kind.
        try stream.set(.messageByteLimit, 512)
        try stream.set(.verboseSubscriptions, 1)
    }

    /// The sockets that there are from the beginning.
    var sockets: [Socket] {
        if case .shared(let requests) = entrance { [stream, requests] } else { [stream] }
    }

    /// Takes the next request, with the connection's name in front; nil when none is there.
    func next() -> IncomingMessage? {
        switch entrance {
        case .shared(let requests): requests.next(upTo: 3, peer: { $0.count > 1 && Request.needsPeer($0[1]) })
        case .relayed(let network): network.next()
        }
    }

    /// Requests are to be taken, or left where they are.
    func want(_ isWanted: Bool) {
        switch entrance {
        case .shared(let requests): requests.isWanted = isWanted
        case .relayed(let network): network.want(isWanted)
        }
    }

    /// Sends an answer; tells whether it is on its way.
    @discardableResult
    func send(_ frame: OutgoingFrame, to connection: [UInt8]) -> Bool {
        switch entrance {
        case .shared(let requests): requests.send(frame, to: connection)
        case .relayed(let network): network.send(frame, to: connection)
        }
    }

    /// How often and how soon a place is asked for again that is taken: a socket of this process that was closed gives
    /// it back a little later.
    private static let bindAttempts = 25
    private static let bindPause = Duration.milliseconds(20)

    static func bind(_ socket: Socket) throws(MessagingError) {
        try taking { () throws(MessagingError) in try socket.bind() }
    }

    /// Takes a place, which may be taken for a little while yet.
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
