public import CoreAPI

/// A short-lived participant that a push started. It gets the message of its call-id from the running owner's core, or
/// runs the core itself.
///
/// ```swift
/// let executor = try ExecutorParticipant(of: group) { MailCore(account) }
/// let answer = try await executor.message(forCallID: callID, timeout: .seconds(20))
/// if case .message(let taken) = answer.content {
///     show(taken.message)
///     try await executor.acknowledge(taken)
/// }
/// await executor.finish()         // its core may still fetch the messages of others
/// ```
///
/// Source: contract C2, C7-C12.
public final class ExecutorParticipant: Sendable {
    let participant: Participant

    /// Makes an Executor that takes part through an open handle. The handle is the caller's: close it after
    /// ``finish()``.
    ///
    /// From now on one watch follows the ownership, even without any call. The watch has a cost: each change of
    /// ownership wakes this process, and over files it holds a pidfd on the owner's process. The participant does not
    /// seek the ownership before the first call.
    ///
    /// - Parameters:
    ///   - group: An open handle, with the role ``SessionRole/executor``.
    ///   - options: Deadlines and lifetimes, the same in all processes of the group.
    ///   - environment: The interfaces to the machine: clock, process control, witness, seed.
    ///   - core: Makes the core for each ownership.
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for a handle of another role, or one through which another
    ///   participant takes part that has not ended.
    public init(
        of group: any SharedStore, options: CoordinationOptions = CoordinationOptions(),
        environment: CoordinationEnvironment, core: @escaping @Sendable () -> any Core
    ) throws(SharedCoreError) {
        guard group.session.role == .executor else {
            throw SharedCoreError(
                .invalidArgument, "An Executor takes part with the role “executor”, not “\(group.session.role)”.",
                at: "session \(group.session.id)")
        }
        participant = try Participant(group, core: core, options: options, environment: environment)
        participant.prepare()
    }

    deinit {
        participant.abandon()
    }

    /// Waits for the message of a call-id and takes it, or for the call of that id.
    ///
    /// Returns a message that is in the inbox at once. Otherwise waits for the owner's core; if there is no owner, or
    /// the owner goes away or freezes, this participant becomes the owner and runs the core.
    ///
    /// - Parameters:
    ///   - callID: The call-id that the push announced.
    ///   - timeout: How long to wait in total (contract C7). The core may run on for other calls.
    ///   - insisting: True if the core must run in this process even if the inbox has the message. The request is
    ///     refused while a Main owns.
    ///   - reporting: Called with the reason for which no core runs here, each time that the reason changes. Called on
    ///     the participants' thread: it must return at once.
    /// - Throws: ``CoordinationError/Code/timeout`` at the deadline, or ``CoordinationError/Code/coreFailed`` if the
    ///   last core here had failed by then. With `insisting`, ``CoordinationError/Code/coreFailed`` and
    ///   ``CoordinationError/Code/refused`` at once, and ``CoordinationError/Code/fenced`` when the ownership was taken
    ///   away; ``CoordinationError/Code/fenced`` when the session is over; ``CoordinationError/Code/cancelled``,
    ///   ``CoordinationError/Code/closed`` and ``CoordinationError/Code/store``.
    public func message(
        forCallID callID: CallID, timeout: Duration, insisting: Bool = false,
        reporting: (@Sendable (OwnershipWaitReason) -> Void)? = nil
    ) async throws(CoordinationError) -> MessageResult {
        try await message(for: MessageID(callID), timeout: timeout, insisting: insisting, reporting: reporting)
    }

    /// Waits for a message that matches an identity, and takes it. Works as
    /// ``message(forCallID:timeout:insisting:reporting:)``, for callers that also know the sequence.
    ///
    /// Source: contract C21.
    public func message(
        for id: MessageID, timeout: Duration, insisting: Bool = false,
        reporting: (@Sendable (OwnershipWaitReason) -> Void)? = nil
    ) async throws(CoordinationError) -> MessageResult {
        let limit = participant.clock.now().advanced(by: timeout)
        return try await withTaskExecutorPreference(participant.executor) { () async throws(CoordinationError) in
            try await participant.message(for: id, before: limit, insisting: insisting, reporting: reporting)
        }
    }

