internal import Coordination
internal import CoreAPI
internal import Mailboxes
internal import Platform
internal import Synchronization

/// The pushes of a group: mail that waits until an Executor has dealt with it, whoever is running.
///
/// | key | what |
/// |---|---|
/// | `.sharedcore/pushes/...` | the queue of the pushes that wait or are being served |
/// | `.sharedcore/push-failures/...` | the queue of those that were given up |
/// | `.sharedcore/push-files/<name>` | that a file of the watched Maildir, or a message of the inbox, has become a push |
struct PushQueue: Sendable {
    /// A push in this host's hand.
    struct Taken: Sendable {
        let delivery: QueueDelivery
        /// Nil when it cannot be read here.
        let push: Push?
    }

    /// How many there are.
    struct Count: Hashable, Sendable {
        var waiting = 0
        var taken = 0
        var givenUp = 0
    }

    /// The most pushes that were given up and are kept; the oldest make room.
    static let failureCapacity = 1000

    /// How much of `executor.memory` there is for each push that is kept: all are in the memory of each Executor.
    static let memoryOfPush: UInt64 = 8 << 10

    let group: any SharedStore
    /// The most pushes that are kept, those in hand counted.
    private let capacity: Int
    private let room = PushRoom()
    private let clock: any TimeSource
    let pending: QueueMailbox
    let failed: QueueMailbox

    init(
        of group: any SharedStore, capacity: Int = .max, failureCapacity: Int = Self.failureCapacity,
        clock: any TimeSource = SystemClock()
    ) throws(SharedCoreError) {
        self.group = group
        self.capacity = capacity
        self.clock = clock
        pending = try QueueMailbox(group, path: ".sharedcore/pushes")
        failed = try QueueMailbox(
            group, path: ".sharedcore/push-failures",
            options: QueueOptions(capacity: failureCapacity, overflow: .dropOldest))
    }

    /// Puts a push behind those that wait.
    ///
    /// - Throws: `limitExceeded` when there are as many as may be.
    func send(_ callID: CallID) async throws(SharedCoreError) -> Revision {
        try await requireRoom()
        return try await pending.send(push(for: callID).bytes).revision
    }

    /// Makes sure that one more may be kept. Those who send at the same moment may each add some: the bound is to keep a
    /// flood from filling the store, and a count that all agree on would make them wait for each other.
    func requireRoom() async throws(SharedCoreError) {
        guard capacity < .max else { return }
        let start = clock.now()
        if room.mustCount(at: start) {
            let keys = pending.keys
            let entries = try await group.list(keys.prefix).entries
            room.counted(
                entries.count { keys.place(of: $0.key)?.part == .message }, from: start, to: clock.now())
        }
        guard let count = room.take(of: capacity) else { return }
        throw SharedCoreError(
            .limitExceeded,
            "The push is refused: \(count) are kept, and push.capacity is \(capacity), or as many fit into executor.memory.",
            at: pending.path)
    }

    func push(for callID: CallID) -> Push {
        Push(callID, at: clock.now(), in: clock.bootID)
    }

    /// How long ago a push came.
    func age(of push: Push) -> Duration? {
        push.age(at: clock.now(), in: clock.bootID)
    }

    /// Says that a push is dealt with.
    func acknowledge(_ taken: Taken) async throws(SharedCoreError) {
        try await pending.acknowledge(taken.delivery)
        room.free()
    }

    /// Writes down that an Executor has failed for a push, which stays in hand.
    func note(_ push: Push, for taken: Taken) async throws(SharedCoreError) {
        var transaction = Transaction()
        let keys = pending.keys
        let take = try keys.key(of: .take, for: taken.delivery.item)
        transaction.require(.epoch(take, taken.delivery.epoch))
        // Written with it, so that the failure counts also where content has filled the store (contract S10).
        transaction.put(take, [], lifetime: .session)
        transaction.put(try keys.key(of: .message, for: taken.delivery.item), push.bytes)
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
                room.free()
                return
            } catch {
                guard failed.isOutdated(error) else { throw error }
            }
        }
    }

    /// Puts the pushes that were given up behind those that wait, to be tried anew.
    ///
    /// - Returns: How many.
    func retryFailures() async throws(SharedCoreError) -> Int {
        var count = 0
        while let delivery = try await failed.take() {
            guard let former = Push(delivery.bytes), let callID = PushID.callID(former.callID) else {
                // Of another version: it is that one's.
                continue
            }
            var transaction = Transaction()
            try pending.addSend(of: push(for: callID).bytes, as: ItemName("again \(delivery.epoch)"), to: &transaction)
            try failed.addAcknowledgement(of: delivery, to: &transaction)
            _ = try await group.commit(transaction)
            count += 1
        }
        return count
    }

    func count() async throws(SharedCoreError) -> Count {
        let pending = try await pending.count()
        return Count(waiting: pending.waiting, taken: pending.taken, givenUp: try await failed.count().total)
    }
}

/// About how many pushes are kept: those that were counted, and what this process has done since. Who counted all of them
/// for each one that comes would take longer with each, and most of all in a flood.
final class PushRoom: Sendable {
    private struct State {
        var count = 0
        var nextCount: BootInstant?
    }

    private let state = Mutex(State())

    /// How long a count holds at least, for what others do meanwhile.
    private static let interval = Duration.seconds(1)
    /// A long queue takes long to count, which must not be most of what is done.
    private static let share = 20

    func mustCount(at now: BootInstant) -> Bool {
        state.withLock { state in state.nextCount.map { $0 <= now } ?? true }
    }

    /// So many are there.
    func counted(_ count: Int, from start: BootInstant, to end: BootInstant) {
        let next = end.advanced(by: max(Self.interval, start.duration(to: end) * Self.share))
        state.withLock { $0 = State(count: count, nextCount: next) }
    }

    /// Takes room for one more.
    ///
    /// - Returns: Nil when it is taken; how many there are when there is none.
    func take(of capacity: Int) -> Int? {
        state.withLock { state in
            guard state.count < capacity else { return state.count }
            state.count += 1
            return nil
        }
    }

    /// One has gone.
    func free() {
        state.withLock { $0.count -= 1 }
    }
}
