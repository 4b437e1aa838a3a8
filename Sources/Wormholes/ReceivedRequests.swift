public import CoreAPI
public import Mailboxes

/// The requests of one kind, as an answering participant takes them. Several participants share them between them.
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

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(WormholeError) -> ReceivedRequest<Request, Reply>? {
            while true {
                let taken: QueueDelivery?
                do throws(SharedCoreError) {
                    taken = try await deliveries.next(isolation: actor)
                } catch {
                    throw WormholeError(error)
                }
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

/// A request in hand, to be answered. If the session ends before the reply, another participant gets the request.
public struct ReceivedRequest<Request: Sendable, Reply: Sendable>: Sendable {
    /// The request.
    public let request: Request
    /// The session that asks.
    public let origin: SessionID
    let desk: RequestDesk
    let type: MessageType<Reply>

    /// Replies. The requester has the reply when this has returned, unless it has given up.
    ///
    /// - Returns: ``/Mailboxes/Acknowledgement/superseded`` when the request was in this hand no more: nothing was
    ///   replied.
    /// - Throws: ``WormholeError/Code/encodingFailed``, or the errors of the store.
    @discardableResult
    public func reply(_ reply: Reply) async throws(WormholeError) -> Acknowledgement {
        try await desk.answer(try type.envelope(of: reply))
    }

    /// Says why there is no reply: the requester gets ``WormholeError/Code/refused`` with the reason.
    @discardableResult
    public func refuse(because reason: String) async throws(WormholeError) -> Acknowledgement {
        try await desk.refuse(because: reason)
    }
}

/// One request in hand, as bytes: where its reply goes, and how it is dealt with.
struct RequestDesk: Sendable {
    /// The time that a reply waits for its requester.
    static let replyLifetime = Duration.seconds(60)
    /// The longest reason of a refusal; one that quotes a requester's text may be as long as that.
    static let reasonByteCount = 512

    let delivery: QueueDelivery
    let mailbox: QueueMailbox
    /// The key at which the requester waits; nil when it named no place, or one where no reply belongs.
    let replyKey: Key?

    init(_ delivery: QueueDelivery, of mailbox: QueueMailbox, replyTo: String?, below path: String) {
        self.delivery = delivery
        self.mailbox = mailbox
        // Any session of the group can write an envelope: a reply is written only where replies are.
        replyKey = replyTo.flatMap { $0.utf8.starts(with: path.utf8) ? try? Key($0) : nil }
    }

    /// Stores the reply and forgets the request, in one commit.
    func answer(_ envelope: Envelope) async throws(WormholeError) -> Acknowledgement {
        try await inStore { () async throws(SharedCoreError) in
            var transaction = Transaction()
            try mailbox.addAcknowledgement(of: delivery, to: &transaction)
            if let replyKey {
                transaction.put(replyKey, envelope.bytes, lifetime: .expiring(after: Self.replyLifetime))
            }
            do throws(SharedCoreError) {
                return .acknowledged(try await mailbox.store.commit(transaction).revision)
            } catch {
                guard error.guardFailure != nil else { throw error }
                return .superseded
            }
        }
    }

    func refuse(because reason: String) async throws(WormholeError) -> Acknowledgement {
        var reason = reason
        if reason.utf8.count > Self.reasonByteCount {
            // A character that is cut becomes one of 3 bytes.
            reason = String(decoding: reason.utf8.prefix(Self.reasonByteCount - 3), as: UTF8.self)
        }
        return try await answer(Envelope(codec: "", schema: 0, content: .failure(reason)))
    }
}
