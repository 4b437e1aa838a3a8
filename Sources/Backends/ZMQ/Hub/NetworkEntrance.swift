internal import CoreAPI
internal import Platform
internal import Synchronization

/// The listener for requests over a network: the relay leads each connection to a socket of its own. It belongs to the
/// hub's actor.
final class NetworkEntrance {
    /// A connection and its socket.
    private final class Line {
        let connection: RelayedConnection
        let socket: Socket
        /// The number of bytes sent by the time at which all queued answers are sent. The other end has not received
        /// the bytes beyond ``RelayedConnection/sent`` yet.
        var sentByteCount = 0
        /// The name with which the authenticator has admitted the connection; nil before its first message.
        var user: String?

        init(_ connection: RelayedConnection, _ socket: Socket) {
            self.connection = connection
            self.socket = socket
        }

        var waitingByteCount: Int { sentByteCount - connection.sent.load(ordering: .sequentiallyConsistent) }
    }

    private static let handshakeMilliseconds = 2_000

    let stream: Socket
    private let relay: Relay
    /// The bytes of answers that may wait for one client. Beyond them, its requests are not read, and requests that
    /// were read already are dropped, which the client notices.
    private let answerByteLimit: Int
    private var lines: [[UInt8]: Line] = [:]
    /// The order of their turns.
    private var names: [[UInt8]] = []
    private var lastTurn = 0
    private var isWanted = true

    var port: UInt16 { relay.requestPort }
    var streamPort: UInt16 { relay.streamPort }

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - domain: The domain in which the authenticator knows this hub's clients; also the local name of its sockets.
    ///   - act: Runs a closure on the hub's actor.
    init(
        host: String, port: UInt16, keys: CurveHubKeys, domain: String, times: ConnectionTimes, memory: ClientMemory,
        act: @escaping @Sendable (@escaping @Sendable (isolated HubService) -> Void) -> Void,
        at hubListener: Int
    ) throws(MessagingError) {
        answerByteLimit = memory.answerByteCount
        let streamName = "@\(domain)-\(hubListener)-news"
        stream = try Self.socket(.publisher, named: streamName, keys, domain, times)
        try HubEndpointListener.prepareStream(stream, updateCount: memory.updateCount)
        try HubEndpointListener.bind(stream)
        let lineCount = Relay.LineCount()
        let handlers = Relay.Handlers(
            open: { connection in
                guard connection.channel == .requests else { return streamName }
                // A random name: another program could bind a predictable one first.
                let name = "@sharedcore-\(UInt64.random(in: 0 ... .max))-\(UInt64.random(in: 0 ... .max))"
                let socket = try Self.socket(.dealer, named: name, keys, domain, times)
                try socket.set(.sendLimit, HubEndpointListener.queueLimit)
                try socket.set(.receiveLimit, Wire.windowCount)
                try socket.set(.messageByteLimit, Wire.requestByteLimit)
                try socket.bind()
                let handover = SocketHandover(socket: socket)
                act { $0.lineOpened(connection, handover.socket, at: hubListener) }
                return name
            },
            drained: { connection in act { $0.lineDrained(connection, at: hubListener) } },
            closed: { connection in
                act {
                    $0.lineClosed(connection, at: hubListener)
                    lineCount.add(-1)
                }
            }, lineCount: lineCount)
        relay = try HubEndpointListener.taking { () throws(MessagingError) in
            do throws(SystemCallError) {
                return try Relay(host: host, port: port, times: times, handlers: handlers)
            } catch {
                throw MessagingError(error.call, number: error.number, at: "tcp://\(host):\(port)")
            }
        }
    }

    private static func socket(
        _ role: Socket.Role, named name: String, _ keys: CurveHubKeys, _ domain: String,
        _ times: ConnectionTimes
    ) throws(MessagingError) -> Socket {
        let socket = try Socket(role, for: "ipc://\(name)")
        try socket.set(.onlyUser, Int(FileStatus.currentUser))
        try socket.set(.backlog, 1_024)
        try socket.set(.handshakeInterval, handshakeMilliseconds)
        try times.set(on: socket)
        try socket.set(.linger, HubEndpointListener.lingerMilliseconds)
        try socket.set(.domain, domain.utf8)
        try socket.set(.curveServer, 1)
        try socket.set(.curveSecretKey, keys.own.secretKey.utf8)
        return socket
    }

    /// Begins to accept connections.
    func begin() throws(MessagingError) {
        do throws(SystemCallError) {
            try relay.start()
        } catch {
            throw MessagingError(error.call, number: error.number, at: stream.endpoint)
        }
    }

