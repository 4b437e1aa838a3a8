internal import CZMQ
internal import Synchronization

/// What becomes of the connection of a socket, as the library reports it.
struct ConnectionEvents {
    enum Event: Hashable {
        /// The system has made the connection. The other side may not know of it yet.
        case connected
        /// The other side may be talked to.
        case ready
        /// The other side has refused this one's keys.
        case refused
        /// The two sides do not understand each other, as when one wants keys and the other has none.
        case misunderstood
        case lost
    }

    let socket: Socket
    private let observed: Socket

    private static let count = Atomic<UInt64>(0)

    /// Begins to report on a socket. Belongs to the same actor, and is used by whoever acts for it, one at a time.
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
            // The library's thread waits where its reports find no room.
            try socket.set(.receiveLimit, 0)
            try socket.connect()
        } catch {
            observed.stopMonitor()
            throw error
        }
    }

    /// Reports no longer.
    func close() {
        observed.stopMonitor()
        socket.close()
    }

    /// The next event; nil when there is none.
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
