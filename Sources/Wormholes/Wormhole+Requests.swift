internal import CoreAPI
internal import Mailboxes
internal import Synchronization

/// Requests and replies, on queues.
extension Wormhole {
    /// Sends a request, and waits for the reply.
    ///
    /// A participant that joins later, or takes the request after another was killed, can answer it as well, until the
    /// timeout. Work may be done twice, so repeating a request must do no harm.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - id: The kind of request.
    ///   - timeout: The longest wait for the reply. After that the request can no longer be taken.
    /// - Throws: ``WormholeError/Code/timeout``; ``WormholeError/Code/refused`` with the reason;
    ///   ``WormholeError/Code/undecodable`` for a reply that cannot be read here;
    ///   ``WormholeError/Code/encodingFailed``; the errors of the store.
    public func request<Request, Reply>(
        _ request: Request, of id: RequestID<Request, Reply>, timeout: Duration
    ) async throws(WormholeError) -> Reply {
        let path = root.path(of: .replies) + ItemName.numbered(by: group.session.id).text
        let envelope = try id.request.envelope(of: request, replyTo: path)
        let reply = try await inStore { () async throws(SharedCoreError) in
            let key = try Key(path)
            let watch = try await group.watch(KeyPrefix(key), from: .now)
            let isOver = OneWayFlag()
            let timer = Task {
                try await Task.sleep(for: timeout)
                isOver.raise()
                watch.cancel()
            }
            defer { timer.cancel() }
            _ = try await desk(of: id, lifetime: .expiring(after: timeout)).send(envelope.bytes)
            let reply = try await self.reply(at: key, in: watch)
            if reply != nil { try await group.delete(key) }
            if reply == nil, !isOver.isRaised {
                throw Task.isCancelled ? SharedCoreError.cancelled(id.name) : SharedCoreError.closed(id.name)
            }
            return reply
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

    /// Starts taking requests, and waits if there is none. Returns armed.
    public func requests<Request, Reply>(
        of id: RequestID<Request, Reply>
    ) async throws(WormholeError) -> ReceivedRequests<Request, Reply> {
        try await inStore { () async throws(SharedCoreError) in
            let desk = try desk(of: id, lifetime: .persistent)
            return ReceivedRequests(
                try await desk.deliveries(), of: desk, as: id, replyPath: root.path(of: .replies))
        }
    }

    /// Waits for the bytes of a key that did not exist; returns nil if the watch ends before.
    private func reply(at key: Key, in watch: Watch) async throws(SharedCoreError) -> [UInt8]? {
        while let event = try await watch.next() {
            switch event {
            case .changes(let set):
                if let entry = set.changes.first(where: { $0.key == key })?.new { return entry.value }
            case .snapshot(let snapshot), .lagged(let snapshot):
                if let entry = snapshot.entries.first(where: { $0.key == key }) { return entry.value }
            }
        }
        return nil
    }

    private func desk<Request, Reply>(
        of id: RequestID<Request, Reply>, lifetime: Lifetime
    ) throws(SharedCoreError) -> QueueMailbox {
        try QueueMailbox(
            group, path: root.path(of: .requests, id.name), options: QueueOptions(lifetime: lifetime))
    }
}
