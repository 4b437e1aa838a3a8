public import CoreAPI
internal import Mailboxes

/// The messages of the inbox as taken by one participant, from ``Inbox/deliveries()``. Each message is in its hand until
/// it acknowledges the message or gives it back, or its session ends.
///
/// A message is shown once as long as each process shows only the messages that it has taken. The participants of a
/// group share the messages. An Executor may wait for a message that is taken here. It gets “nothing to show” when the
/// message was acknowledged, and takes the message when it was given back.
///
/// The sequence ends when it is cancelled or the store is closed; a task that is cancelled while it takes a message gets
/// `cancelled`. It throws when the session ends, and the error of a take that fails, such as `limitExceeded` in a full group; the next call of the same iterator tries that message again.
/// It has one consumer at a time.
///
/// Source: contract C10.
public final class InboxDeliveries: AsyncSequence, Sendable {
    public typealias Element = TakenMessage
    public typealias Failure = SharedCoreError

    private let inbox: Inbox
    private let watch: Watch

    init(of inbox: Inbox, watch: Watch) {
        self.inbox = inbox
        self.watch = watch
    }

    /// Ends the sequence. Messages in hand stay in hand. May be called more than once.
    public func cancel() {
        watch.cancel()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(inbox: inbox, watch: watch)
    }

    /// Takes messages from the inbox.
    public struct Iterator: AsyncIteratorProtocol {
        private let inbox: Inbox
        private let watch: Watch
        private var order: QueueOrder

        init(inbox: Inbox, watch: Watch) {
            self.inbox = inbox
            self.watch = watch
            order = QueueOrder(at: inbox.mailbox.keys)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SharedCoreError) -> TakenMessage? {
            while true {
                while let name = order.first {
                    let taken = try await inbox.take(name)
                    order.dropFirst()
                    if let taken { return taken }
                }
                guard let event = try await watch.next() else { return nil }
                order.apply(event)
            }
        }
    }
}
