public import CoreAPI
internal import WormholeFormat

extension Wormhole {
    /// Puts a message into a mailbox, replacing the one before.
    ///
    /// - Returns: The commit that stored it.
    /// - Throws: ``WormholeError/Code/encodingFailed``, or ``WormholeError/Code/store`` for the errors of
    ///   ``/CoreAPI/SharedStore/commit(_:)``.
    @discardableResult
    public func send<Message>(
        _ message: Message, to id: MailboxID<Message>
    ) async throws(WormholeError) -> Revision {
        let envelope = try id.type.envelope(of: message)
        return try await inStore { () async throws(SharedCoreError) in
            let place = try place(of: id)
            var transaction = Transaction()
            transaction.put(place.value, envelope.bytes, lifetime: id.lifetime)
            transaction.post(place.announcement)
            return try await group.commit(transaction).revision
        }
    }

    /// Returns the message in a mailbox; nil if there is none.
    ///
    /// - Throws: ``WormholeError/Code/undecodable`` when it cannot be read here, or ``WormholeError/Code/store`` for an
    ///   error of the store.
    public func read<Message>(
        _ id: MailboxID<Message>
    ) async throws(WormholeError) -> MailboxMessage<Message>? {
        let entry = try await inStore { () async throws(SharedCoreError) in
            try await group.get(try place(of: id).value)
        }
        guard let entry else { return nil }
        switch id.type.message(in: entry.value) {
        case .success(let value): return MailboxMessage(value, revision: entry.revision, origin: entry.origin)
        case .failure(let problem): throw WormholeError(problem)
        }
    }

    /// Removes the message of a mailbox. Listeners receive an event.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func clear<Message>(_ id: MailboxID<Message>) async throws(WormholeError) -> Bool {
        try await inStore { () async throws(SharedCoreError) in try await clear(try place(of: id)) }
    }

    func clear(_ place: LatestPlace) async throws(SharedCoreError) -> Bool {
        var transaction = Transaction(guards: [.exists(place.value)])
        transaction.delete(place.value)
        transaction.put(place.cleared, [])
        transaction.post(place.announcement)
        do throws(SharedCoreError) {
            _ = try await group.commit(transaction)
            return true
        } catch {
            guard error.guardFailure?.condition == .exists(place.value) else { throw error }
            return false
        }
    }
}

/// The keys of a mailbox of the kind `latest`.
///
/// | key | what |
/// |---|---|
/// | `<path>/value` | the last message |
/// | `<path>/cleared` | written by each clearing |
struct LatestPlace: Hashable, Sendable {
    let prefix: KeyPrefix
    let value: Key
    let cleared: Key
    /// Posted by each send and each clearing, in the same commit.
    let announcement: NotificationName

    init(path: String) throws(SharedCoreError) {
        prefix = try KeyPrefix(path + "/")
        value = try Key(path + "/value")
        cleared = try Key(path + "/cleared")
        announcement = try NotificationName(path)
    }
}
