public import CoreAPI

/// The messages of a queue as taken by one consumer: each element belongs to it until it is acknowledged or given back,
/// or the session ends.
///
/// The sequence ends when it is cancelled or the store is closed, and throws when the session ends. It has one consumer
/// at a time; several sequences of one queue share its messages.
///
/// Source: contract M6.
public final class QueueDeliveries: AsyncSequence, Sendable {
    public typealias Element = QueueDelivery
    public typealias Failure = SharedCoreError

    private let mailbox: QueueMailbox
    private let watch: Watch

    init(of mailbox: QueueMailbox, watch: Watch) {
        self.mailbox = mailbox
        self.watch = watch
    }

    /// Ends the sequence. Taken messages remain taken. Idempotent.
    public func cancel() {
        watch.cancel()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(mailbox: mailbox, watch: watch)
    }

    /// Takes messages from the queue.
    public struct Iterator: AsyncIteratorProtocol {
        private let mailbox: QueueMailbox
        private let watch: Watch
        private var order: QueueOrder

        init(mailbox: QueueMailbox, watch: Watch) {
            self.mailbox = mailbox
            self.watch = watch
            self.order = QueueOrder(at: mailbox.keys)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SharedCoreError) -> QueueDelivery? {
            while true {
                while let item = order.first {
                    let delivery = try await mailbox.take(item)
                    order.dropFirst()
                    if let delivery { return delivery }
                }
                guard let event = try await watch.next() else { return nil }
                order.apply(event)
            }
        }
    }
}
