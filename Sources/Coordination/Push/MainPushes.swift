internal import CoreAPI
package import Mailboxes

/// The pushes that are routed to Main, as a sequence. The Main has each push in hand until it acknowledges the push,
/// gives it back, or ends its session.
///
/// ```swift
/// for try await taken in try await main.pushes() {
///     await ring(taken.push.account, taken.push.payload)
///     try await main.acknowledge(taken)
/// }
/// ```
///
/// The sequence takes pushes only while this Main owns the core, and waits otherwise. It ends when it or its task is
/// cancelled, when the Main has stopped, or when another call of ``MainParticipant/pushes()`` begins. It has one
/// consumer at a time.
///
/// Source: contract P13.
public final class MainPushes: AsyncSequence, Sendable {
    public typealias Element = TakenPush
    public typealias Failure = CoordinationError

    private let queue: MainPushQueue
    private let watch: Watch
    private let participant: Participant

    init(_ queue: MainPushQueue, watch: Watch, for participant: Participant) {
        self.queue = queue
        self.watch = watch
        self.participant = participant
    }

    /// Ends the sequence. Pushes in hand stay in hand. May be called more than once.
    public func cancel() {
        watch.cancel()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(queue: queue, watch: watch, participant: participant)
    }

    /// Takes pushes from the queue, the oldest first.
    public struct Iterator: AsyncIteratorProtocol {
        private let queue: MainPushQueue
        private let watch: Watch
        private let participant: Participant
        private var order: QueueOrder
        /// The epoch under which a take failed because the epoch had ended.
        private var lost: Revision?

        init(queue: MainPushQueue, watch: Watch, participant: Participant) {
            self.queue = queue
            self.watch = watch
            self.participant = participant
            order = QueueOrder(at: queue.mailbox.keys)
        }

        /// Waits for the next push and takes it; returns nil at the end of the sequence.
        ///
        /// - Throws: ``CoordinationError/Code/fenced`` when the session is over; ``CoordinationError/Code/store``,
        ///   after which the next call continues.
        public mutating func next() async throws(CoordinationError) -> TakenPush? {
            try await take()
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(CoordinationError) -> TakenPush? {
            try await take()
        }

        private nonisolated(nonsending) mutating func take() async throws(CoordinationError) -> TakenPush? {
            while true {
                while let item = order.first {
                    guard let epoch = try await participant.ownEpoch(otherThan: lost) else { return nil }
                    do throws(SharedCoreError) {
                        let taken = try await queue.take(item, under: epoch)
                        order.dropFirst()
                        if let taken { return taken }
                    } catch {
                        guard error.guardFailure?.condition.key == OwnershipKey.owner else {
                            throw await participant.failure(error)
                        }
                        lost = epoch
                    }
                }
                do throws(SharedCoreError) {
                    guard let event = try await watch.next() else { return nil }
                    order.apply(event)
                } catch {
                    throw await participant.failure(error)
                }
            }
        }
    }
}

/// A push in a Main's hand, which the Main acknowledges when it has handled it.
///
/// It may have been handled before: if a Main is killed between its work and its acknowledgement, the push can be taken
/// again.
///
/// Source: contract P13.
public struct TakenPush: Hashable, Sendable {
    /// The push.
    public let push: Push
    package let delivery: QueueDelivery

    package init(push: Push, delivery: QueueDelivery) {
        self.push = push
        self.delivery = delivery
    }
}

/// The requests of a Main about pushes.
extension Participant {
    func pushes() async throws(CoordinationError) -> MainPushes {
        try guardOpen()
        let watch: Watch
        do throws(SharedCoreError) {
            watch = try await mainPushes.mailbox.watch(from: .snapshot)
        } catch {
            throw failure(error)
        }
        guard end == nil else {
            watch.cancel()
            throw CoordinationError(.closed, "The Main has stopped.")
        }
        pushWatch?.cancel()
        pushWatch = watch
        return MainPushes(mainPushes, watch: watch, for: self)
    }

    /// Waits until this participant owns, and returns the epoch; nil if it cannot own any more, or if the task is
    /// cancelled.
    ///
    /// - Parameter lost: An epoch that is known to have ended, although this participant may not know it yet.
    func ownEpoch(otherThan lost: Revision?) async throws(CoordinationError) -> Revision? {
        await untilState { $0.isOver || ($0.holding != nil && $0.holding != lost) }
        if case .storeEnded(let error) = end { throw failure(error) }
        return end == nil && !Task.isCancelled ? machine.holding?.epoch : nil
    }

    func acknowledge(_ taken: TakenPush) async throws(CoordinationError) -> Bool {
        try guardOpen()
        do throws(SharedCoreError) {
            var transaction = Transaction()
            try mainPushes.acknowledgementOperations(of: taken, under: machine.holding?.epoch, into: &transaction)
            _ = try await store.commit(transaction)
            untrimmedCount += 1
            trimTimelineWhenDue()
            return true
        } catch {
            guard mainPushes.mailbox.isOutdated(error) else { throw failure(error) }
            return false
        }
    }

    func giveBack(_ taken: TakenPush) async throws(CoordinationError) {
        try guardOpen()
        do throws(SharedCoreError) {
            try await mainPushes.mailbox.giveBack(taken.delivery)
        } catch {
            throw failure(error)
        }
    }

    /// Gives a push back that no caller gets.
    func letGo(of taken: TakenPush) async {
        await letGo { [mainPushes] () async throws(SharedCoreError) in
            try await mainPushes.mailbox.giveBack(taken.delivery)
        }
    }
}
