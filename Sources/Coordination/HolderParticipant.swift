public import CoreAPI

/// The process that owns for a Main that rests: the host, or a program of its own.
///
/// ```swift
/// let holder = try HolderParticipant(of: group)
/// try await holder.start()        // from now on a Main of this machine may rest
/// ...
/// await holder.stop()             // wakes a Main that rests, and ends
/// ```
///
/// A group has one holder at a time; others wait to take its place. It owns only on behalf of a Main that rests, and
/// runs no core. It answers challenges for the Main that rests, and wakes it for a waiting call, a push that is routed
/// to Main, a request for hand-over, and reasons that its program gives. A Main that does not resume within
/// ``CoordinationOptions/wakeBound`` loses its core: the holder releases the ownership, and the timeline says why.
///
/// Source: contract C26.
public final class HolderParticipant: Sendable {
    private let holder: Holder

    /// Makes a holder that acts through an open handle. The handle is the caller's: close it after ``stop()``.
    ///
    /// - Parameters:
    ///   - group: An open handle, with another role than ``SessionRole/main`` and ``SessionRole/executor``.
    ///   - options: Deadlines and lifetimes, the same in all processes of the group.
    ///   - environment: Its interfaces to the machine: clock, process control, witness, seed.
    ///   - woken: Called once for each wake of a Main that rests here, with that Main's process, whether this holder or
    ///     another participant woke it. A host passes this on to the Main's keeper, which has a watchdog that
    ///     supervises the Main from then on.
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for a handle of a Main or an Executor, or one through which a participant takes part.
    public init(
        of group: any SharedStore, options: CoordinationOptions = CoordinationOptions(),
        environment: CoordinationEnvironment, woken: (@Sendable (ProcessIdentity) async -> Void)? = nil
    ) throws(SharedCoreError) {
        guard group.session.role != .main, group.session.role != .executor else {
            throw SharedCoreError(
                .invalidArgument, "A holder owns for others, and has another role than “\(group.session.role)”.",
                at: "session \(group.session.id)")
        }
        holder = try Holder(group, options: options, environment: environment, woken: woken)
    }

    deinit {
        holder.abandon()
    }

    /// Begins to act as the group's holder. Returns when it has read the group.
    ///
    /// - Throws: ``CoordinationError/Code/closed`` after ``stop()``; ``CoordinationError/Code/store``.
    public func start() async throws(CoordinationError) {
        try await holder.start()
    }

    /// Wakes the Main that rests here, and returns when it has resumed or its rest is over, after twice
    /// ``CoordinationOptions/wakeBound`` at the latest; at once if none rests here. Until it returns, no Main begins to
    /// rest.
    public func wakeMain(for wake: Wake) async {
        await holder.wakeMain(for: wake)
    }

    /// Sets when the next keep-alive of the Main is due: the holder wakes it then. Nil for never.
    public func setKeepAlive(at instant: BootInstant?) async {
        await holder.setKeepAlive(at: instant)
    }

    /// True while a Main rests here.
    public var isHolding: Bool {
        get async { await holder.isHolding }
    }

    /// Wakes a Main that rests here, and ends when the Main has resumed or its rest is over, after twice
    /// ``CoordinationOptions/wakeBound`` at the latest.
    public func stop() async {
        await holder.stop()
    }

    /// Waits until the holder has ended, or the task is cancelled.
    ///
    /// - Throws: ``CoordinationError/Code/store`` if the group's store has ended it: the handle is closed, the session
    ///   has ended, or the group is damaged or its files were removed.
    public func waitUntilEnded() async throws(CoordinationError) {
        try await holder.waitUntilEnded()
    }
}
