internal import CZMQ

/// A message as received. Its content is untrusted.
struct IncomingMessage {
    var frames: [[UInt8]] = []
    var byteCount: Int { frames.reduce(0) { $0 + $1.count } }
    /// True if frames were dropped because there were too many.
    var isTooLong = false
    /// The sender, according to the library.
    var peer = PeerAddress()
    /// While receiving: true if another frame follows.
    var hasMore = false
}

/// The library's information about the sender of a message.
struct PeerAddress {
    /// The process at the other end of a local connection, according to the kernel.
    struct LocalProcess: Hashable {
        let user: UInt32
        let pid: Int32
    }

    /// The address as text; nil for a peer in this process.
    var text: String?
    /// Nil for a connection that is not local.
    var process: LocalProcess?
    /// The name with which an authenticator has admitted the peer.
    var user: String?

    init() {}

    /// Makes a peer on a network.
    init(text: String, user: String?) {
        self.text = text
        self.user = user
    }

    init(of part: inout zmq_msg_t) {
        text = zmq_msg_gets(&part, "Peer-Address").map { String(cString: $0) }
        user = zmq_msg_gets(&part, "User-Id").map { String(cString: $0) }
        // Local connections: localhost:user:group:process.
        let fields = (text ?? "").split(separator: ":")
        if fields.count == 4, fields[0] == "localhost", let user = UInt32(fields[1]), let pid = Int32(fields[3]) {
            process = LocalProcess(user: user, pid: pid)
        }
    }
}
