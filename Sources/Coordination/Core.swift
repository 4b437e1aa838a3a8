public import CoreAPI

/// The expensive part of an application, of which only one runs at a time: a SIP or a messaging stack.
///
/// A core is started by the owner, works until told otherwise, and hands over each message that it receives. The
/// three calls come in this order and never at once. They run on the concurrent pool; a core that blocks does so on a
/// thread of its own.
public protocol Core: Sendable {
    /// Connects. Throwing gives up ownership.
    func start(in context: CoreContext) async throws

    /// Works until the task is cancelled: receives, hands each message over with ``CoreContext/deliver(_:)``, and
    /// acknowledges it to its server only after that call has returned.
    func iterate(in context: CoreContext) async throws

    /// Disconnects. Called after `iterate` has returned, and also after a `start` that threw.
    func stop() async
}

/// The context of a running core. There is no other way for it to reach the group.
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

    let acceptMessage: @Sendable (InboxMessage) async throws(SharedCoreError) -> DeliveryResult
    let reportProblem: @Sendable (String) async -> Void

    /// The outcome of handing a message over.
    public enum DeliveryResult: Hashable, Sendable {
        /// It is in the inbox.
        case stored
        /// One with the same call-id was stored, or acknowledged, before.
        case duplicate
    }

    /// Makes a context. Participants make it for their cores; tests of a core make their own.
    public init(
        store: any SharedStore, epoch: Revision, role: SessionRole,
        acceptMessage: @escaping @Sendable (InboxMessage) async throws(SharedCoreError) -> DeliveryResult,
        reportProblem: @escaping @Sendable (String) async -> Void
    ) {
        self.store = store
        self.epoch = epoch
        self.role = role
        self.acceptMessage = acceptMessage
        self.reportProblem = reportProblem
    }

    /// Stores a received message for the participants that ask for it. When this returns, the message is committed, and
    /// only then may the core acknowledge it to its server.
    ///
    /// Source: contract C8, C10.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when the core is superseded; ``SharedCoreError/Code/limitExceeded``
    ///   when the message is larger than a value can be.
    @discardableResult
    public func deliver(_ message: InboxMessage) async throws(SharedCoreError) -> DeliveryResult {
        try await acceptMessage(message)
    }

    /// Puts a sentence about something that the core had to set aside on the timeline.
    public func report(_ problem: String) async {
        await reportProblem(problem)
    }
}

extension CoreContext {
    /// Enters a section of work that a Main's request for hand-over lets the core finish.
    ///
    /// The core is told to stop as soon as it leaves the section, or when `maximumDuration` has passed since the request.
    ///
    /// Source: contract C3.
    ///
    /// - Parameter maximumDuration: How long the section may hold up a hand-over. It counts up to
    ///   `handoverMaximumTimeout`.
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when a request is pending already, when the core is in a section, or
    ///   when it is superseded.
    public func enterCriticalSection(maximumDuration: Duration) async throws(SharedCoreError) {
        _ = try await store.commit(CriticalRecord.entering(epoch, bound: maximumDuration))
    }

    /// Leaves the section.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when the core is superseded.
    public func leaveCriticalSection() async throws(SharedCoreError) {
        _ = try await store.commit(CriticalRecord.leaving(epoch))
    }
}
