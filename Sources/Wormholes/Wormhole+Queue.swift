internal import CoreAPI
public import Mailboxes
internal import WormholeFormat

extension Wormhole {
    /// Puts a message at the end of a queue.
    ///
    /// - Returns: The receipt, which names the messages that were dropped for it.
    /// - Throws: ``WormholeError/Code/encodingFailed``, or ``WormholeError/Code/store``: for a full queue that refuses,
    ///   with the cause ``/CoreAPI/SharedCoreError/Code/limitExceeded``.
    @discardableResult
    public func send<Message>(
        _ message: Message, to id: QueueID<Message>
    ) async throws(WormholeError) -> SendReceipt {
        let envelope = try id.type.envelope(of: message)
        return try await inStore { () async throws(SharedCoreError) in
            try await mailbox(of: id).send(envelope.bytes)
        }
    }

    /// Returns the bytes that a message takes in its queue: its own and those of its envelope.
    package func byteCount<Message>(
        of message: Message, in id: QueueID<Message>
    ) throws(WormholeError) -> Int { try id.type.envelope(of: message).bytes.count }

    /// Returns the messages in a queue, the oldest first, including taken ones. Takes nothing.
    public func read<Message>(
        _ id: QueueID<Message>
    ) async throws(WormholeError) -> [Result<MailboxMessage<Message>, DecodingFailure>] {
        let contents = try await inStore { () async throws(SharedCoreError) in try await mailbox(of: id).contents() }
        return contents.inOrder.map { entry in
            id.type.message(in: entry.value).map {
                MailboxMessage($0, revision: entry.creationRevision, origin: entry.origin)
            }
        }
    }

    /// Takes the oldest message that no consumer has taken; returns nil if there is none.
    public func take<Message>(from id: QueueID<Message>) async throws(WormholeError) -> QueuedMessage<Message>? {
        try await inStore { () async throws(SharedCoreError) in
            let mailbox = try mailbox(of: id)
            guard let delivery = try await mailbox.take() else { return nil }
            return QueuedMessage(delivery, of: mailbox, as: id.type)
        }
    }

    /// Returns a sequence that takes the messages of a queue, and waits while there is none. Several consumers share
    /// the messages of a queue, each message is acknowledged once, and a message taken by a consumer with an ended
    /// session goes to another.
    ///
    /// A message that is sent after this call has returned wakes a waiting consumer.
    public func consume<Message>(
        _ id: QueueID<Message>
    ) async throws(WormholeError) -> QueuedMessages<Message> {
        try await inStore { () async throws(SharedCoreError) in
            let mailbox = try mailbox(of: id)
            return QueuedMessages(try await mailbox.deliveries(), of: mailbox, as: id.type)
        }
    }

    /// Removes all messages of a queue, including taken ones. Listeners receive an event.
    ///
    /// - Returns: Whether there was any.
    @discardableResult
    public func clear<Message>(_ id: QueueID<Message>) async throws(WormholeError) -> Bool {
        try await inStore { () async throws(SharedCoreError) in try await clear(try place(of: id)) }
    }

    func clear(_ place: QueuePlace) async throws(SharedCoreError) -> Bool {
        let mailbox = try place.mailbox(in: group, options: QueueOptions())
        while let (_, message) = try await mailbox.contents().oldest {
            // Messages that were sent since the read are removed as well; listeners get no event if all of them are
            // removed already.
            var transaction = Transaction(guards: [.exists(message.key)])
            transaction.deleteAll(under: mailbox.keys.prefix)
            transaction.put(place.cleared, [])
            transaction.post(place.announcement)
            do throws(SharedCoreError) {
                _ = try await group.commit(transaction)
                return true
            } catch {
                guard error.guardFailure != nil else { throw error }
            }
        }
        return false
    }

    private func mailbox<Message>(of id: QueueID<Message>) throws(SharedCoreError) -> QueueMailbox {
        try place(of: id).mailbox(in: group, options: id.options)
    }
}

/// The keys of a queue in the store: the items of its ``QueueMailbox``, and the record of each clearing.
struct QueuePlace: Hashable, Sendable {
    let path: String
    let keys: QueueKeys
    let cleared: Key
    /// Posted by each send and each clearing, in the same commit.
    let announcement: NotificationName

    init(path: String) throws(SharedCoreError) {
        self.path = path
        keys = try QueueKeys(path: path)
        cleared = try Key(path + "/%cleared")
        announcement = try NotificationName(path)
    }

    func mailbox(in store: any SharedStore, options: QueueOptions) throws(SharedCoreError) -> QueueMailbox {
        try QueueMailbox(store, path: path, options: options, announcing: announcement)
    }
}
