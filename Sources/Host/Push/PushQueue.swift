internal import Coordination
internal import CoreAPI
internal import Mailboxes
internal import Platform
internal import SharedCoreConfiguration
internal import Synchronization

/// The pushes of a group. Each waits until an Executor has handled it, or a Main if its type is routed to Main.
///
/// | key | what |
/// |---|---|
/// | `.sharedcore/pushes/...` | the queue of the pushes that wait or are being served |
/// | `.sharedcore/main-pushes/...` | the queue of those that a Main takes (`MainPushQueue`) |
/// | `.sharedcore/push-failures/...` | the queue of those that were given up |
/// | `.sharedcore/push-files/<name>` | that a file of the watched Maildir, or a message of the inbox, has become a push |
struct PushQueue: Sendable {
    /// A push in this host's hand.
    struct Taken: Sendable {
        let delivery: QueueDelivery
        /// Nil when it cannot be read here.
        let record: PushRecord?
    }

    typealias Count = PushCount

    /// The limits of the pushes that are kept.
    struct Capacity: Hashable, Sendable {
        /// The number of pushes that wait or are in hand, including those for Main.
        var count = Int.max
        /// The total size of their records, including those that were given up.
        var byteCount = Int.max
    }

    /// The maximum number of kept pushes that were given up; the oldest are removed.
    static let failureCapacity = 1000

    /// How many bytes of `executor.memory` are reserved for each push, because each Executor has all pushes in its
    /// memory.
    static let memoryOfPush: UInt64 = 8 << 10

    /// The part of `executor.memory` that the records of all pushes may have together. It is needed beside
    /// ``memoryOfPush``, because a record with a large payload takes more than that.
    static let partOfMemory: UInt64 = 6

    /// The part of `executor.memory` for the records, if each Executor has all values in its memory. Measured behind a
    /// hub: a record takes twice its size, and three times while the Executor joins.
    static let residentPartOfMemory: UInt64 = 24

    let group: any SharedStore
    private let capacity: Capacity
    private let routes: PushRoutes
    /// How long a push waits for a Main.
    private let lifetime: Duration
    private let room = PushRoom()
    private let clock: any TimeSource
    let pending: QueueMailbox
    let failed: QueueMailbox
    let forMain: MainPushQueue

    init(
        of group: any SharedStore, capacity: Capacity = Capacity(), routes: PushRoutes = PushRoutes(),
        lifetime: Duration = Inbox.defaultLifetime, failureCapacity: Int = Self.failureCapacity,
        clock: any TimeSource = SystemClock()
    ) throws(SharedCoreError) {
        self.group = group
        self.capacity = capacity
        self.routes = routes
        self.lifetime = lifetime
        self.clock = clock
        pending = try QueueMailbox(group, path: PushCount.pendingPath)
        failed = try QueueMailbox(
            group, path: PushCount.failedPath,
            options: QueueOptions(capacity: failureCapacity, overflow: .dropOldest))
        forMain = try MainPushQueue(group, clock: clock)
    }

    /// Returns the consumer of a push: a Main or an Executor.
    func route(of push: Push) -> PushRoutes.Route { routes[push.type] }

    /// Adds a push to the queue for a Main or for an Executor, by its type. If there is no space, removes the oldest
    /// pushes that were given up, with an entry on the timeline.
    ///
    /// - Throws: `limitExceeded` if the capacity is reached.
    func send(_ push: Push) async throws(SharedCoreError) -> Revision {
        let (mailbox, bytes) = place(of: push)
        try await requireRoom(for: bytes.count)
        return try await mailbox.send(bytes).revision
    }

    /// Returns the queue for a push, and its bytes there.
    func place(of push: Push) -> (mailbox: QueueMailbox, bytes: [UInt8]) {
        switch route(of: push) {
        case .main: (forMain.mailbox, forMain.bytes(of: push, for: lifetime))
        case .executor: (pending, PushRecord(push, at: clock.now(), in: clock.bootID).bytes)
        }
    }

    /// Makes space for a push of `byteCount` bytes: removes the oldest given-up pushes if their bytes suffice.
    ///
    /// Concurrent senders may exceed the capacity slightly: the limit only keeps a flood from filling the store, and an
    /// exact count would make the senders wait for each other.
    ///
    /// - Throws: ``SharedCoreError/Code/limitExceeded`` if there is still no space.
    func requireRoom(for byteCount: Int) async throws(SharedCoreError) {
        guard capacity != Capacity() else { return }
        let start = clock.now()
        if room.mustCount(at: start) { room.counted(try await use(), from: start, to: clock.now()) }
        guard var use = room.take(byteCount, of: capacity) else { return }
        if use.count < capacity.count, byteCount <= capacity.byteCount - (use.byteCount - use.givenUpByteCount) {
            // Count again first: other processes may have removed pushes, and then no given-up push must be removed to
            // make space.
            use = try await self.use()
            let excess = use.byteCount - (capacity.byteCount - byteCount)
            if excess > 0 { use.forget(try await forgetFailures(freeing: excess)) }
            room.counted(use, from: start, to: clock.now())
            guard let found = room.take(byteCount, of: capacity) else { return }
            use = found
        }
        throw SharedCoreError(
            .limitExceeded,
            use.count < capacity.count
                ? "The push is refused: the kept pushes take \(use.byteCount) bytes with their payloads, and executor.memory "
                    + "allows \(capacity.byteCount)."
                : "The push is refused: \(use.count) are kept, and push.capacity is \(capacity.count), or as many fit into "
                    + "executor.memory.",
            at: pending.path)
    }

