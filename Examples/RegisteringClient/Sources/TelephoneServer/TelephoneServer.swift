internal import Foundation
internal import SIPMessages
internal import Synchronization

/// A toy: a registrar, a presence server and a web server at one port. It answers, keeps registrations and states in
/// memory, and notes every request.
public final class TelephoneServer: Sendable {
    private struct State {
        var listener: StreamSocket?
        var connections: [ObjectIdentifier: StreamSocket] = [:]
        var client: StreamSocket?
        /// The connections to which the way was cut.
        var lost: Set<ObjectIdentifier> = []
        var requests: [String] = []
        var grant = 3600
        var isMute = false
        var refused: String?
        var held: [(StreamSocket, Message)] = []
        var answers = 0
        var accepted = 0
        /// The number of messages that it has sent.
        var texts = 0
    }

    public let host: String
    public let port: UInt16
    private let state: Mutex<State>

    /// Starts to listen.
    public init(host: String = "127.0.0.1") throws {
        let listener = try StreamSocket.listen(at: host, port: 0)
        self.host = host
        port = listener.local.port
        state = Mutex(State(listener: listener))
        accept(at: listener)
    }

    deinit {
        close()
    }

    /// The requests since the last call, in their order, such as `REGISTER` or `SUBSCRIBE dialog`.
    public func takeRequests() -> [String] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    public var requests: [String] { state.withLock { $0.requests } }
    /// The number of its own requests that were answered.
    public var answers: Int { state.withLock { $0.answers } }

    /// The number of connections that were made.
    public var accepted: Int { state.withLock { $0.accepted } }

    /// For how many seconds registrations are valid.
    public func grant(seconds: Int) {
        state.withLock { $0.grant = seconds }
    }

    /// Requests of this method are refused; nil: none.
    public func refuse(_ method: String?) {
        state.withLock { $0.refused = method }
    }

    /// No client gets an answer any more, as behind a router that has forgotten the connection.
    public func setMute(_ isMute: Bool) {
        state.withLock { $0.isMute = isMute }
    }

    /// Sends a message to the registered client.
    public func send(text: String) throws {
        guard let client = state.withLock({ $0.client }) else {
            throw StreamSocket.Failure("nobody is registered", ENOTCONN)
        }
        let number = state.withLock { state in
            state.texts += 1
            return state.texts
        }
        try client.send(
            Message(
                "MESSAGE sip:user SIP/2.0",
                headers: [("From", "<sip:max@example.org>"), ("Call-ID", "text-\(number)"), ("CSeq", "1 MESSAGE")],
                body: text
            ).bytes)
    }

    /// Answers the web requests for `/slow`, which wait for it.
    public func answerSlowRequests() {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for (socket, _) in held { try? socket.send(Message("HTTP/1.1 200 OK", body: "at last").bytes) }
    }

    /// Cuts the network between it and all clients: no client can connect, and none is told.
    public func cut() {
        let listener = state.withLock { state in
            defer {
                state.listener = nil
                state.lost.formUnion(state.connections.keys)
                state.client = nil
                state.held = []
            }
            return state.listener
        }
        listener?.shutDown()
    }

    /// The network is there again, but not the old connections: a client that sends something on them is told then.
    public func heal() throws {
        let listener = try StreamSocket.listen(at: host, port: port)
        state.withLock { $0.listener = listener }
        accept(at: listener)
    }

    /// Closes all connections, and takes new ones.
    public func drop() {
        for connection in state.withLock({ Array($0.connections.values) }) { connection.shutDown() }
    }

    /// Ends, until it is healed.
    public func close() {
        cut()
        drop()
    }

    private func accept(at listener: StreamSocket) {
        Thread.detachNewThread { [weak self] in
            while let socket = listener.accept() {
                guard let self else { return }
                state.withLock { state in
                    state.connections[ObjectIdentifier(socket)] = socket
                    state.accepted += 1
                }
                Thread.detachNewThread { [weak self] in
                    var reader = MessageReader()
                    while case let bytes = socket.receive(), !bytes.isEmpty, let messages = try? reader.read(bytes) {
                        for message in messages { self?.receive(message, from: socket) }
                    }
                    socket.shutDown()
                    self?.state.withLock { state in
                        state.connections[ObjectIdentifier(socket)] = nil
                        state.lost.remove(ObjectIdentifier(socket))
                    }
                }
            }
        }
    }

    private func receive(_ message: Message, from socket: StreamSocket) {
        let (isMute, isRefused, grant) = state.withLock { state in
            if state.lost.contains(ObjectIdentifier(socket)) {
                if state.listener != nil { socket.shutDown() }
                return (true, false, 0)
            }
            if message.status != nil {
                state.answers += 1
            } else if let note = Self.note(message) {
                state.requests.append(note)
            }
            if message.method == "REGISTER" { state.client = socket }
            if message.firstLine.hasPrefix("GET /slow") { state.held.append((socket, message)) }
            return (state.isMute, state.refused == message.method, state.grant)
        }
        guard !isMute, message.status == nil else { return }
        switch message.method {
        case "ACK": break
        case _ where isRefused: try? socket.send(message.response("503 Service Unavailable").bytes)
        case "GET":
            guard !message.firstLine.hasPrefix("GET /slow") else { return }
            try? socket.send(Message("HTTP/1.1 200 OK", body: "Zoe, Max").bytes)
        case "REGISTER":
            try? socket.send(message.response("200 OK", headers: [("Expires", "\(grant)")]).bytes)
        case "SUBSCRIBE":
            try? socket.send(message.response("200 OK").bytes)
            guard let event = message["Event"], message["Expires"] != "0" else { return }
            let notice = Message(
                "NOTIFY sip:user SIP/2.0", headers: [("CSeq", "1 NOTIFY"), ("Event", event)],
                body: "\(event): nothing new")
            try? socket.send(notice.bytes)
        default: try? socket.send(message.response("200 OK").bytes)
        }
    }

    /// Describes a request in two or three words; nil for one that belongs to another request.
    private static func note(_ message: Message) -> String? {
        switch message.method {
        case "ACK", "OPTIONS": nil
        case "SUBSCRIBE":
            (message["Expires"] == "0" ? "UNSUBSCRIBE " : "SUBSCRIBE ") + (message["Event"] ?? "")
        case "PUBLISH": "PUBLISH \(message.body)"
        case "INVITE": "INVITE \(message.body.contains("sendonly") ? "hold" : "talk")"
        case "GET": String(message.firstLine.dropLast(" HTTP/1.1".count))
        default: message.method
        }
    }
}
