public import CoreAPI
public import Mailboxes

/// A request in the hand of whoever answers it. If the session ends before the reply, it comes to another one.
public struct ReceivedRequest<Request: Sendable, Reply: Sendable>: Sendable {
    /// What is asked.
    public let request: Request
    /// The session that asks.
    public let origin: SessionID
    let desk: RequestDesk
    let type: MessageType<Reply>

    /// Replies. The requester has the reply when this has returned, unless it has given up.
    ///
    /// - Returns: ``/Mailboxes/Acknowledgement/superseded`` when the request was in this hand no more: nothing was
    ///   replied.
    /// - Throws: ``WormholeError/Code/encodingFailed``, or what the store throws.
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
