public import CoreAPI

/// A mailbox that keeps every message until a consumer has acknowledged it.
///
/// Messages are bytes and wait in the order of their commits, so those of one sender arrive in the order of sending. A
/// consumer *takes* a message, does its work, and *acknowledges* it; until then no other consumer can take it. The take
/// lives with the consumer's session: if its process is killed, the message can be taken again as soon as the group has
/// noticed the end, without a timer.
///
/// ```swift
/// let outbox = try QueueMailbox(store, path: "outbox")
/// try await outbox.send(Array("hello".utf8))
///
/// if let delivery = try await outbox.take() {
///     show(delivery.bytes)
///     try await outbox.acknowledge(delivery)
/// }
/// ```
///
/// If a consumer is killed between its work and its acknowledgement, the next consumer does the same work again:
/// messages are delivered at least once and acknowledged exactly once.
///
/// Source: contract M1, M2, M6.
public struct QueueMailbox: Sendable {
    /// The store that contains the messages.
    public let store: any SharedStore
    /// How messages are kept.
    public let options: QueueOptions
    let announcement: NotificationName?
    package let keys: QueueKeys

    /// Makes the queue at a path of a store. Nothing is created until the first message is sent.
    ///
    /// - Parameters:
    ///   - store: The group's store, through this participant's own handle: takes live with its session.
    ///   - path: 1 to 253 bytes without a `/` at the end. Nothing else may be kept under it.
    ///   - options: How messages are kept.
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for an invalid path or capacity.
    public init(
        _ store: any SharedStore, path: String, options: QueueOptions = QueueOptions()
    ) throws(SharedCoreError) {
        try self.init(store, path: path, options: options, announcing: nil)
    }

    /// Makes the queue at a path of a store, for the modules that build on queues.
    ///
    /// - Parameters:
    ///   - announcement: The name that every send posts in its own commit, so that a lagging listener can count
    ///     the messages it missed.
    ///   - isNested: Whether the key of an item may be below the key of another one.
    package init(
        _ store: any SharedStore, path: String, options: QueueOptions, announcing announcement: NotificationName?,
        isNested: Bool = false
    ) throws(SharedCoreError) {
        if let capacity = options.capacity, capacity < 1 {
            throw SharedCoreError(.invalidArgument, "A mailbox holds at least 1 message, not \(capacity).", at: path)
        }
        self.store = store
        self.options = options
        self.announcement = announcement
        self.keys = try QueueKeys(path: path, isNested: isNested)
    }

    /// The path of the messages.
    public var path: String { keys.path }

    /// Returns the number of messages.
    public func count() async throws(SharedCoreError) -> QueueCount {
        let contents = try await contents()
        return QueueCount(waiting: contents.waiting.count, taken: contents.taken.count)
    }

    package func contents() async throws(SharedCoreError) -> QueueContents {
        try await contents(below: keys.prefix)
    }

    /// Returns the contents of the queue below a prefix, at one revision.
    package func contents(
        below prefix: KeyPrefix, consistency: ReadConsistency = .linearizable
    ) async throws(SharedCoreError) -> QueueContents {
        QueueContents(of: try await store.list(prefix, consistency: consistency).entries, at: keys)
    }

    /// Returns whether an error means that the queue changed between a read and the commit that relied on it. Any other
    /// failed guard, such as an owner's epoch that the store adds, belongs to the caller.
    package func isOutdated(_ error: SharedCoreError) -> Bool {
        guard let failure = error.guardFailure else { return false }
        return keys.prefix.contains(failure.condition.key)
    }
}

extension QueueMailbox {
    /// Returns a sequence that takes messages, and waits while there is none.
    ///
    /// A message that is sent after this call has returned wakes a waiting consumer.
    public func deliveries() async throws(SharedCoreError) -> QueueDeliveries {
        QueueDeliveries(of: self, watch: try await watch(from: .snapshot))
    }

    /// Starts delivering every change of the queue: messages, takes and acknowledgements, as entries of the store.
    public func watch(from start: WatchStart = .snapshot) async throws(SharedCoreError) -> Watch {
        try await store.watch([keys.prefix], from: start)
    }
}

