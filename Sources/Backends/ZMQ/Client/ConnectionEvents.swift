internal import CZMQ
internal import Synchronization

/// The events of a socket's connection, as the library reports them.
struct ConnectionEvents {
    enum Event: Hashable {
        /// The kernel has established the connection. The program at the other end may not have accepted it yet.
        case connected
        /// The handshake is complete: messages can be exchanged.
        case ready
        /// The other end has refused this end's keys.
        case refused
        /// The handshake failed, for example because one end requires keys and the other has none.
        case misunderstood
        case lost
    }

    let socket: Socket
    private let observed: Socket

    private static let count = Atomic<UInt64>(0)

    /// Starts to monitor a socket. Belongs to the same actor, and is used by one thread at a time.
    init(of observed: Socket) throws(MessagingError) {
        let number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
        let address = "inproc://sharedcore-events-\(number)"
        self.observed = observed
        try observed.monitor(
            at: address,
            events: ZMQ_EVENT_CONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
                | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_DISCONNECTED)
        do throws(MessagingError) {
            socket = try Socket(.pair, for: address)
            // A receive limit would block the library's thread as soon as the queue of its reports is full.
            try socket.set(.receiveLimit, 0)
            try socket.connect()
        } catch {
            observed.stopMonitor()
            throw error
        }
    }

    /// Stops monitoring.
    func close() {
        observed.stopMonitor()
        socket.close()
    }

    /// Returns the next event, or nil if none is queued.
    func next() -> Event? {
        while let message = socket.next(upTo: 2) {
            guard let frame = message.frames.first, frame.count >= 2 else { continue }
            switch Int32(frame[0]) | Int32(frame[1]) << 8 {
            case ZMQ_EVENT_CONNECTED: return .connected
            case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: return .ready
            case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: return .refused
            case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL, ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: return .misunderstood
            case ZMQ_EVENT_DISCONNECTED: return .lost
            default: continue
            }
        }
        return nil
    }
}
