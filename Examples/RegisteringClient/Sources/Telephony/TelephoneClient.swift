public import Coordination
internal import CoreAPI
internal import SIPMessages

/// Speaks SIP with a server over one connection: registers, subscribes, publishes, calls, and receives messages.
///
/// It knows nothing of networks, backgrounds and sleep: ``Telephone`` decides when to do each of these.
public actor TelephoneClient {
    /// Something did not work.
    public enum Failure: Error, Equatable {
        /// No core runs in this process, so it may not connect.
        case noCore
        case notConnected
        case noAnswer(to: String)
        case refused(String)
    }

    /// A message for the user.
    public struct Text: Hashable, Sendable {
        public let id: MessageID
        public let sender: String
        public let body: String
    }

    /// Keeps a text where it outlives this process, and returns true if it had come before.
    typealias Keep = @Sendable (Text) async throws -> Bool

    /// The events that come on the connection by themselves.
    public enum Incoming: Hashable, Sendable {
        /// Something came from the server.
        case traffic
        /// Something lies in the socket, which is kept and not read.
        case unreadData
        /// Another process of the application needs this one, which was at rest.
        case needed
        /// The connection has ended, and no caller here wanted it to, nor was just checking it.
        case ended
    }

    private struct Waiting {
        let request: String
        let continuation: CheckedContinuation<Message, any Error>
    }

    let user: String
    private let server: ServerAddress
    private let patience: Duration
    private let tell: AsyncStream<Incoming>.Continuation
    /// The events that come by themselves.
    public nonisolated let incoming: AsyncStream<Incoming>

    private var connection: Connection?
    private var reading: Task<Void, Never>?
    private var waiting: [Int: Waiting] = [:]
    private var lastNumber = 0
    private var attempts = 0
    /// The number of questions that are put only to see whether the connection stands.
    private var checks = 0
    /// Stores a text where it outlives this process; nil while no core runs here.
    private var keep: Keep?
    private var texts: [Text] = []
    private var notices: [String: String] = [:]

    /// - Parameter patience: How long an answer may stay away.
    public init(user: String, server: ServerAddress, patience: Duration = .seconds(5)) {
        self.user = user
        self.server = server
        self.patience = patience
        (incoming, tell) = AsyncStream.makeStream(of: Incoming.self)
    }

    public var isConnected: Bool { connection != nil }
    /// The last notice of an event subscribed to.
    public func notice(of event: String) -> String? { notices[event] }
    /// The messages for the user that came since the last call.
    public func takeTexts() -> [Text] {
        defer { texts = [] }
        return texts
    }
    /// The address that packets to the server leave from.
    public var localHost: String? { connection?.localHost }

    /// Lets it connect, for a core that starts.
    func open(keeping keep: @escaping Keep) {
        self.keep = keep
    }

    /// Disconnects, and connects no more, for a core that stops.
    func close() {
        keep = nil
        disconnect()
    }

    /// Tells that another process needs this one.
    func tellNeed() {
        tell.yield(.needed)
    }

    /// Connects; nothing to do where the connection still stands.
    public func connect() async throws {
        if await isAnswered() { return }
        // A question that was broken off says nothing of the connection.
        try Task.checkCancellation()
        try await connectAnew()
    }

    /// Makes a new connection, in any state of the old one.
    public func connectAnew() async throws {
        disconnect()
        guard keep != nil else { throw Failure.noCore }
        attempts += 1
        let attempt = attempts
        let new = try await Connection.open(to: server)
        // Another attempt may have begun meanwhile, the core have been stopped, and the caller of this one been cancelled.
        guard attempt == attempts, !Task.isCancelled else {
            new.close()
            throw CancellationError()
        }
        connection = new
        reading = Task {
            for await event in new.events { await hear(event, on: new) }
            let isChecked = checks > 0
            if lose(new), !isChecked { tell.yield(.ended) }
        }
    }

    /// Closes the connection.
    public func disconnect() {
        attempts += 1
        guard let connection else { return }
        connection.close()
        lose(connection)
    }

    /// Returns true if the server answers a question on the connection.
    public func isAnswered() async -> Bool {
        guard connection != nil else { return false }
        checks += 1
        defer { checks -= 1 }
        return (try? await ask("OPTIONS")) != nil
    }

    /// Leaves the server's messages in the socket, or reads them again.
    public func keepUnread(_ isKept: Bool) {
        connection?.keep(isKept)
    }

    /// Sends a request and waits for its answer.
    ///
    /// - Throws: ``Failure``, and `CancellationError` as soon as the task is cancelled.
    @discardableResult
    func ask(_ method: String, headers: [(String, String)] = [], body: String = "") async throws -> Message {
        guard let connection else { throw Failure.notConnected }
        lastNumber += 1
        let number = lastNumber
        let me = "<sip:\(user)@example.org>"
        let request = Message(
            "\(method) sip:example.org SIP/2.0",
            headers: [
                ("Via", "SIP/2.0/TCP \(connection.localHost)"), ("From", me), ("To", me), ("Call-ID", "\(user)"),
                ("CSeq", "\(number) \(method)"),
            ] + headers, body: body)
        try Task.checkCancellation()
        let limit = Task {
            try await Task.sleep(for: patience)
            answer(number, .failure(Failure.noAnswer(to: method)))
        }
        defer { limit.cancel() }
        let response = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting[number] = Waiting(request: method, continuation: continuation)
                do { try connection.send(request) } catch { answer(number, .failure(error)) }
            }
        } onCancel: {
            Task { await answer(number, .failure(CancellationError())) }
        }
        guard response.status == 200 else { throw Failure.refused(response.firstLine) }
        return response
    }

    /// Sends a message that has no answer.
    func say(_ method: String) throws {
        try connection?.send(
            Message("\(method) sip:example.org SIP/2.0", headers: [("CSeq", "\(lastNumber) \(method)")]))
    }

    private func answer(_ number: Int, _ result: Result<Message, any Error>) {
        waiting.removeValue(forKey: number)?.continuation.resume(with: result)
    }

    private func hear(_ event: Connection.Event, on source: Connection) async {
        guard case .message(let message) = event else {
            tell.yield(.unreadData)
            return
        }
        // Only at the end: the observer of `tell` finds all that the message brought.
        defer { tell.yield(.traffic) }
        let number = message["CSeq"].flatMap { Int($0.prefix { $0 != " " }) }
        if message.status != nil {
            if let number { answer(number, .success(message)) }
            return
        }
        switch message.method {
        case "MESSAGE":
            guard await take(message) else { return }
        case "NOTIFY": notices[message["Event"] ?? ""] = message.body
        default: break
        }
        try? source.send(message.response("200 OK"))
    }

    /// Keeps a message for the user.
    ///
    /// - Returns: True if it is kept. Only then it is acknowledged; the server sends it again otherwise.
    private func take(_ message: Message) async -> Bool {
        guard let keep, let callID = message["Call-ID"].flatMap({ CallID($0) }),
            let number = message["CSeq"]?.prefix(while: { $0 != " " }),
            let id = MessageID(callID, sequence: String(number))
        else { return false }
        let text = Text(id: id, sender: message["From"] ?? "", body: message.body)
        guard let hadCome = try? await keep(text) else { return false }
        if !hadCome { texts.append(text) }
        return true
    }

    /// - Returns: True if it was the present connection.
    @discardableResult
    private func lose(_ lost: Connection) -> Bool {
        guard connection === lost else { return false }
        connection = nil
        for number in waiting.keys { answer(number, .failure(Failure.notConnected)) }
        return true
    }
}
