public import CoreAPI
public import Mailboxes

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

/// A taken request, to be answered. If the session ends before the reply, another participant gets the request.
public struct ReceivedRequest<Request: Sendable, Reply: Sendable>: Sendable {
    /// The request.
    public let request: Request
    /// The session of the requester.
    public let origin: SessionID
    let desk: RequestDesk
    let type: MessageType<Reply>

    /// Replies. The requester has the reply when this has returned, unless it stopped waiting.
    ///
    /// - Returns: ``/Mailboxes/Acknowledgement/superseded`` if the take no longer exists: no reply was sent.
    /// - Throws: ``WormholeError/Code/encodingFailed``, or the errors of the store.
    @discardableResult
    public func reply(_ reply: Reply) async throws(WormholeError) -> Acknowledgement {
        try await desk.answer(try type.envelope(of: reply))
    }

    /// Refuses the request: the requester gets ``WormholeError/Code/refused`` with the reason.
    @discardableResult
    public func refuse(because reason: String) async throws(WormholeError) -> Acknowledgement {
        try await desk.refuse(because: reason)
    }
}

/// A taken request as bytes, with the key of its reply.
struct RequestDesk: Sendable {
    /// The time for which a reply waits for its requester.
    static let replyLifetime = Duration.seconds(60)
    /// The longest reason of a refusal, which may quote a text of the requester.
    static let reasonByteCount = 512

    let delivery: QueueDelivery
    let mailbox: QueueMailbox
    /// The key at which the requester waits; nil if it named none, or one outside of the replies.
    let replyKey: Key?

    init(_ delivery: QueueDelivery, of mailbox: QueueMailbox, replyTo: String?, below path: String) {
        self.delivery = delivery
        self.mailbox = mailbox
        // Any session of the group can write an envelope, so a reply is written only under the path of replies.
        replyKey = replyTo.flatMap { $0.utf8.starts(with: path.utf8) ? try? Key($0) : nil }
    }

    /// Stores the reply and removes the request, in one commit.
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
            // A truncated character is replaced by one of 3 bytes.
            reason = String(decoding: reason.utf8.prefix(Self.reasonByteCount - 3), as: UTF8.self)
        }
        return try await answer(Envelope(codec: "", schema: 0, content: .failure(reason)))
    }
}
