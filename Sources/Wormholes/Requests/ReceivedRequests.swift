internal import CoreAPI
internal import Mailboxes

/// The requests of one kind as one who answers takes them. Several share them between them.
///
/// A request that cannot be read here is refused, with the reason, and does not appear. It ends when it is cancelled or
/// the group is closed.
public final class ReceivedRequests<Request: Sendable, Reply: Sendable>: AsyncSequence, Sendable {
    public typealias Element = ReceivedRequest<Request, Reply>
    public typealias Failure = WormholeError

    private let deliveries: QueueDeliveries
    private let mailbox: QueueMailbox
    private let id: RequestID<Request, Reply>
    private let replyPath: String

    init(
        _ deliveries: QueueDeliveries, of mailbox: QueueMailbox, as id: RequestID<Request, Reply>, replyPath: String
    ) {
        self.deliveries = deliveries
        self.mailbox = mailbox
        self.id = id
        self.replyPath = replyPath
    }

    /// Ends the sequence. Requests in hand stay there. Idempotent.
    public func cancel() {
        deliveries.cancel()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(deliveries: deliveries.makeAsyncIterator(), mailbox: mailbox, id: id, replyPath: replyPath)
    }

    /// Takes requests.
    public struct Iterator: AsyncIteratorProtocol {
        var deliveries: QueueDeliveries.Iterator
        let mailbox: QueueMailbox
        let id: RequestID<Request, Reply>
        let replyPath: String

        public mutating func next() async throws(WormholeError) -> ReceivedRequest<Request, Reply>? {
            try await take()
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(WormholeError) -> ReceivedRequest<Request, Reply>? {
            try await take()
        }

        private nonisolated(nonsending) mutating func take() async throws(WormholeError)
            -> ReceivedRequest<Request, Reply>?
        {
            while true {
                let taken: QueueDelivery?
                do throws(SharedCoreError) { taken = try await deliveries.next() } catch { throw WormholeError(error) }
                guard let delivery = taken else { return nil }
                let replyTo = Envelope(delivery.bytes)?.replyTo
                let desk = RequestDesk(delivery, of: mailbox, replyTo: replyTo, below: replyPath)
                switch id.request.message(in: delivery.bytes) {
                case .success(let request):
                    return ReceivedRequest(request: request, origin: delivery.sender, desk: desk, type: id.reply)
                case .failure(let problem): _ = try await desk.refuse(because: problem.description)
                }
            }
        }
    }
}
