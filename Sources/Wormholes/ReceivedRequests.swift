public import CoreAPI
public import Mailboxes
internal import WormholeFormat

/// The requests of one kind, as taken by an answering participant. Several participants share them.
///
/// A request that cannot be read here is refused, with the reason, and does not appear. The sequence ends when it is
/// cancelled or the group is closed.
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

    /// Ends the sequence. Taken requests remain taken. Idempotent.
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

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(WormholeError) -> ReceivedRequest<Request, Reply>? {
            while true {
                let next: QueueDelivery?
                do throws(SharedCoreError) {
                    next = try await deliveries.next(isolation: actor)
                } catch {
                    throw WormholeError(error)
                }
                guard let delivery = next else { return nil }
                let replyTo = Envelope(delivery.bytes)?.replyTo
                let taken = TakenRequest(delivery, of: mailbox, replyTo: replyTo, below: replyPath)
                switch id.request.message(in: delivery.bytes) {
                case .success(let request):
                    return ReceivedRequest(request: request, origin: delivery.sender, taken: taken, type: id.reply)
                case .failure(let problem):
                    try await inStore { () async throws(SharedCoreError) in
                        try await taken.dismiss(because: problem.description)
                    }
                }
            }
        }
    }
}

/// A taken request, to be answered. If the session ends before the reply, another participant gets the request.
public struct ReceivedRequest<Request: Sendable, Reply: Sendable>: Sendable {
    /// The request.
    public let request: Request
    /// The session of the requester.
    public let origin: SessionID
    let taken: TakenRequest
    let type: MessageType<Reply>

    /// Sends the reply. The requester has it when this has returned, unless the requester stopped waiting.
    ///
    /// - Returns: ``/Mailboxes/Acknowledgement/superseded`` if the take no longer exists: no reply was sent.
    /// - Throws: ``WormholeError/Code/encodingFailed``, or the errors of the store.
    @discardableResult
    public func reply(_ reply: Reply) async throws(WormholeError) -> Acknowledgement {
        let envelope = try type.envelope(of: reply)
        return try await inStore { () async throws(SharedCoreError) in try await taken.answer(envelope) }
    }

    /// Refuses the request: the requester gets ``WormholeError/Code/refused`` with the reason.
    @discardableResult
    public func refuse(because reason: String) async throws(WormholeError) -> Acknowledgement {
        try await inStore { () async throws(SharedCoreError) in try await taken.refuse(because: reason) }
    }
}
