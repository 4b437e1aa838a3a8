public import CoreAPI
package import Mailboxes

/// The messages that a core received and that participants ask for by their identity.
///
/// It is a queue of the group, ``QueueMailbox``: a message is stored once, taken by one participant, given back when
/// that one's session ends, and acknowledged once. After that the identity is remembered, so that no call waits for it
/// again and a duplicate from the network is not stored again. Records and remembered identities expire.
///
/// Source: contract C8, C10, C11, C12, C20, C21, C22.
public struct Inbox: Sendable {
    /// The default time for which a record is kept.
    public static let defaultLifetime = Duration.seconds(300)
    /// The path of the inbox's keys.
    package static let path = ".sharedcore/inbox"

    package let mailbox: QueueMailbox

    /// Makes the inbox of a group.
    ///
    /// - Parameters:
    ///   - store: The group's store, through this participant's own handle. Takes end with its session.
    ///   - lifetime: How long a message, and after its acknowledgement its call-id, is kept. The time also counts over
    ///     a restart of the machine.
    public init(
        _ store: any SharedStore, lifetime: Duration = Inbox.defaultLifetime
    ) throws(SharedCoreError) {
        mailbox = try QueueMailbox(
            store, path: Self.path,
            options: QueueOptions(lifetime: .expiring(after: lifetime), markLifetime: lifetime), announcing: nil,
            isNested: true)
    }

    /// Returns the prefix of all keys that affect the result of ``state(of:consistency:)-(CallID,_)`` for a call-id,
    /// with any sequence.
    public func prefix(of callID: CallID) throws(SharedCoreError) -> KeyPrefix {
        try mailbox.keys.prefix(of: ItemName(callID.text))
    }

    /// Returns the state of the inbox for a call-id.
    public func state(
        of callID: CallID, consistency: ReadConsistency = .linearizable
    ) async throws(SharedCoreError) -> InboxState {
        try await state(of: MessageID(callID), consistency: consistency)
    }

    /// Returns the state of the inbox for an identity. The result is the oldest matching message that can be taken,
    /// else one that a participant has in hand, else the mark.
    public func state(
        of id: MessageID, consistency: ReadConsistency = .linearizable
    ) async throws(SharedCoreError) -> InboxState {
        try await find(id, consistency: consistency).state
    }

    /// The result of a search of the inbox for an identity.
    package struct Finding: Sendable {
        package let state: InboxState
        /// The identity that was found; the requested one if nothing was found.
        package let id: MessageID
        package let item: QueueItem
        /// The message, or the mark of one that has nothing to show; nil if the message has not come or was
        /// acknowledged.
        private var entry: Entry? { state == .nothingToShow ? item.mark : item.message }
        /// The session that stored the entry.
        package var author: SessionID? { entry?.origin }
        /// The revision of that entry; zero if there is none.
        package var revision: Revision { entry?.revision ?? .zero }
    }

    /// Returns the entry for an identity, and its state as ``state(of:consistency:)`` does.
    package func find(
        _ id: MessageID, consistency: ReadConsistency = .linearizable
    ) async throws(SharedCoreError) -> Finding {
        let contents = try await mailbox.contents(below: prefix(of: id.callID), consistency: consistency)
        let matching = contents.items.filter { MessageID.matches($0.key.parts.sequence, id.sequence) }
        guard let (name, item) = matching.min(by: { Self.comesBefore($0, $1) }) else {
            return Finding(state: .absent, id: id, item: QueueItem())
        }
        let found = try Self.id(of: name, callID: id.callID)
        return Finding(state: try InboxState(of: item, id: found), id: found, item: item)
    }

    /// Returns true if the left item takes precedence over the right one in the result of a search.
    private static func comesBefore(_ left: (ItemName, QueueItem), _ right: (ItemName, QueueItem)) -> Bool {
        func rank(_ item: QueueItem) -> (Int, Revision) {
            if let message = item.message { return (item.take == nil ? 0 : 1, message.creationRevision) }
            return (item.mark == nil ? 3 : 2, item.mark?.revision ?? .zero)
        }
        return (rank(left.1).0, rank(left.1).1, left.0) < (rank(right.1).0, rank(right.1).1, right.0)
    }

    /// Returns the identity of the messages in an item of a call-id.
    private static func id(of item: ItemName, callID: CallID) throws(SharedCoreError) -> MessageID {
        guard let sequence = item.parts.sequence else { return MessageID(callID) }
        guard let id = MessageID(callID, sequence: sequence) else {
            throw SharedCoreError(.corrupt, "A message has an invalid sequence.", at: item.text)
        }
        return id
    }

    /// Returns the message of an item; nil if there is none that this version can read.
    static func message(in item: QueueItem, named name: ItemName) -> InboxMessage? {
        guard let entry = item.message, let callID = InboxCoding.callID(of: entry),
            let id = try? id(of: name, callID: callID)
        else { return nil }
        return try? InboxMessage(entry, of: item, id: id)
    }

    /// A message that waits to be acknowledged.
    package struct Unacknowledged: Sendable {
        package let callID: CallID
        /// The revision at which it was stored.
        package let revision: Revision
        /// The session that has it in hand; nil if it can be taken.
        package let takenBy: SessionID?

        /// True if a participant has it in hand.
        package var isTaken: Bool { takenBy != nil }
    }

