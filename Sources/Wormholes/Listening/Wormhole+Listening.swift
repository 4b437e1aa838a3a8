public import CoreAPI

/// Sequences. Each of these returns armed: a message that is sent after the call has returned is delivered. Each of
/// many listeners of one mailbox receives all of it.
extension Wormhole {
    /// Begins to deliver the events of a mailbox.
    ///
    /// - Parameters:
    ///   - id: The mailbox.
    ///   - replay: Whether the present message comes first.
    ///   - filter: The senders whose messages are delivered.
    public func listen<Message>(
        to id: MailboxID<Message>, replay: ReplayPolicy = .none, from filter: OriginFilter = .anyone
    ) async throws(WormholeError) -> MailboxEvents<Message> {
        try await inStore { () async throws(SharedCoreError) in
            try await events(of: LatestSource(place: place(of: id)), as: id.type, replay, filter)
        }
    }

    /// Begins to deliver the messages sent to a queue, without taking anything from it: for a listener that follows
    /// what others consume.
    ///
    /// - Parameters:
    ///   - id: The queue.
    ///   - replay: Whether the last, or all, of the present messages come first.
    ///   - filter: The senders whose messages are delivered.
    public func listen<Message>(
        to id: QueueID<Message>, replay: ReplayPolicy = .none, from filter: OriginFilter = .anyone
    ) async throws(WormholeError) -> MailboxEvents<Message> {
        try await inStore { () async throws(SharedCoreError) in
            try await events(of: QueueSource(place: place(of: id)), as: id.type, replay, filter)
        }
    }

    private func events<Message>(
        of source: any ListeningSource, as type: MessageType<Message>, _ replay: ReplayPolicy, _ filter: OriginFilter
    ) async throws(SharedCoreError) -> MailboxEvents<Message> {
        let reader = try await MailboxReader(source, in: group, replay: replay)
        return MailboxEvents(reader, as: type, from: filter, own: group.session.id)
    }
}

/// The messages that a listener receives first.
///
/// Source: contract M3.
public enum ReplayPolicy: String, Hashable, Sendable, CaseIterable {
    /// Only messages that were sent after it began.
    case none
    /// The last message that stands there, if any.
    case latest
    /// All that stand there, the oldest first. For a mailbox that keeps the last message this is the same as
    /// ``latest``.
    case pending
}

/// The senders of the messages that a listener receives.
///
/// Messages that a listener missed count in ``MailboxEvent/lagged(_:)``, those of all senders.
///
/// Source: contract M4.
public enum OriginFilter: Hashable, Sendable {
    /// The messages of all sessions.
    case anyone
    /// The messages of all sessions but the listener's own.
    case others
    /// Those of one session.
    case only(SessionID)

    func admits(_ origin: SessionID, for own: SessionID) -> Bool {
        switch self {
        case .anyone: true
        case .others: origin != own
        case .only(let session): origin == session
        }
    }
}
