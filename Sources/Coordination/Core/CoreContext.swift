public import CoreAPI

/// What a running core is given. There is no other way for it to reach the group.
public struct CoreContext: Sendable {
    /// The group's store, with the core's epoch as a guard on every transaction. A write of a superseded core throws
    /// ``SharedCoreError/Code/guardFailed`` and does nothing.
    ///
    /// Source: contract C4.
    public let store: any SharedStore

    /// The epoch of the ownership under which the core runs.
    public let epoch: Revision

    /// Whether the core runs for a Main or for an Executor.
    public let role: SessionRole

    let acceptMessage: @Sendable (InboxMessage) async throws(SharedCoreError) -> Acceptance
    let reportProblem: @Sendable (String) async -> Void

    /// What became of a message that a core handed over.
    public enum Acceptance: Hashable, Sendable {
        /// It is in the inbox.
        case stored
        /// One with the same call-id was stored, or acknowledged, before.
        case duplicate
    }

    /// Makes a context. Participants make it for their cores; tests of a core make their own.
    public init(
        store: any SharedStore, epoch: Revision, role: SessionRole,
        acceptMessage: @escaping @Sendable (InboxMessage) async throws(SharedCoreError) -> Acceptance,
        reportProblem: @escaping @Sendable (String) async -> Void
    ) {
        self.store = store
        self.epoch = epoch
        self.role = role
        self.acceptMessage = acceptMessage
        self.reportProblem = reportProblem
    }

    /// Stores a received message for whoever asks for it. When this returns, the message is committed, and only then
    /// may the core acknowledge it to its server.
    ///
    /// Source: contract C8, C10.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when the core is superseded; ``SharedCoreError/Code/limitExceeded``
    ///   when the message is larger than a value can be.
    @discardableResult
    public func deliver(_ message: InboxMessage) async throws(SharedCoreError) -> Acceptance {
        try await acceptMessage(message)
    }

    /// Puts a sentence about something that the core had to set aside on the timeline.
    public func report(_ problem: String) async {
        await reportProblem(problem)
    }
}
