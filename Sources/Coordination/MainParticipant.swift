public import CoreAPI

/// The long-lived participant of an application. While it runs, it owns the core.
///
/// ```swift
/// let main = try MainParticipant(of: group) { MailCore(account) }
/// try await main.start()          // an Executor that owns hands over first
/// ...
/// await main.stop()
/// ```
///
/// A Main is never refused because of an Executor. A Main that was frozen and lost the ownership to an Executor stops
/// its core when it runs again, and asks for the ownership anew. A core that fails after it has run is started again
/// after 1 s, and after twice as long with each failure in a row, 30 s at most. The Main ends when its core fails ten
/// times in a row without having run for 30 s, or when `iterate` returns by itself; ``waitUntilEnded()`` then returns.
///
/// Source: contract C2, C3, C8, C14, C17, C22, C26, P13.
public final class MainParticipant: Sendable {
    let participant: Participant

    /// Makes a Main that takes part through an open handle. The handle is the caller's: close it after ``stop()``.
    ///
    /// From now on one watch follows the ownership, even without any call. The watch has a cost: each change of
    /// ownership wakes this process, and over files it holds a pidfd on the owner's process. If there is an owner, the
    /// participant once makes the group end the sessions of dead processes. It does not seek the ownership before the
    /// first call.
    ///
    /// - Parameters:
    ///   - group: An open handle, with the role ``SessionRole/main``.
    ///   - options: Deadlines and lifetimes, the same in all processes of the group.
    ///   - environment: The interfaces to the machine: clock, process control, witness, seed.
    ///   - core: Makes the core for each ownership.
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for a handle of another role, or one through which another
    ///   participant takes part that has not ended.
    public init(
        of group: any SharedStore, options: CoordinationOptions = CoordinationOptions(),
        environment: CoordinationEnvironment, core: @escaping @Sendable () -> any Core
    ) throws(SharedCoreError) {
        guard group.session.role == .main else {
            throw SharedCoreError(
                .invalidArgument, "A Main takes part with the role “main”, not “\(group.session.role)”.",
                at: "session \(group.session.id)")
        }
        participant = try Participant(group, core: core, options: options, environment: environment)
        participant.prepare()
    }

    deinit {
        participant.abandon()
    }

    /// Becomes the owner and starts the core; returns when it runs.
    ///
    /// - Parameters:
    ///   - takingOver: True to ask another Main that owns to hand over, and to fence it if it does not.
    ///   - insisting: True to interrupt the owner's activities. False to wait for each of them, up to its bound
    ///     (contract C17). Call it again with true to insist while the Main waits. With `takingOver`, this Main's
    ///     request also replaces the request of another Main that does not insist. The other Main is refused, or waits
    ///     behind this one.
    ///   - reporting: Called with the reason of the wait, each time that the reason changes: until the core runs, and
    ///     again when it no longer runs, until this Main ends. Called on the participants' thread, so it must return at
    ///     once. It is kept until the Main ends, so it must not hold a reference to this Main.
    /// - Throws: ``CoordinationError/Code/refused`` when another Main owns and answers challenges, unless `takingOver`;
    ///   ``CoordinationError/Code/coreFailed``; ``CoordinationError/Code/superseded`` when another Main took over
    ///   meanwhile; ``CoordinationError/Code/store`` when the group's store refuses it for longer than
    ///   ``CoordinationOptions/handoverTimeout``; ``CoordinationError/Code/cancelled`` and
    ///   ``CoordinationError/Code/closed``.
    public func start(
        takingOver: Bool = false, insisting: Bool = false, reporting: (@Sendable (OwnershipWaitReason) -> Void)? = nil
    ) async throws(CoordinationError) {
        try await withTaskExecutorPreference(participant.executor) { () async throws(CoordinationError) in
            try await participant.startMain(
                takingOver: takingOver, insisting: insisting, reporting: reporting)
        }
    }

    /// Becomes the owner as ``start(takingOver:insisting:reporting:)`` does, but waits behind another Main that answers
    /// challenges instead of being refused. While it waits it does not wake a Main that rests.
    package func startInTurn(
        takingOver: Bool = false, insisting: Bool = false, reporting: (@Sendable (OwnershipWaitReason) -> Void)? = nil
    ) async throws(CoordinationError) {
        try await withTaskExecutorPreference(participant.executor) { () async throws(CoordinationError) in
            try await participant.startMain(
                takingOver: takingOver, insisting: insisting, waitingItsTurn: true, reporting: reporting)
        }
    }

    /// Waits until this Main has lost the ownership and will not seek it again by itself, and returns the reason. An
    /// application that does not use `withMain` learns only by this call that its core does not start again.
    public func waitUntilEnded() async -> MainEndReason {
        await participant.mainEnd()
    }