    /// Becomes the owner and starts the core, which runs until a Main asks for it, its budget is used up, or
    /// ``close()``, whether or not any call waits. A core that ends is not started again.
    ///
    /// - Parameters:
    ///   - waitingItsTurn: True to wait for a Main that owns, and to take over from it if it does not answer.
    ///   - reporting: Called with the reason of the wait, as in ``message(forCallID:timeout:insisting:reporting:)``.
    /// - Throws: ``CoordinationError/Code/refused`` while a Main owns, unless `waitingItsTurn`;
    ///   ``CoordinationError/Code/coreFailed``; ``CoordinationError/Code/fenced``,
    ///   ``CoordinationError/Code/cancelled``, ``CoordinationError/Code/closed`` and ``CoordinationError/Code/store``.
    package func start(
        waitingItsTurn: Bool = false, reporting: (@Sendable (OwnershipWaitReason) -> Void)? = nil
    ) async throws(CoordinationError) {
        try await withTaskExecutorPreference(participant.executor) { () async throws(CoordinationError) in
            try await participant.startCore(waitingItsTurn: waitingItsTurn, reporting: reporting)
        }
    }

    /// Acknowledges a message that was shown: it is not delivered again.
    ///
    /// - Returns: True if the message was still this participant's. If it was not, a core has updated or withdrawn it,
    ///   or a Main has acknowledged it. Ask again to get its present content, or to learn that there is nothing to show
    ///   (contract C22).
    @discardableResult
    public func acknowledge(_ message: TakenMessage) async throws(CoordinationError) -> Bool {
        try await participant.acknowledge(message)
    }

    /// Gives a message back that this participant does not show, so that others can take it.
    public func giveBack(_ message: TakenMessage) async throws(CoordinationError) {
        try await participant.giveBack(message)
    }

    /// Gives back a message that the program never received. Tries again until the store accepts it, even after this
    /// Executor was closed.
    package func letGo(of message: TakenMessage) async {
        await participant.letGo(of: message)
    }

    /// Returns when no call waits here and the core, if it runs here, has served all calls and stopped. If the store
    /// does not accept the release of the ownership, returns after ``CoordinationOptions/stopTimeout``.
    public func finish() async {
        await participant.finishWork()
    }

    /// Stops the core, releases ownership, and ends the participation. Returns when that is done; a core that does not
    /// stop, or a release that the store does not accept, is given up after ``CoordinationOptions/stopTimeout``. Once
    /// the core has stopped, a store that does not answer is waited for 2 seconds at most.
    public func close() async {
        await participant.close()
    }

    /// The messages of the group, with the lifetime of this participant's options. An Executor whose core has run takes
    /// from it the messages of its core that no push announced.
    public var inbox: Inbox { participant.inbox }

    /// How many cores this participant has started.
    public var coreStarts: Int {
        get async { await participant.state.coreStarts }
    }

    /// The epoch that this Executor holds; nil while it does not own.
    public var epoch: Revision? {
        get async { await participant.state.holding }
    }
}

/// The result of a request for a message.
public struct MessageResult: Hashable, Sendable {
    /// The content to show.
    public enum Content: Hashable, Sendable {
        /// Show it, then acknowledge it with ``ExecutorParticipant/acknowledge(_:)``.
        case message(TakenMessage)
        /// The id belongs to a call. Ring while it is open, or show that it was missed, then acknowledge it with
        /// ``Calls/acknowledge(_:)``. If this participant's core holds the call, it runs on while the call is open.
        case call(Call)
        /// The message was received and has nothing to show, or another participant has shown it. For a push of the
        /// type ``Push/callType`` it can also mean that no call came.
        case nothingToShow
    }

    /// The origin of the content.
    public enum Source: String, Hashable, Sendable {
        /// Another participant's core stored it, or another participant has shown it already.
        case inbox
        /// This participant's own core received it, now or earlier: its session stored the message.
        case core
    }

    public let content: Content
    public let source: Source

    public init(_ content: Content, from source: Source) {
        self.content = content
        self.source = source
    }
}