/// How a queue keeps its messages. All users of one queue should use the same options.
public struct QueueOptions: Hashable, Sendable {
    /// The behaviour of a send when the queue is full.
    public enum Overflow: Hashable, Sendable {
        /// The message is refused with ``SharedCoreError/Code/limitExceeded``.
        case refuse
        /// The oldest messages are dropped, first those that no consumer has taken. The receipt names them.
        case dropOldest
    }

    /// The maximum number of kept messages, including taken ones; nil for no limit except the store's.
    public var capacity: Int?
    /// The behaviour of a send when the queue is full.
    public var overflow: Overflow
    /// The time for which an unacknowledged message is kept.
    public var lifetime: Lifetime
    /// The time for which an acknowledged message's name is remembered, so that the same name is not accepted again;
    /// nil for not at all.
    public var markLifetime: Duration?

    public init(
        capacity: Int? = nil, overflow: Overflow = .refuse, lifetime: Lifetime = .persistent,
        markLifetime: Duration? = nil
    ) {
        self.capacity = capacity
        self.overflow = overflow
        self.lifetime = lifetime
        self.markLifetime = markLifetime
    }
}

/// The number of messages in a queue.
public struct QueueCount: Hashable, Sendable {
    /// The messages that can be taken.
    public let waiting: Int
    /// The messages that a consumer has taken.
    public let taken: Int

    /// All messages.
    public var total: Int { waiting + taken }
}

/// The steps of a queue as additions to a transaction with further operations or conditions.
extension QueueMailbox {
    /// Adds the storing of a message under a name. The transaction fails if one of that name is in the queue or is
    /// remembered. The capacity is not checked.
    public func addSend(
        of bytes: [UInt8], as item: ItemName, to transaction: inout Transaction
    ) throws(SharedCoreError) {
        try requireUnknown(item, in: &transaction)
        // Remove a left-over take: it belongs to a message that expired while a consumer had it.
        transaction.delete(try keys.key(of: .take, for: item))
        transaction.put(try keys.key(of: .message, for: item), bytes, lifetime: options.lifetime)
        if let announcement { transaction.post(announcement) }
    }

    /// Adds the record of a name without a message in the queue. The transaction fails if one of that name is in the
    /// queue or is remembered.
    public func addMark(
        _ note: [UInt8], for item: ItemName, to transaction: inout Transaction
    ) throws(SharedCoreError) {
        try requireUnknown(item, in: &transaction)
        transaction.put(try keys.key(of: .mark, for: item), note, lifetime: markLifetime)
    }

    /// Adds the acknowledgement of a message. The transaction fails if the take no longer exists.
    public func addAcknowledgement(
        of delivery: QueueDelivery, leaving note: [UInt8] = [], to transaction: inout Transaction
    ) throws(SharedCoreError) {
        try addGiveBack(of: delivery, to: &transaction)
        transaction.delete(try keys.key(of: .message, for: delivery.item))
        if options.markLifetime != nil {
            transaction.put(try keys.key(of: .mark, for: delivery.item), note, lifetime: markLifetime)
        }
    }

    /// Adds the giving back of a message. The transaction fails if the take no longer exists.
    public func addGiveBack(
        of delivery: QueueDelivery, to transaction: inout Transaction
    ) throws(SharedCoreError) {
        let take = try keys.key(of: .take, for: delivery.item)
        transaction.require(.epoch(take, delivery.epoch))
        transaction.delete(take)
    }

    /// Adds the taking of a message as it was read; the revision of the commit is the epoch of the take. The
    /// transaction fails if the message is removed or taken.
    ///
    /// - Parameter nonce: The bytes that distinguish this take from every other of the same session.
    package func addTake(
        of message: Entry, item: ItemName, nonce: [UInt8] = [], to transaction: inout Transaction
    ) throws(SharedCoreError) {
        let take = try keys.key(of: .take, for: item)
        transaction.require(.revision(message.key, message.revision))
        transaction.require(.absent(take))
        transaction.put(take, nonce, lifetime: .session)
    }

    private var markLifetime: Lifetime { options.markLifetime.map { .expiring(after: $0) } ?? .persistent }

    private func requireUnknown(_ item: ItemName, in transaction: inout Transaction) throws(SharedCoreError) {
        transaction.require(.absent(try keys.key(of: .message, for: item)))
        transaction.require(.absent(try keys.key(of: .mark, for: item)))
    }
}