    /// Counts the pushes, and the bytes of all their records.
    private func use() async throws(SharedCoreError) -> PushRoom.Use {
        var use = PushRoom.Use()
        for keys in [pending.keys, forMain.mailbox.keys, failed.keys] {
            for entry in try await group.list(keys.prefix).entries where keys.place(of: entry.key)?.part == .message {
                if keys == failed.keys { use.addGivenUp(entry.value.count) } else { use.add(entry.value.count) }
            }
        }
        return use
    }

    /// How many pushes an entry of the timeline names.
    private static let namedCount = 3

    /// Removes the oldest pushes that were given up, to make space. Keeps pushes that another process is moving back to
    /// the queue. Removes none if even all of them together would not make enough space.
    ///
    /// - Returns: The number of bytes that their records had.
    private func forgetFailures(freeing byteCount: Int) async throws(SharedCoreError) -> Int {
        var (freed, names) = (0, [String]())
        var transaction = Transaction()
        for (item, message) in try await failed.contents().waiting where freed < byteCount {
            try forget(message, item, in: &transaction)
            freed += message.value.count
            names.append(PushRecord(message.value)?.push.sentence ?? "one that cannot be read here")
        }
        guard freed >= byteCount else { return 0 }
        let more = names.count - Self.namedCount
        try forMain.tell(
            .pushForgotten,
            names.prefix(Self.namedCount).joined(separator: "; ")
                + (more > 0 ? "; and \(more) more" : ""),
            in: &transaction)
        do throws(SharedCoreError) {
            _ = try await group.commit(transaction)
        } catch {
            guard failed.isOutdated(error) else { throw error }
            return 0
        }
        try await forMain.trimTimeline()
        return freed
    }

    /// Deletes a push that was given up, unless another process has it in hand.
    private func forget(
        _ message: Entry, _ item: ItemName, in transaction: inout Transaction
    ) throws(SharedCoreError) {
        transaction.require(.revision(message.key, message.revision))
        transaction.require(.absent(try failed.keys.key(of: .take, for: item)))
        transaction.delete(message.key)
    }

    /// The maximum number of pushes that one transaction drops.
    private static let portionCount = 64

    /// Deletes the given-up pushes of a call-id, except those that another process is moving back to the queue.
    ///
    /// - Parameter note: Adds the entry of the timeline to each transaction.
    /// - Returns: The number of deleted pushes.
    func dropFailures(
        of callID: CallID, noting note: (inout Transaction) throws(SharedCoreError) -> Void
    ) async throws(SharedCoreError) -> Int {
        var count = 0
        while true {
            let found = try await failed.contents().waiting.filter { item in
                PushRecord(item.message.value)?.push.callID == callID
            }
            guard !found.isEmpty else { return count }
            var transaction = Transaction()
            let portion = found.prefix(Self.portionCount)
            for (item, message) in portion { try forget(message, item, in: &transaction) }
            try note(&transaction)
            do throws(SharedCoreError) {
                _ = try await group.commit(transaction)
                count += portion.count
            } catch {
                guard failed.isOutdated(error) else { throw error }
            }
        }
    }

    /// Returns when a push for Main came whose time ends at an instant, by the present lifetime; nil if the lifetime has
    /// changed since then, so that this is not known.
    func start(ofPushUntil end: BootInstant, at now: BootInstant) -> BootInstant? {
        let (start, isEarlier) = end.nanoseconds.subtractingReportingOverflow(lifetime.clampedNanoseconds)
        return isEarlier || start > now.nanoseconds ? nil : BootInstant(nanoseconds: start)
    }

    /// Returns how long ago a push came.
    func age(of record: PushRecord) -> Duration? {
        record.age(at: clock.now(), in: clock.bootID)
    }

    /// Acknowledges a push that was handled.
    func acknowledge(_ taken: Taken) async throws(SharedCoreError) {
        try await pending.acknowledge(taken.delivery)
        room.free(taken.delivery.bytes.count)
    }

