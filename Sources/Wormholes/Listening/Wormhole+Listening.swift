public import CoreAPI

/// Sequences. Each of these returns armed: a message sent after the call has returned is delivered. Each of several
/// listeners of one mailbox receives all events.
extension Wormhole {
    /// Starts delivering the events of a mailbox.
    ///
    /// - Parameters:
    ///   - id: The mailbox.
    ///   - replay: Whether the present message comes first.
    ///   - filter: The senders to listen to.
    public func listen<Message>(
        to id: MailboxID<Message>, replay: ReplayPolicy = .none, from filter: OriginFilter = .anyone
    ) async throws(WormholeError) -> MailboxEvents<Message> {
        try await inStore { () async throws(SharedCoreError) in
            try await events(of: LatestSource(place: place(of: id)), as: id.type, replay, filter)
        }
    }

    /// Starts delivering the messages sent to a queue, without taking any: for a listener that follows messages for
    /// other consumers.
    ///
    /// - Parameters:
    ///   - id: The queue.
    ///   - replay: Whether the last, or all, of the present messages come first.
    ///   - filter: The senders to listen to.
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
    /// The last present message, if any.
    case latest
    /// All present messages, the oldest first. For a mailbox that keeps the last message this is the same as
    /// ``latest``.
    case pending
}

/// The senders of the messages that a listener receives.
///
/// Missed messages of all senders count in ``MailboxEvent/lagged(_:)``.
///
/// Source: contract M4.
public enum OriginFilter: Hashable, Sendable {
    /// The messages of all sessions.
    case anyone
    /// The messages of all sessions except the listener's own.
    case others
    /// The messages of one session.
    case only(SessionID)

    func admits(_ origin: SessionID, for own: SessionID) -> Bool {
        switch self {
        case .anyone: true
        case .others: origin != own
        case .only(let session): origin == session
        }
    }
}