    /// Returns the messages that wait to be acknowledged, the oldest first, without those that this version cannot
    /// read.
    package func unacknowledged() async throws(SharedCoreError) -> [Unacknowledged] {
        try await mailbox.contents().items.values.compactMap { item -> Unacknowledged? in
            guard let message = item.message, let callID = InboxCoding.callID(of: message) else { return nil }
            return Unacknowledged(callID: callID, revision: message.creationRevision, takenBy: item.take?.origin)
        }.sorted { $0.revision < $1.revision }
    }

    /// Returns the bytes of the records of all messages that wait to be acknowledged.
    package func waitingByteCount() async throws(SharedCoreError) -> Int {
        try await mailbox.contents().items.values.reduce(0) {
            $0 + ($1.message?.value.count ?? 0) + ($1.details?.value.count ?? 0)
        }
    }

    /// Removes marks before they expire, the oldest first. A mark says that a call-id was acknowledged or had nothing
    /// to show; a flood of messages would fill the group with marks.
    ///
    /// - Parameters:
    ///   - count: The maximum number; the size of a transaction is limited.
    ///   - isKept: Returns true for a call-id whose mark must stay, for example because it may be received again.
    /// - Returns: The number of removed marks.
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
            // The mark may have been replaced since it was read.
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

    /// Returns messages that wait to be acknowledged, the oldest first, whether or not a participant has them in hand.
    /// Messages that this version cannot read are left out.
    ///
    /// ```swift
    /// var page = try await inbox.messages(limit: 50)
    /// while let next = page.next {
    ///     show(page.messages)
    ///     page = try await inbox.messages(after: next, limit: 50)
    /// }
    /// show(page.messages)
    /// ```
    ///
    /// A page shows one revision of the group, and reads the whole inbox for that. Messages that are stored later come
    /// on a later page. An update does not move a message.
    ///
    /// Source: contract C20.
    ///
    /// - Parameters:
    ///   - revision: The end of the previous page, ``InboxPage/next``.
    ///   - limit: How many messages at most; at least 1.
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for a limit below 1; what ``SharedStore/list(_:consistency:)`` throws.
    public func messages(
        after revision: Revision = .zero, limit: Int
    ) async throws(SharedCoreError) -> InboxPage {
        guard limit > 0 else {
            throw SharedCoreError(.invalidArgument, "A page has at least 1 message, not \(limit).", at: mailbox.path)
        }
        let items = try await mailbox.contents().items.compactMap { name, item -> (ItemName, QueueItem, Entry)? in
            guard let message = item.message, message.creationRevision > revision else { return nil }
            return (name, item, message)
        }.sorted { ($0.2.creationRevision, $0.0) < ($1.2.creationRevision, $1.0) }
        var page = InboxPage(messages: [], next: nil)
        for (name, item, entry) in items {
            if page.messages.count == limit {
                page.next = page.messages.last?.storedAt
                break
            }
            guard let message = Self.message(in: item, named: name) else { continue }
            page.messages.append(
                ListedMessage(message: message, storedAt: entry.creationRevision, takenBy: item.take?.origin))
        }
        return page
    }

    /// Waits until the commit of a revision has the durability that the store promises.
    package func waitUntilDurable(through revision: Revision) async throws(SharedCoreError) {
        try await mailbox.store.waitUntilDurable(through: revision)
    }
}

/// The state of the inbox for an identity.
public enum InboxState: Hashable, Sendable {
    /// No message yet.
    case absent
    /// The message. The first participant that asks takes it.
    case stored(InboxMessage)
    /// A participant has the message in hand and has not acknowledged it. A caller should wait, because that
    /// participant may end or give it back.
    case taken(by: SessionID)
    /// It was acknowledged, so it need not be shown again.
    case acknowledged
    /// The message was received and has nothing to show.
    case nothingToShow

    /// True if this state ends a wait for the message.
    public var endsWait: Bool {
        switch self {
        case .absent, .taken: false
        case .stored, .acknowledged, .nothingToShow: true
        }
    }

    /// Makes the state that the entries of one item represent.
    ///
    /// - Throws: ``SharedCoreError/Code/corrupt`` or ``SharedCoreError/Code/incompatible`` for bytes that are no record
    ///   of this version.
    package init(of item: QueueItem, id: MessageID) throws(SharedCoreError) {
        if let entry = item.message {
            let message = try InboxMessage(entry, of: item, id: id)
            self = item.take.map { .taken(by: $0.origin) } ?? .stored(message)
        } else if let entry = item.mark {
            switch try InboxMark(decoding: entry, for: id.callID).reason {
            case .acknowledged: self = .acknowledged
            case .nothingToShow: self = .nothingToShow
            }
        } else {
            self = .absent
        }
    }
}

/// A part of the messages that wait to be acknowledged, from ``Inbox/messages(after:limit:)``.
public struct InboxPage: Hashable, Sendable {
    /// The messages, the oldest first.
    public internal(set) var messages: [ListedMessage]
    /// The revision at which the next page begins; nil when this is the last.
    public internal(set) var next: Revision?
}

/// A message that waits to be acknowledged.
public struct ListedMessage: Hashable, Sendable {
    public let message: InboxMessage
    /// The revision at which the message was first stored. Each message has its own.
    public let storedAt: Revision
    /// The session that has the message in hand; nil if the message can be taken.
    public let takenBy: SessionID?
}
