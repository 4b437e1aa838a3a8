package import CoreAPI
package import Mailboxes

/// The requests of one name, as bytes. `Wormholes` and the C library build theirs on it.
package struct RequestExchange: Sendable {
    /// The key at which the reply is expected.
    package let replyPath: String
    private let store: any SharedStore
    private let name: String
    private let root: WormholeRoot
    private let sleep: @Sendable (Duration) async throws -> Void

    /// Makes the exchange of the requests with a name. Writes nothing.
    ///
    /// - Parameters:
    ///   - name: Any text.
    ///   - sleep: Waits for the timeout, or throws when the task is cancelled. Only tests change it.
    package init(
        _ store: any SharedStore, root: WormholeRoot, name: String,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.store = store
        self.sleep = sleep
        self.root = root
        self.name = name
        replyPath = root.path(of: .replies) + ItemName.numbered(by: store.session.id).text
    }

    /// Sends a request and waits for the reply.
    ///
    /// - Parameters:
    ///   - envelope: The request, which names ``replyPath``.
    ///   - timeout: How long to wait; above zero.
    /// - Returns: The bytes of the reply; nil at the timeout.
    /// - Throws: ``SharedCoreError/Code/cancelled`` if the task is cancelled, ``SharedCoreError/Code/closed`` if the group is
    ///   closed first, and the errors of the store.
    package func reply(
        to envelope: Envelope, within timeout: Duration
    ) async throws(SharedCoreError) -> [UInt8]? {
        let key = try Key(replyPath)
        let watch = try await store.watch(KeyPrefix(key), from: .now)
        let isOver = OneWayFlag()
        let deleted = Promise<Void>()
        let timer = Task {
            try await sleep(timeout)
            isOver.raise()
            watch.cancel()
            deleted.open()
        }
        defer { timer.cancel() }
        _ = try await queue(lifetime: .expiring(after: timeout)).send(envelope.bytes)
        guard let reply = try await reply(at: key, in: watch) else {
            guard isOver.isRaised else { throw Task.isCancelled ? .cancelled(name) : .closed(name) }
            return nil
        }
        // The caller gets the reply in time also if it cannot be deleted now: the reply expires.
        Task {
            _ = try? await store.delete(key)
            deleted.open()
        }
        await withTaskCancellationHandler {
            await deleted.pass()
        } onCancel: {
            deleted.open()
        }
        return reply
    }

    /// Returns the queue of the requests.
    package func queue(lifetime: Lifetime = .persistent) throws(SharedCoreError) -> QueueMailbox {
        try QueueMailbox(store, path: root.path(of: .requests, name), options: QueueOptions(lifetime: lifetime))
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
}

/// A taken request as bytes, with the key of its reply.
package struct TakenRequest: Sendable {
    /// The lifetime of a reply.
    static let replyLifetime = Duration.seconds(60)
    /// The longest reason of a refusal, in bytes. A reason may quote a text of the requester.
    static let reasonByteCount = 512

    let delivery: QueueDelivery
    let mailbox: QueueMailbox
    /// The key at which the requester waits; nil if it named none, or one outside of the replies.
    let replyKey: Key?

    package init(_ delivery: QueueDelivery, of mailbox: QueueMailbox, replyTo: String?, below path: String) {
        self.delivery = delivery
        self.mailbox = mailbox
        // Any session of the group can write an envelope, so a reply is written only under the path of replies.
        replyKey = replyTo.flatMap { $0.utf8.starts(with: path.utf8) ? try? Key($0) : nil }
    }

    /// Stores the reply and removes the request, in one commit.
    package func answer(_ envelope: Envelope) async throws(SharedCoreError) -> Acknowledgement {
        var transaction = Transaction()
        try mailbox.addAcknowledgement(of: delivery, to: &transaction)
        if let replyKey {
            transaction.put(replyKey, envelope.bytes, lifetime: .expiring(after: Self.replyLifetime))
        }
        do throws(SharedCoreError) {
            return .acknowledged(try await mailbox.store.commit(transaction).revision)
        } catch {
            guard mailbox.isOutdated(error) else { throw error }
            return .superseded
        }
    }

    /// Refuses a request that no program will get. If the refusal fails, gives the request back for another program,
    /// because it would stay taken until the session ends. In a store without space for the refusal, removes the
    /// request without a reply, because it would come back each time, before the requests behind it.
    ///
    /// - Throws: The errors of the store. The request may be given back only later.
    package func dismiss(because reason: String) async throws(SharedCoreError) {
        do throws(SharedCoreError) {
            _ = try await refuse(because: reason)
        } catch {
            let isFull = error.code == .limitExceeded || error.code == .storageFull
            if isFull, (try? await mailbox.acknowledge(delivery)) != nil { throw error }
            // A separate task: the caller must not wait for a store that cannot answer, and may be cancelled.
            Task.detached { [mailbox, delivery] in await mailbox.giveBackPatiently(delivery) }
            throw error
        }
    }

    /// Lets another program take the request. Does nothing for a take that no longer exists.
    package func giveBack() async throws(SharedCoreError) {
        try await mailbox.giveBack(delivery)
    }

    /// Stores a refusal in place of the reply, and removes the request.
    package func refuse(because reason: String) async throws(SharedCoreError) -> Acknowledgement {
        let shown = reason.cut(toByteCount: Self.reasonByteCount)
        return try await answer(Envelope(codec: "", schema: 0, content: .failure(shown)))
    }
}
