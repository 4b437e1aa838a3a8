public import CoreAPI
package import Mailboxes

/// The messages that a core received and that participants ask for by call-id.
///
/// It is a queue of the group, ``QueueMailbox``: a message is stored once, taken by one participant, given back when
/// that one's session ends, and acknowledged once. After that the call-id is remembered, so that no call waits for it
/// again and a duplicate from the network is not stored again. Records and what is remembered expire.
///
/// Source: contract C8, C10, C11, C12.
public struct Inbox: Sendable {
    /// How long a record is kept unless configured otherwise.
    public static let defaultLifetime = Duration.seconds(300)
    /// The path that the inbox stands under.
    package static let path = ".sharedcore/inbox"

    package let mailbox: QueueMailbox

    /// The inbox of a group.
    ///
    /// - Parameters:
    ///   - store: The group's store, through this participant's own handle: what it takes lives with its session.
    ///   - lifetime: How long a message, and after its acknowledgement its call-id, is kept. Also over a restart of
    ///     the machine.
    public init(
        _ store: any SharedStore, lifetime: Duration = Inbox.defaultLifetime
    ) throws(SharedCoreError) {
        mailbox = try QueueMailbox(
            store, path: Self.path,
            options: QueueOptions(lifetime: .expiring(after: lifetime), markLifetime: lifetime))
    }

    /// Selects all that changes what ``state(of:consistency:)`` answers for a call-id.
    public func prefix(of callID: CallID) throws(SharedCoreError) -> KeyPrefix {
        try mailbox.keys.prefix(of: ItemName(callID.text))
    }

    /// What there is for a call-id.
    public func state(
        of callID: CallID, consistency: ReadConsistency = .linearizable
    ) async throws(SharedCoreError) -> InboxState {
        try await find(callID, consistency: consistency).state
    }

    /// Returns what there is for a call-id, and which session stored that at which revision: the message, or the mark of one
    /// that has nothing to show.
    ///
    /// - Returns: Where the message is not there, as yet or since it was acknowledged, the author is nil and the revision zero.
    package func find(
        _ callID: CallID, consistency: ReadConsistency = .linearizable
    ) async throws(SharedCoreError) -> (state: InboxState, author: SessionID?, revision: Revision) {
        let item = try await mailbox.item(ItemName(callID.text), consistency: consistency)
        let state = try InboxState(of: item, callID: callID)
        let entry = state == .nothingToShow ? item.mark : item.message
        return (state, entry?.origin, entry?.revision ?? .zero)
    }

    /// A message that waits to be acknowledged.
    package struct Unacknowledged: Sendable {
        package let callID: CallID
        /// The revision at which it was stored.
        package let revision: Revision
        /// Whether a participant has it in hand.
        package let isTaken: Bool
    }

    /// Returns the messages that wait to be acknowledged, the oldest first. One that this version cannot read is left out.
    package func unacknowledged() async throws(SharedCoreError) -> [Unacknowledged] {
        try await mailbox.contents().items.values.compactMap { item -> Unacknowledged? in
            guard let message = item.message, let callID = InboxCoding.callID(of: message) else { return nil }
            return Unacknowledged(callID: callID, revision: message.creationRevision, isTaken: item.take != nil)
        }.sorted { $0.revision < $1.revision }
    }

    /// Returns the bytes of the records of all messages that wait to be acknowledged.
    package func waitingByteCount() async throws(SharedCoreError) -> Int {
        try await mailbox.contents().items.values.reduce(0) { $0 + ($1.message?.value.count ?? 0) }
    }

    /// Forgets call-ids of which nothing is left but that they were acknowledged or had nothing to show, the oldest first, before
    /// their time: a flood of messages would fill the group with them.
    ///
    /// - Parameters:
    ///   - count: How many at most; a transaction has a size.
    ///   - isKept: Whether one is not forgotten, such as one that may be received again.
    /// - Returns: How many.
    package func forgetOldest(
        _ count: Int, keeping isKept: (CallID) -> Bool
    ) async throws(SharedCoreError) -> Int {
        let marks = try await mailbox.contents().items.values.compactMap { item -> Entry? in
            guard item.message == nil, let mark = item.mark, let callID = InboxCoding.callID(of: mark) else {
                return nil
            }
            return isKept(callID) ? nil : mark
        }.sorted { $0.revision < $1.revision }.prefix(count)
        var transaction = Transaction()
        for mark in marks {
            // Another one may have taken its place.
            transaction.require(.revision(mark.key, mark.revision))
            transaction.delete(mark.key)
        }
        if marks.isEmpty { return 0 }
        do throws(SharedCoreError) {
            _ = try await mailbox.store.commit(transaction)
            return marks.count
        } catch {
            guard mailbox.isOutdated(error) else { throw error }
            return 0
        }
    }

    /// Waits until what was found survives what the store promises.
    package func waitUntilDurable(through revision: Revision) async throws(SharedCoreError) {
        try await mailbox.store.waitUntilDurable(through: revision)
    }
}

/// What the inbox has for a call-id.
public enum InboxState: Hashable, Sendable {
    /// Nothing yet: worth waiting for.
    case absent
    /// The message, to be taken by the first participant that asks.
    case stored(InboxMessage)
    /// The message is in the hand of a participant that has not acknowledged it: worth waiting for.
    case taken(by: SessionID)
    /// It was acknowledged, so it need not be shown again.
    case acknowledged
    /// It was received and has nothing to show.
    case nothingToShow

    /// Whether a wait for the call-id is over.
    public var endsWait: Bool {
        switch self {
        case .absent, .taken: false
        case .stored, .acknowledged, .nothingToShow: true
        }
    }

    /// What the entries of one item mean.
    ///
    /// - Throws: ``SharedCoreError/Code/corrupt`` or ``SharedCoreError/Code/incompatible`` for bytes that are no record
    ///   of this version.
    package init(of item: QueueItem, callID: CallID) throws(SharedCoreError) {
        if let entry = item.message {
            let message = try InboxRecord(decoding: entry, for: callID).message
            self = item.take.map { .taken(by: $0.origin) } ?? .stored(message)
        } else if let entry = item.mark {
            switch try InboxMark(decoding: entry, for: callID).reason {
            case .acknowledged: self = .acknowledged
            case .nothingToShow: self = .nothingToShow
            }
        } else {
            self = .absent
        }
    }
}
