internal import CZMQ
internal import Platform

/// A socket of the library. It belongs to an actor, is used by one thread at a time, and is not `Sendable`; closing
/// drops unsent messages.
final class Socket {
    /// The socket types that the hub and its clients use.
    enum Role {
        /// Serves many dealers.
        case router
        /// Sends requests to one router.
        case dealer
        /// Sends to many subscribers, and receives their subscriptions.
        case publisher
        /// Receives from one publisher.
        case subscriber
        /// Connects to one other socket of this process.
        case pair
        /// Receives requests and answers each in turn.
        case responder

        fileprivate var type: Int32 {
            switch self {
            case .router: ZMQ_ROUTER
            case .dealer: ZMQ_DEALER
            case .publisher: ZMQ_XPUB
            case .subscriber: ZMQ_SUB
            case .pair: ZMQ_PAIR
            case .responder: ZMQ_REP
            }
        }
    }

    /// An option that takes a number.
    enum NumberOption {
        case receiveLimit, sendLimit, messageByteLimit, reconnectInterval, reconnectMaximum, handshakeInterval
        case heartbeatInterval, heartbeatTimeout, verboseSubscriptions, onlyWhenConnected, knownPeersOnly, backlog
        /// How long data sent over TCP may remain unacknowledged by the other system, in milliseconds.
        case unconfirmedTimeout
        case curveServer, bothAddressFamilies, onlyUser
        /// How long the library goes on sending after the socket is closed, in milliseconds. The default is 0.
        case linger
    }

    /// An option that takes bytes.
    enum BytesOption {
        case subscribe, unsubscribe, curvePublicKey, curveSecretKey, curveServerKey, domain
    }

    let handle: UnsafeMutableRawPointer
    /// Readable when events may have changed since the library was last queried.
    let descriptor: Int32
    /// The endpoint that is bound or connected, for messages.
    let endpoint: String
    private var isOpen = true
    /// True if the thread reads the socket's messages now. If not, waiting messages do not keep the thread awake.
    var isWanted = true
    /// True if, since the descriptor last signalled a change, the last query of the library found no message and no
    /// other call followed. There is then no message until the next signal.
    private var isDrained = false

    init(_ role: Role, for endpoint: String) throws(MessagingError) {
        handle = try MessagingContext.shared.socket(role.type, for: endpoint)
        self.endpoint = endpoint
        descriptor = Self.number(ZMQ_FD, of: handle)
        var linger: Int32 = 0
        zmq_setsockopt(handle, ZMQ_LINGER, &linger, MemoryLayout<Int32>.size)
    }

    deinit {
        close()
    }

    /// Closes the socket. Idempotent.
    func close() {
        guard isOpen else { return }
        isOpen = false
        zmq_close(handle)
    }

    func set(_ option: NumberOption, _ value: Int) throws(MessagingError) {
        isDrained = false
        if option == .messageByteLimit {
            var wide = Int64(value)
            try check(zmq_setsockopt(handle, ZMQ_MAXMSGSIZE, &wide, MemoryLayout<Int64>.size), "\(option)")
            return
        }
        var narrow = Int32(clamping: value)
        try check(zmq_setsockopt(handle, option.number, &narrow, MemoryLayout<Int32>.size), "\(option)")
    }

    func set(_ option: BytesOption, _ value: some Collection<UInt8>) throws(MessagingError) {
        isDrained = false
        let bytes = Array(value)
        let result = bytes.withUnsafeBytes { zmq_setsockopt(handle, option.number, $0.baseAddress, $0.count) }
        try check(result, "\(option)")
    }

    func bind() throws(MessagingError) {
        isDrained = false
        guard zmq_bind(handle, endpoint) == 0 else { throw MessagingError("zmq_bind", at: endpoint) }
    }

    func connect() throws(MessagingError) {
        isDrained = false
        guard zmq_connect(handle, endpoint) == 0 else { throw MessagingError("zmq_connect", at: endpoint) }
    }

