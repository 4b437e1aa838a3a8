internal import SIPMessages

/// Requests over HTTP, each on a connection of its own: contacts, history and the like.
public actor WebRequests {
    public enum Failure: Error {
        /// There are none in the background.
        case resting
        /// The connection ended before the answer.
        case ended
    }

    private let server: ServerAddress
    private var isResting = true
    /// The requests that wait for an answer; without a connection as long as that is being opened.
    private var pending: [Int: Connection?] = [:]
    private var lastNumber = 0

    public init(server: ServerAddress) {
        self.server = server
    }

    /// Lets requests through, or refuses new ones. Pending requests are finished.
    public func rest(_ isResting: Bool) {
        self.isResting = isResting
    }

    /// Ends the requests that wait for an answer.
    public func failPending() {
        for connection in pending.values { connection?.close() }
        pending = [:]
    }

    public func get(_ path: String) async throws -> String {
        guard !isResting else { throw Failure.resting }
        lastNumber += 1
        let number = lastNumber
        pending[number] = .some(nil)
        defer { pending[number] = nil }
        let connection = try await Connection.open(to: server)
        defer { connection.close() }
        guard pending[number] != nil else { throw Failure.ended }
        pending[number] = connection
        try connection.send(Message("GET \(path) HTTP/1.1", headers: [("Host", server.host)]))
        for await case .message(let message) in connection.events { return message.body }
        throw Failure.ended
    }
}