    /// Cuts all connections, since only these keys are allowed from now on. Allowed clients reconnect by themselves.
    func cut(for keys: Set<String>) { relay.cut(for: keys) }

    func close() {
        relay.stop()
        for line in lines.values { line.socket.close() }
        (lines, names) = ([:], [])
    }

    /// Returns the hub's name for a connection.
    static func name(of connection: RelayedConnection) -> [UInt8] {
        withUnsafeBytes(of: connection.number.bigEndian) { Array($0) }
    }

    // MARK: - Connections

    func add(_ connection: RelayedConnection, _ socket: Socket) {
        let name = Self.name(of: connection)
        lines[name] = Line(connection, socket)
        names.append(name)
    }

    /// Closes the socket of a connection that is over.
    ///
    /// - Returns: The socket; nil when there was none.
    func remove(_ connection: RelayedConnection) -> Socket? {
        let name = Self.name(of: connection)
        guard let line = lines.removeValue(forKey: name) else { return nil }
        names.removeAll { $0 == name }
        line.socket.close()
        return line.socket
    }

    /// Marks a connection as a client's: it may send what clients send.
    func admit(_ name: [UInt8]) {
        guard let line = lines[name] else { return }
        let connection = line.connection
        connection.isMember.store(true, ordering: .releasing)
        if let user = line.user { relay.remember(user, of: connection) }
        relay.resume(connection)
    }

    // MARK: - Messages

    /// Takes the next request, with the connection's name as its first frame, from the connections in turn.
    func next() -> IncomingMessage? {
        for _ in names.indices {
            lastTurn = (lastTurn + 1) % names.count
            let name = names[lastTurn]
            guard let line = lines[name] else { continue }
            look(at: line)
            guard line.socket.isWanted,
                var message = line.socket.next(upTo: 2, peer: { _ in line.user == nil })
            else { continue }
            if let user = message.peer.user { line.user = user }
            message.frames.insert(name, at: 0)
            line.connection.take(message.byteCount)
            message.peer = PeerAddress(text: line.connection.address, user: line.user)
            return message
        }
        return nil
    }

    func want(_ isWanted: Bool) {
        guard self.isWanted != isWanted else { return }
        self.isWanted = isWanted
        for line in lines.values { look(at: line) }
    }

    /// Counts bytes of a connection that are kept until the hub has completed them.
    func hold(_ byteCount: Int, of name: [UInt8]) {
        _ = lines[name]?.connection.hold(byteCount)
    }

    /// Releases bytes that the hub has completed.
    func release(_ byteCount: Int, of name: [UInt8]) {
        guard let connection = lines[name]?.connection else { return }
        if connection.hold(-byteCount) { relay.resume(connection) }
    }

    func isThere(_ name: [UInt8]) -> Bool { lines[name] != nil }

    /// Returns whether a connection has data that was not read yet.
    func hasUnread(_ name: [UInt8]) -> Bool {
        guard let line = lines[name] else { return false }
        return line.socket.hasInput() || line.connection.hasUnread
    }

    /// Returns whether an answer could be queued: the connection exists, and has received enough of the earlier ones.
    func takesAnswers(_ name: [UInt8]) -> Bool {
        lines[name].map { $0.waitingByteCount < answerByteLimit } ?? false
    }

    /// Returns the bytes of answers that a connection may not have received.
    func waitingByteCount(for connection: RelayedConnection) -> Int {
        lines[Self.name(of: connection)]?.waitingByteCount ?? 0
    }

    /// Handles that the other end has received more of the waiting answers.
    func drained(_ connection: RelayedConnection) {
        if let line = lines[Self.name(of: connection)] { look(at: line) }
    }

    /// Sets whether requests of a connection are read.
    private func look(at line: Line) {
        var isHeldBack = false
        if line.waitingByteCount >= answerByteLimit {
            line.connection.isHeldBack.store(true, ordering: .sequentiallyConsistent)
            // Compute it again, because the other end may have received enough just before the flag was set.
            isHeldBack = line.waitingByteCount >= answerByteLimit
        }
        line.socket.isWanted = isWanted && !isHeldBack
    }

    func send(_ frame: OutgoingFrame, to name: [UInt8]) -> Bool {
        guard let line = lines[name] else { return false }
        // Data that the library sends beside answers counts as received as well.
        let taken = line.connection.sent.load(ordering: .sequentiallyConsistent)
        line.sentByteCount = max(line.sentByteCount, taken)
        guard line.sentByteCount - taken < answerByteLimit, line.socket.send(frame) else { return false }
        line.sentByteCount += frame.byteCount
        return true
    }
}
