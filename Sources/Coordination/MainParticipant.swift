public import CoreAPI

/// The long-lived participant of an application: it owns the core whenever it runs.
///
/// ```swift
/// let main = try MainParticipant(of: group) { MailCore(account) }
/// try await main.start()          // an Executor that owns hands over first
/// ...
/// await main.stop()
/// ```
///
/// A Main is never refused because of an Executor. One that was frozen and lost ownership to an Executor stops its core
/// when it can run again, and asks for ownership anew. A core that fails after it has run is started again, after 1 s and
/// twice as long with each failure in a row, 30 s at most. It ends the Main when it fails ten times in a row without having
/// run for 30 s, or when its `iterate` returns by itself; ``waitUntilEnded()`` tells.
///
/// Source: contract C2, C3, C8, C14, C17, C22, C26, P13.
public final class MainParticipant: Sendable {
    let participant: Participant

    /// A Main that takes part through an open handle. The handle is the caller's: close it after ``stop()``.
    ///
    /// From here on it follows the ownership with one watch, whether it is asked for anything or not; where it finds an
    /// owner, it has the group look for its dead once. It takes no part before it is asked to. A watch has its price
    /// also without any call: each change of ownership wakes this process, and over files it holds a pidfd on the
    /// owner's process.
    ///
    /// - Parameters:
    ///   - group: An open handle, with the role ``SessionRole/main``.
    ///   - options: Deadlines and lifetimes, the same in all processes of the group.
    ///   - environment: Its interfaces to the machine: clock, process control, witness, seed.
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
    ///   - insisting: True to interrupt the owner's activities. Otherwise they are waited for, each for its bound at
    ///     most (contract C17). A Main that waits already insists when this is called again. With `takingOver` it
    ///     replaces the request of a Main that does not insist, which is refused then, or waits behind this one.
    ///   - reporting: Told why it waits, each time that this is another reason: until the core runs, and again when it does
    ///     not run any more, until this Main ends. Called on the participants' thread: it must return at once. It is kept
    ///     until then, and must not keep this Main.
    /// - Throws: ``CoordinationError/Code/refused`` when another Main that answers owns, unless `takingOver`;
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

    /// Becomes the owner as ``start(takingOver:insisting:reporting:)`` does, and is not refused: it waits behind another
    /// Main for as long as that answers challenges. While it waits it does not wake a Main that rests.
    package func startInTurn(
        takingOver: Bool = false, insisting: Bool = false, reporting: (@Sendable (OwnershipWaitReason) -> Void)? = nil
    ) async throws(CoordinationError) {
        try await withTaskExecutorPreference(participant.executor) { () async throws(CoordinationError) in
            try await participant.startMain(
                takingOver: takingOver, insisting: insisting, waitingItsTurn: true, reporting: reporting)
        }
    }

    /// Returns when this Main does not own any more and will not by itself. An application that does not wait for it does
    /// not learn that its core is gone for good.
    public func waitUntilEnded() async -> MainEndReason {
        await participant.mainEnd()
    }

    /// Lets this Main sleep: its core is made quiet and stays registered, and the holder of the group owns for it, under the same epoch.
    /// Returns when it does. From then on this participant watches its rest alone, and reads it once a minute.
    ///
    /// Over files that read is the only wake-up of an idle process, on two conditions. No task has run on Swift's
    /// concurrent pool, which wakes its process once a second: see ``CoordinationEnvironment/coreExecutor``. No other
    /// watch or observation of the group is open: with one, the store reads the group every 10 s. Through a local hub a
    /// process wakes every 5 s, and for each commit of the group.
    ///
    /// The holder wakes it for a push, a call that waits, a request for hand-over and a keep-alive. This Main then owns
    /// for itself again, as after ``resume(for:)``, and its core goes on. If it does not resume within
    /// ``CoordinationOptions/wakeBound``, its holder gives the core up and releases the ownership.
    ///
    /// Source: contract C26.
    ///
    /// - Throws: Where the core goes on in place of resting: ``CoordinationError/Code/unavailable`` without a holder;
    ///   ``CoordinationError/Code/unsupported`` where the session has a lease, or the core cannot rest;
    ///   ``CoordinationError/Code/refused`` while the core does not run, an activity, a critical section or a request for hand-over is open, or a
    ///   call waits for its message, and where ``resume(for:)`` was called before the core was quiet; ``CoordinationError/Code/coreFailed`` where the core has thrown another error, or has not become quiet within
    ///   ``CoordinationOptions/stopTimeout``; ``CoordinationError/Code/fenced``, ``CoordinationError/Code/cancelled`` and
    ///   ``CoordinationError/Code/closed``.
    public func rest() async throws(CoordinationError) {
        try await withTaskExecutorPreference(participant.executor) { () async throws(CoordinationError) in
            try await participant.rest()
        }
    }

    /// Owns for itself again after a rest; returns when the core goes on. While the core is
    /// becoming quiet, ``rest()`` throws ``CoordinationError/Code/refused`` then. A Main that does not rest goes on.
    ///
    /// - Parameter wake: The reason that the core is given.
    /// - Throws: ``CoordinationError/Code/fenced`` where the rest was over: another epoch owns, or this Main owns anew and starts another core;
    ///   ``CoordinationError/Code/coreFailed`` where the core has not become quiet for an earlier rest within
    ///   ``CoordinationOptions/stopTimeout``; ``CoordinationError/Code/cancelled`` and ``CoordinationError/Code/closed``.
    public func resume(for wake: Wake = .user) async throws(CoordinationError) {
        try await withTaskExecutorPreference(participant.executor) { () async throws(CoordinationError) in
            try await participant.resume(for: wake)
        }
    }

    /// True while this Main rests.
    public var isAtRest: Bool {
        get async { await participant.state.isAtRest }
    }

    /// Stops the core, releases ownership, and ends the participation until the next ``start(takingOver:insisting:reporting:)``; a Main that rests
    /// resumes first. Returns when that is done; a core that does not
    /// stop, or an ownership that the store does not let go of, is given up after ``CoordinationOptions/stopTimeout``. Once
    /// the core has stopped, a store that does not answer is waited for 2 seconds at most.
    public func stop() async {
        await participant.close()
    }

    /// Says that this Main's application has shown a message, of which it knows from its core: no participant gets it any more. An Executor
    /// that has it in hand is told so by its acknowledgement.
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

    /// Begins to take the pushes that are routed to Main, `push.routes` of the host. A call that was made before ends.
    ///
    /// A push that is taken is this Main's until it is acknowledged, given back, or its session ends; it is not taken
    /// back when another Main takes over. A push that no Main takes ends with `inbox.lifetime`; the timeline tells.
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

    /// Says that a push was dealt with: it is gone, and the timeline tells of it. Acknowledging twice does no harm.
    ///
    /// - Returns: True if the push was still this Main's.
    /// - Throws: As ``pushes()``. After ``CoordinationError/Code/store`` the push stays in hand: call again.
    @discardableResult
    public func acknowledge(_ push: TakenPush) async throws(CoordinationError) -> Bool {
        try await participant.acknowledge(push)
    }

    /// Lets a Main take a push again that this one does not deal with.
    ///
    /// - Throws: As ``acknowledge(_:)-(TakenPush)``.
    public func giveBack(_ push: TakenPush) async throws(CoordinationError) {
        try await participant.giveBack(push)
    }

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
    /// Its core ended by itself, failed ten times in a row, or could not start the first time; the text says why.
    case coreFailed(String)
    /// Its session is over for the group, or it cannot follow the group any more: its core has stopped, close the handle.
    case sessionEnded
}
