internal import CZMQ
internal import CoreAPI
internal import Platform
internal import Synchronization

/// Admits clients by their public keys: answers the library's requests (ZAP, RFC 27 of ZeroMQ) on a thread of its own,
/// for all hubs of the process.
final class Authenticator: Sendable {
    private static let address = "inproc://zeromq.zap.01"
    private static let instance = Mutex<Authenticator?>(nil)

    /// The allowed keys of each hub, by the domain of its sockets.
    private let domains = Mutex<[String: [String: ClientRights]]>([:])

    private init() {}

    /// Returns the authenticator of this process. It answers requests from its first use on.
    static func shared() throws(SharedCoreError) -> Authenticator {
        try instance.withLock { instance throws(SharedCoreError) in
            if let instance { return instance }
            let authenticator = Authenticator()
            let handover = try SharedCoreError.wrapping { () throws(MessagingError) in
                let socket = try Socket(.responder, for: address)
                try socket.bind()
                return SocketHandover(socket: socket)
            }
            try SharedCoreError.wrapping { () throws(SystemCallError) in
                try OwnedThread.start("sc-zap") { authenticator.run(handover.socket) }
            }
            instance = authenticator
            return authenticator
        }
    }

    /// Replaces the allowed keys of a domain.
    ///
    /// - Returns: Whether they have changed.
    func replace(_ keys: [String: ClientRights], in domain: String) -> Bool {
        domains.withLock { domains in
            defer { domains[domain] = keys }
            return domains[domain] != keys
        }
    }

    /// Returns the rights of a key's clients; nil if the key is not allowed.
    func rights(of key: String, in domain: String) -> ClientRights? {
        domains.withLock { $0[domain]?[key] }
    }

    func forget(_ domain: String) {
        domains.withLock { $0[domain] = nil }
    }

    private func run(_ socket: Socket) {
        var items = [zmq_pollitem_t(socket: socket.handle, fd: -1, events: Int16(ZMQ_POLLIN), revents: 0)]
        while true {
            _ = zmq_poll(&items, 1, -1)
            while let question = socket.receive(upTo: 7) { _ = socket.send(answer(question)) }
        }
    }

    /// Answers a request with the frames version, number, domain, address, identity, mechanism, the client's key.
    private func answer(_ question: IncomingMessage) -> [[UInt8]] {
        let frames = question.frames
        func reply(_ status: String, _ text: String, user: String = "") -> [[UInt8]] {
            [
                Array("1.0".utf8), frames.count > 1 ? frames[1] : [], Array(status.utf8), Array(text.utf8),
                Array(user.utf8), [],
            ]
        }
        guard frames.count == 7, frames[0] == Array("1.0".utf8), frames[5] == Array("CURVE".utf8),
            let key = CurveKeyPair.text(of: frames[6])
        else { return reply("400", "Only keys of CURVE are let in.") }
        let domain = String(decoding: frames[2], as: UTF8.self)
        return rights(of: key, in: domain) != nil
            ? reply("200", "OK", user: key)
            : reply("400", "The key is not among those that are let in.")
    }
}
