public import CoreAPI

/// A short-lived participant that a push woke: it gets the message of its call-id, from the participant that has it or
/// by running the core itself.
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

    /// An Executor that takes part through an open handle. The handle is the caller's: close it after ``finish()``.
    ///
    /// From here on it follows the ownership with one watch, whether it is asked for anything or not. It takes no part
    /// before it is asked to. A watch has its price also without any call: each change of ownership wakes this process,
    /// and over files it holds a pidfd on the owner's process.
    ///
    /// - Parameters:
    ///   - group: An open handle, with the role ``SessionRole/executor``.
    ///   - options: Deadlines and lifetimes, the same in all processes of the group.
    ///   - environment: Its interfaces to the machine: clock, process control, witness, seed.
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
    ///   - timeout: How long to wait, over everything (contract C7). The core may run on for others.
    ///   - insisting: True if the core has to run here, also when the inbox has the message: refused while a Main owns.
    ///   - reporting: Told why no core runs here for it, each time that this is another reason. Called on the
    ///     participants' thread: it must return at once.
    /// - Throws: ``CoordinationError/Code/timeout`` at the deadline, and ``CoordinationError/Code/coreFailed`` where the
    ///   last core here had failed by then; with `insisting` also at once, beside ``CoordinationError/Code/refused``
    ///   and ``CoordinationError/Code/fenced`` when the ownership was taken away;
    ///   ``CoordinationError/Code/fenced`` when the session is over;
    ///   ``CoordinationError/Code/cancelled``, ``CoordinationError/Code/closed`` and ``CoordinationError/Code/store``.
    public func message(
        forCallID callID: CallID, timeout: Duration, insisting: Bool = false,
        reporting: (@Sendable (OwnershipWaitReason) -> Void)? = nil
    ) async throws(CoordinationError) -> MessageResult {
        try await message(for: MessageID(callID), timeout: timeout, insisting: insisting, reporting: reporting)
    }

    /// Waits for a message that matches an identity, and takes it. Works as
    /// ``message(forCallID:timeout:insisting:reporting:)``, for callers that know more than the call-id.
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

    /// Becomes the owner and starts the core, which runs until it is to hand over, its budget is used up, or
    /// ``close()``, whether or not any call waits. It is not started again.
    ///
    /// - Parameters:
    ///   - waitingItsTurn: Whether a Main that owns is waited for, and taken over from when it does not answer.
    ///   - reporting: Told why it waits, as in ``message(forCallID:timeout:insisting:reporting:)``.
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

    /// Says that a message was shown: it is not delivered again.
    ///
    /// - Returns: True if the message was still this participant's. If it was not, a core has updated or withdrawn it,
    ///   or a Main has acknowledged it. Ask again to get its present content, or to learn that there is nothing to show
    ///   (contract C22).
    @discardableResult
    public func acknowledge(_ message: TakenMessage) async throws(CoordinationError) -> Bool {
        try await participant.acknowledge(message)
    }

    /// Lets others have a message that this participant does not show.
    public func giveBack(_ message: TakenMessage) async throws(CoordinationError) {
        try await participant.giveBack(message)
    }

    /// Returns when no call waits here and the core, if it runs here, has served all calls and stopped; also when the
    /// store has not let go of the ownership for ``CoordinationOptions/stopTimeout``.
    public func finish() async {
        await participant.finishWork()
    }

    /// Stops the core, releases ownership, and ends the participation. Returns when that is done; a core that does not
    /// stop, or an ownership that the store does not let go of, is given up after ``CoordinationOptions/stopTimeout``. Once
    /// the core has stopped, a store that does not answer is waited for 2 seconds at most.
    public func close() async {
        await participant.close()
    }

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
        /// The id is that of a call: ring while it is open, or show that it was missed, then acknowledge it with
        /// ``Calls/acknowledge(_:)``. A core here that has it goes on for as long as it is open.
        case call(Call)
        /// It was received and has nothing to show, or another participant has shown it. For a push of the type
        /// ``Push/callType`` also that no call came.
        case nothingToShow
    }

    /// The origin of the content.
    public enum Source: String, Hashable, Sendable {
        /// Another participant's core stored it, or another participant has shown it already.
        case inbox
        /// This participant's own core received it, now or before: its session stored it.
        case core
    }

    public let content: Content
    public let source: Source

    public init(_ content: Content, from source: Source) {
        self.content = content
        self.source = source
    }
}
