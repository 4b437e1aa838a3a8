internal import Coordination
internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration
internal import Synchronization

/// How long `exclusive` waits for its turn, as flock(1) has it: without a limit, for a time, or not at all.
final class ExclusiveTurn: Sendable {
    private let role: ExclusiveRole
    private let waits: Bool
    private let timeout: Duration?
    private let clock: any TimeSource
    /// Whether the command has not begun.
    private let isWaiting: @Sendable () -> Bool
    /// Ends the wait.
    private let end: @Sendable () -> Void
    private let ended = Mutex<CommandFailure?>(nil)

    /// - Parameter end: Called at most once, when the wait is over without a turn. It must not block.
    init(
        as role: ExclusiveRole, waits: Bool, timeout: Duration?, by clock: any TimeSource,
        isWaiting: @escaping @Sendable () -> Bool, end: @escaping @Sendable () -> Void
    ) {
        (self.role, self.waits, self.timeout, self.clock) = (role, waits, timeout, clock)
        (self.isWaiting, self.end) = (isWaiting, end)
    }

    /// Why the wait was ended; nil while it was not.
    var failure: CommandFailure? { ended.withLock { $0 } }

    private func end(_ message: String) {
        guard isWaiting() else { return }
        let isFirst = ended.withLock { ended in
            guard ended == nil else { return false }
            ended = CommandFailure(.no, message + "; “sharedcore status” shows the owner")
            return true
        }
        if isFirst { end() }
    }

    /// Ends the wait at the deadline, unless the task is cancelled before. Nil without a deadline.
    func watchClock(until deadline: CommandDeadline) -> Task<Void, Never>? {
        guard let instant = deadline.instant, let timeout else { return nil }
        return Task { [clock] in
            do { try await clock.sleep(until: instant) } catch { return }
            self.end("timed out: the core was not to be had within \(DurationText.write(timeout))")
        }
    }

    /// Takes in why the participant waits: where it must not, a wait for another one's end is the end of its own.
    func hear(_ reason: OwnershipWaitReason) {
        guard !waits else { return }
        switch reason {
        // A Main is refused by another one, or asks an Executor.
        case .owner where role == .main, .request where role == .main: break
        case .owner, .request, .activity: end("refused: \(reason.describe().replacing("waiting for ", with: ""))")
        case .handover, .criticalSection, .end, .answer, .rest, .coreStart, .store: break
        }
    }

    /// Refuses an Executor that must not wait where another participant owns. A Main asks.
    func check(_ group: any SharedStore) async throws {
        guard !waits, role == .executor, let owner = try await GroupOwner.current(in: group) else { return }
        hear(.owner(owner))
        if let failure { throw failure }
    }

    /// After a refusal by a Main, waits until none owns the core or has asked for it.
    ///
    /// - Returns: Whether there is to be another attempt.
    func wait(after refusal: CoordinationError, in group: any SharedStore) async throws -> Bool {
        guard waits, refusal.code == .refused else { return false }
        let watch = try await group.watch(OwnershipKey.path, from: .snapshot)
        defer { watch.cancel() }
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let nextAttempt = clock.now().advanced(by: Self.longestWait)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            defer { tasks.cancelAll() }
            tasks.addTask { while try await watch.next() != nil { signal.yield() } }
            tasks.addTask { [clock] in
                while true {
                    try await clock.sleep(until: clock.now().advanced(by: Self.interval))
                    signal.yield()
                }
            }
            for await _ in signals {
                let isMain = try await GroupOwner.current(in: group)?.role == .main
                let isAsked = try await PendingHandover.current(in: group) != nil
                if !isMain && !isAsked || clock.now() >= nextAttempt { return }
            }
            try Task.checkCancellation()
        }
        return true
    }

    /// How often the owner's process is looked for: a watch does not tell of the end of one that was killed.
    private static let interval = Duration.seconds(1)
    /// Time after which a Main that owns is asked anew: one that is stopped meanwhile shows no change, and only an attempt
    /// challenges it.
    private static let longestWait = Duration.seconds(30)
}
