internal import CoreAPI
internal import Mailboxes
internal import WormholeFormat

/// Requests and replies, on queues.
extension Wormhole {
    /// Sends a request, and waits for the reply.
    ///
    /// Any participant can answer until the timeout, also one that joins later. If a participant is killed while it has
    /// the request, another takes it. The work may then be done twice, so repeating a request must do no harm.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - id: The kind of request.
    ///   - timeout: The longest wait for the reply, above zero. After that the request can no longer be taken.
    /// - Throws: ``WormholeError/Code/timeout``; ``WormholeError/Code/refused`` with the reason;
    ///   ``WormholeError/Code/undecodable`` for a reply that cannot be read here;
    ///   ``WormholeError/Code/encodingFailed``; the errors of the store.
    public func request<Request, Reply>(
        _ request: Request, of id: RequestID<Request, Reply>, timeout: Duration
    ) async throws(WormholeError) -> Reply {
        let exchange = RequestExchange(group, root: root, name: id.name)
        let envelope = try id.request.envelope(of: request, replyTo: exchange.replyPath)
        let reply = try await inStore { () async throws(SharedCoreError) in
            try await exchange.reply(to: envelope, within: timeout)
        }
        guard let reply else { throw WormholeError(.timeout, "“\(id.name)” was not answered within \(timeout).") }
        guard case .failure(let reason)? = Envelope(reply)?.content else {
            switch id.reply.message(in: reply) {
            case .success(let message): return message
            case .failure(let problem): throw WormholeError(problem)
            }
        }
        throw WormholeError(.refused, reason)
    }

    /// Returns the sequence of the requests of a kind, which waits while there is none. Several participants may take
    /// requests of one kind; each request goes to one of them. The sequence is armed when this returns: no request that
    /// is sent later is missed.
    public func requests<Request, Reply>(
        of id: RequestID<Request, Reply>
    ) async throws(WormholeError) -> ReceivedRequests<Request, Reply> {
        try await inStore { () async throws(SharedCoreError) in
            let queue = try RequestExchange(group, root: root, name: id.name).queue()
            return ReceivedRequests(
                try await queue.deliveries(), of: queue, as: id, replyPath: root.path(of: .replies))
        }
    }
}