    /// Returns whether a message waits to be received.
    func hasInput() -> Bool {
        guard isOpen, !isDrained else { return false }
        isDrained = Self.number(ZMQ_EVENTS, of: handle) & ZMQ_POLLIN == 0
        return !isDrained
    }

    /// Notes that the descriptor has signalled a change.
    func signal() { isDrained = false }

    /// Takes the next message, as ``receive(upTo:peer:)``, but queries the library only when there may be one. For
    /// callers that poll the descriptor and call ``signal()``.
    func next(upTo frameLimit: Int, peer isWanted: ([[UInt8]]) -> Bool = { _ in false }) -> IncomingMessage? {
        guard !isDrained else { return nil }
        let message = receive(upTo: frameLimit, peer: isWanted)
        isDrained = message == nil
        return message
    }

    private static func number(_ option: Int32, of handle: UnsafeMutableRawPointer) -> Int32 {
        var value: Int32 = 0
        var count = MemoryLayout<Int32>.size
        var result: Int32
        repeat {
            result = zmq_getsockopt(handle, option, &value, &count)
        } while result == -1 && zmq_errno() == SystemCallError.Number.interrupted
        return result == 0 ? value : 0
    }

    /// Reports the events of the connections to a pair socket of this process.
    func monitor(at address: String, events: Int32) throws(MessagingError) {
        guard zmq_socket_monitor(handle, address, events) == 0 else {
            throw MessagingError("zmq_socket_monitor", at: endpoint)
        }
    }

    /// Stops the reports. Must precede closing the pair socket: the library's thread would block forever while
    /// reporting to a closed one.
    func stopMonitor() {
        zmq_socket_monitor(handle, nil, 0)
    }

    /// Sends a message of one or more frames, or nothing of it.
    ///
    /// - Returns: Whether the library has taken it; false when its queue is full or there is no peer.
    func send(_ frames: [[UInt8]]) -> Bool {
        guard isOpen else { return false }
        // A send may consume the change that the descriptor has signalled, so the library must be queried again.
        isDrained = false
        for (index, frame) in frames.enumerated() {
            let flags = ZMQ_DONTWAIT | (index < frames.count - 1 ? ZMQ_SNDMORE : 0)
            var result: Int32
            repeat {
                result = frame.withUnsafeBytes { zmq_send(handle, $0.baseAddress, $0.count, flags) }
            } while result == -1 && zmq_errno() == SystemCallError.Number.interrupted
            // Only the first frame of a message can be refused.
            if result == -1 { return false }
        }
        return true
    }

    /// Sends a message of one frame, or nothing of it; its parts are assembled in the library's memory.
    ///
    /// - Parameter connection: The name of the receiving connection, for a socket that has several.
    /// - Returns: As ``send(_:)``.
    func send(_ frame: OutgoingFrame, to connection: [UInt8]? = nil) -> Bool {
        guard isOpen else { return false }
        isDrained = false
        var message = zmq_msg_t()
        // Allocated before the name is sent, since no step may fail after it.
        guard zmq_msg_init_size(&message, frame.byteCount) == 0 else { return false }
        frame.write(to: UnsafeMutableRawBufferPointer(start: zmq_msg_data(&message), count: frame.byteCount))
        var result: Int32 = 0
        if let connection {
            repeat {
                result = connection.withUnsafeBytes {
                    zmq_send(handle, $0.baseAddress, $0.count, ZMQ_DONTWAIT | ZMQ_SNDMORE)
                }
            } while result == -1 && zmq_errno() == SystemCallError.Number.interrupted
        }
        if result != -1 {
            repeat {
                result = zmq_msg_send(&message, handle, ZMQ_DONTWAIT)
            } while result == -1 && zmq_errno() == SystemCallError.Number.interrupted
        }
        // The library owns a message that it has taken.
        if result == -1 { zmq_msg_close(&message) }
        return result != -1
    }