    /// Records that an Executor has failed for a push, which stays in hand.
    func note(_ record: PushRecord, for taken: Taken) async throws(SharedCoreError) {
        var transaction = Transaction()
        let keys = pending.keys
        let take = try keys.key(of: .take, for: taken.delivery.item)
        transaction.require(.epoch(take, taken.delivery.epoch))
        // Write the take again in the same transaction, which then counts as coordination and can use reserved space:
        // so a failure is also recorded in a store that is full of content (contract S10).
        transaction.put(take, [], lifetime: .session)
        transaction.put(try keys.key(of: .message, for: taken.delivery.item), record.bytes)
        _ = try await group.commit(transaction)
    }

    /// Moves a push to those that were given up.
    func giveUp(_ bytes: [UInt8], _ taken: Taken) async throws(SharedCoreError) {
        while true {
            var transaction = Transaction()
            _ = try await failed.addJudgedSend(of: bytes, as: taken.delivery.item, to: &transaction)
            try pending.addAcknowledgement(of: taken.delivery, to: &transaction)
            do throws(SharedCoreError) {
                _ = try await group.commit(transaction)
                room.giveUp(taken.delivery.bytes.count)
                return
            } catch {
                guard failed.isOutdated(error) else { throw error }
            }
        }
    }

    /// Moves the pushes that were given up back to the queue, the oldest first, as many as the capacity allows.
    ///
    /// - Returns: The number of moved pushes, and of those that stay given up.
    func retryFailures() async throws(SharedCoreError) -> (count: Int, left: Int) {
        var count = 0
        let room = capacity.count - (try await use().count)
        while count < room, let delivery = try await failed.take() {
            guard let former = PushRecord(delivery.bytes) else {
                // Skip a record of another version, which only that version can read.
                continue
            }
            var transaction = Transaction()
            let (mailbox, bytes) = place(of: former.push)
            try mailbox.addSend(of: bytes, as: ItemName("again \(delivery.epoch)"), to: &transaction)
            try failed.addAcknowledgement(of: delivery, to: &transaction)
            _ = try await group.commit(transaction)
            count += 1
        }
        return (count, try await failed.count().total)
    }

    /// Returns the pushes that were given up, the oldest first; records of another version are left out.
    func givenUp() async throws(SharedCoreError) -> [PushRecord] {
        try await failed.contents().items.values.compactMap(\.message).sorted { $0.revision < $1.revision }
            .compactMap { PushRecord($0.value) }
    }

    func count() async throws(SharedCoreError) -> Count { try await PushCount.current(in: group) }
}

/// An estimate of the pushes that are kept: the last count, and the changes by this process since. If all pushes were
/// counted for each new one, a flood of pushes would become slower with each push.
final class PushRoom: Sendable {
    /// The number of pushes, and the bytes of all their records.
    struct Use: Hashable, Sendable {
        /// The number without those that were given up.
        var count = 0
        /// The size including those that were given up.
        var byteCount = 0
        var givenUpByteCount = 0

        mutating func add(_ byteCount: Int) {
            count += 1
            self.byteCount += byteCount
        }

        mutating func addGivenUp(_ byteCount: Int) {
            self.byteCount += byteCount
            givenUpByteCount += byteCount
        }

        /// Subtracts the bytes of given-up pushes that were removed.
        mutating func forget(_ byteCount: Int) { addGivenUp(-byteCount) }
    }

    private struct State {
        var use = Use()
        var nextCount: BootInstant?
    }

    private let state = Mutex(State())

    /// The minimum time for which a count is used, although other processes change the queue meanwhile.
    private static let interval = Duration.seconds(1)
    /// Counting a long queue takes long. A count is used for this many times as long as it took.
    private static let share = 20

    func mustCount(at now: BootInstant) -> Bool {
        state.withLock { state in state.nextCount.map { $0 <= now } ?? true }
    }

    /// Records the result of a count that took from `start` to `end`.
    func counted(_ use: Use, from start: BootInstant, to end: BootInstant) {
        let next = end.advanced(by: max(Self.interval, start.duration(to: end) * Self.share))
        state.withLock { $0 = State(use: use, nextCount: next) }
    }

    /// Reserves space for one more push.
    ///
    /// - Returns: Nil if the space is reserved; the present use if there is no space.
    func take(_ byteCount: Int, of capacity: PushQueue.Capacity) -> Use? {
        state.withLock { state in
            guard state.use.count < capacity.count, byteCount <= capacity.byteCount - state.use.byteCount else {
                return state.use
            }
            state.use.add(byteCount)
            return nil
        }
    }

    /// Records that a push was given up: its record stays.
    func giveUp(_ byteCount: Int) {
        state.withLock { state in
            state.use.count -= 1
            state.use.givenUpByteCount += byteCount
        }
    }

    /// Records that a push of this size has left the queue.
    func free(_ byteCount: Int) {
        state.withLock { state in
            state.use.count -= 1
            state.use.byteCount -= byteCount
        }
    }
}
