internal import CoreAPI
internal import Mailboxes

/// One request in hand, as bytes: where its reply goes, and how it is dealt with.
struct RequestDesk: Sendable {
    /// How long a reply waits for its requester.
    static let replyLifetime = Duration.seconds(60)
    /// The longest reason of a refusal; one that quotes what a requester has sent may be as long as that.
    static let reasonByteCount = 512

    let delivery: QueueDelivery
    let mailbox: QueueMailbox
    /// Where the requester looks; nil when it named no place, or one where no reply belongs.
    let replyKey: Key?

    init(_ delivery: QueueDelivery, of mailbox: QueueMailbox, replyTo: String?, below path: String) {
        self.delivery = delivery
        self.mailbox = mailbox
        // The envelope comes from anybody in the group: no reply is written anywhere but where replies are.
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