    /// Takes the next message, of one frame, without copying its bytes. Like ``next(upTo:peer:)`` it queries the
    /// library only when there may be one.
    func nextFrame() -> ReceivedFrame? {
        guard isOpen, !isDrained else { return nil }
        let frame = ReceivedFrame()
        isDrained = !frame.receive(from: handle)
        return isDrained ? nil : frame
    }

    /// Takes the next message; nil when there is none.
    ///
    /// - Parameters:
    ///   - frameLimit: Frames beyond this number are dropped, and the message is marked as too long.
    ///   - isWanted: Returns whether to determine the sender of a message of these frames.
    func receive(upTo frameLimit: Int, peer isWanted: ([[UInt8]]) -> Bool = { _ in false }) -> IncomingMessage? {
        guard isOpen else { return nil }
        var message = IncomingMessage()
        var part = zmq_msg_t()
        var isFirst = true
        repeat {
            zmq_msg_init(&part)
            defer { zmq_msg_close(&part) }
            var result: Int32
            repeat {
                result = zmq_msg_recv(&part, handle, ZMQ_DONTWAIT)
            } while result == -1 && zmq_errno() == SystemCallError.Number.interrupted
            // All frames of a message arrive together, so only the first can be missing.
            if result == -1 { return isFirst ? nil : message }
            isFirst = false
            message.hasMore = zmq_msg_more(&part) != 0
            guard message.frames.count < frameLimit else {
                message.isTooLong = true
                continue
            }
            message.frames.append(
                [UInt8](UnsafeRawBufferPointer(start: zmq_msg_data(&part), count: zmq_msg_size(&part))))
            if !message.hasMore, isWanted(message.frames) { message.peer = PeerAddress(of: &part) }
        } while message.hasMore
        return message
    }

    /// Throws if a call for an option has failed. The option's name is made only for an error: printing an enum case
    /// without a text takes Swift 50 us.
    private func check(_ result: Int32, _ option: @autoclosure () -> String) throws(MessagingError) {
        if result != 0 { throw MessagingError("zmq_setsockopt", at: "\(endpoint) (\(option()))") }
    }
}

extension Socket.NumberOption {
    fileprivate var number: Int32 {
        switch self {
        case .receiveLimit: ZMQ_RCVHWM
        case .sendLimit: ZMQ_SNDHWM
        case .messageByteLimit: ZMQ_MAXMSGSIZE
        case .reconnectInterval: ZMQ_RECONNECT_IVL
        case .reconnectMaximum: ZMQ_RECONNECT_IVL_MAX
        case .handshakeInterval: ZMQ_HANDSHAKE_IVL
        case .heartbeatInterval: ZMQ_HEARTBEAT_IVL
        case .heartbeatTimeout: ZMQ_HEARTBEAT_TIMEOUT
        case .unconfirmedTimeout: ZMQ_TCP_MAXRT
        case .verboseSubscriptions: ZMQ_XPUB_VERBOSE
        case .onlyWhenConnected: ZMQ_IMMEDIATE
        case .knownPeersOnly: ZMQ_ROUTER_MANDATORY
        case .backlog: ZMQ_BACKLOG
        case .curveServer: ZMQ_CURVE_SERVER
        case .bothAddressFamilies: ZMQ_IPV6
        case .onlyUser: ZMQ_IPC_FILTER_UID
        case .linger: ZMQ_LINGER
        }
    }
}

extension Socket.BytesOption {
    fileprivate var number: Int32 {
        switch self {
        case .subscribe: ZMQ_SUBSCRIBE
        case .unsubscribe: ZMQ_UNSUBSCRIBE
        case .curvePublicKey: ZMQ_CURVE_PUBLICKEY
        case .curveSecretKey: ZMQ_CURVE_SECRETKEY
        case .curveServerKey: ZMQ_CURVE_SERVERKEY
        case .domain: ZMQ_ZAP_DOMAIN
        }
    }
}

/// Passes a socket to the thread that uses it from then on. `@unchecked Sendable`: the library allows it, and the
/// thread that created the socket does not use it again.
struct SocketHandover: @unchecked Sendable {
    let socket: Socket
}