    /// Puts this Main to rest: its core becomes quiet and stays registered, and the holder of the group owns for it
    /// under the same epoch. Returns when the holder owns. From then on this participant only watches the record of its
    /// rest, and reads it once a minute.
    ///
    /// Over files that read is the only wake-up of an idle process, on two conditions. No task has run on Swift's
    /// concurrent pool, which wakes its process once a second: see ``CoordinationEnvironment/coreExecutor``. No other
    /// watch or observation of the group is open: with one, the store reads the group every 10 s. Through a local hub a
    /// process wakes every 5 s, and for each commit of the group.
    ///
    /// The holder wakes it for a push, a waiting call, a request for hand-over and a keep-alive. This Main then owns
    /// for itself again, as after ``resume(for:)``, and its core continues. If it does not resume within
    /// ``CoordinationOptions/wakeBound``, its holder gives the core up and releases the ownership.
    ///
    /// Source: contract C26.
    ///
    /// - Throws: The core continues in each of these cases: ``CoordinationError/Code/unavailable`` without a holder;
    ///   ``CoordinationError/Code/unsupported`` where the session has a lease, or the core cannot rest;
    ///   ``CoordinationError/Code/refused`` while the core does not run, an activity, a critical section or a request
    ///   for hand-over is open, or a call waits for its message, and where ``resume(for:)`` was called before the core
    ///   was quiet; ``CoordinationError/Code/coreFailed`` where the core has thrown another error, or has not become
    ///   quiet within ``CoordinationOptions/stopTimeout``; ``CoordinationError/Code/fenced``,
    ///   ``CoordinationError/Code/cancelled`` and ``CoordinationError/Code/closed``.
    public func rest() async throws(CoordinationError) {
        try await withTaskExecutorPreference(participant.executor) { () async throws(CoordinationError) in
            try await participant.rest()
        }
    }

    /// Ends the rest: this Main owns for itself again. Returns when the core has resumed. If the core is still becoming
    /// quiet, the pending ``rest()`` throws ``CoordinationError/Code/refused``. Does nothing if the Main does not rest.
    ///
    /// - Parameter wake: The reason that the core is given.
    /// - Throws: ``CoordinationError/Code/fenced`` if the rest had ended: another epoch owns, or this Main owns under a
    ///   new epoch and starts another core; ``CoordinationError/Code/coreFailed`` where the core has not become quiet
    ///   for an earlier rest within ``CoordinationOptions/stopTimeout``; ``CoordinationError/Code/cancelled`` and
    ///   ``CoordinationError/Code/closed``.
    public func resume(for wake: Wake = .user) async throws(CoordinationError) {
        try await withTaskExecutorPreference(participant.executor) { () async throws(CoordinationError) in
            try await participant.resume(for: wake)
        }
    }

    /// True while this Main rests.
    public var isAtRest: Bool {
        get async { await participant.state.isAtRest }
    }

    /// Stops the core, releases ownership, and ends the participation until the next
    /// ``start(takingOver:insisting:reporting:)``; a Main that rests resumes first. Returns when that is done; a core
    /// that does not stop, or a release that the store does not accept, is given up after
    /// ``CoordinationOptions/stopTimeout``. Once the core has stopped, a store that does not answer is waited for 2
    /// seconds at most.
    public func stop() async {
        await participant.close()
    }

    /// Acknowledges a message that the application has shown directly from its core: no participant gets it any more.
    /// If an Executor has it in hand, its acknowledgement returns that the message was superseded.
    ///
    /// Source: contract C22.
    ///
    /// - Parameter id: Exactly the identity with which the core has delivered it.
    /// - Returns: True if the message waited to be acknowledged.
    /// - Throws: As ``pushes()``.
    @discardableResult
    public func acknowledge(_ id: MessageID) async throws(CoordinationError) -> Bool {
        try await withTaskExecutorPreference(participant.executor) { () async throws(CoordinationError) in
            try await participant.acknowledge(id)
        }
    }

    /// Begins to take the pushes that the host's `push.routes` route to Main. Ends the sequence of an earlier call.
    ///
    /// A push that is taken belongs to this Main until it is acknowledged, given back, or its session ends, even if
    /// another Main takes over. A push that no Main takes ends after `inbox.lifetime`, with an entry on the timeline.
    ///
    /// Source: contract P13.
    ///
    /// - Throws: ``CoordinationError/Code/closed``, ``CoordinationError/Code/fenced`` when the session is over, and
    ///   ``CoordinationError/Code/store``.
    public func pushes() async throws(CoordinationError) -> MainPushes {
        try await withTaskExecutorPreference(participant.executor) { () async throws(CoordinationError) in
            try await participant.pushes()
        }
    }

    /// Acknowledges a push that was handled: it is removed, with an entry on the timeline. Acknowledging twice is
    /// allowed.
    ///
    /// - Returns: True if the push was still this Main's.
    /// - Throws: As ``pushes()``. After ``CoordinationError/Code/store`` the push stays in hand: call again.
    @discardableResult
    public func acknowledge(_ push: TakenPush) async throws(CoordinationError) -> Bool {
        try await participant.acknowledge(push)
    }

    /// Gives a push back that this Main does not handle, so that a Main can take it again.
    ///
    /// - Throws: As ``acknowledge(_:)-(TakenPush)``.
    public func giveBack(_ push: TakenPush) async throws(CoordinationError) {
        try await participant.giveBack(push)
    }

    /// Gives back a push that the program never received. Tries again until the store accepts it, even after this Main
    /// has stopped.
    package func letGo(of push: TakenPush) async {
        await participant.letGo(of: push)
    }

    /// The messages of the group, with the lifetime of this participant's options. A Main that shows every message
    /// takes them from ``Inbox/deliveries()``.
    public var inbox: Inbox { participant.inbox }

    /// The epoch that this Main holds; nil while it does not own.
    public var epoch: Revision? {
        get async { await participant.state.holding }
    }

    /// How many cores this participant has started.
    public var coreStarts: Int {
        get async { await participant.state.coreStarts }
    }
}

/// Why a Main does not own any more.
public enum MainEndReason: Hashable, Sendable {
    /// It was stopped by its application.
    case stopped
    /// Another Main took over.
    case superseded
    /// Its core ended by itself, failed ten times in a row, or could not start the first time; the text gives the
    /// reason.
    case coreFailed(String)
    /// Its session has ended, or it cannot follow the group any more. Its core has stopped; close the handle.
    case sessionEnded
}
