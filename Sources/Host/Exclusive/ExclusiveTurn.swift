internal import Coordination
internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration
internal import Synchronization

/// The wait of `exclusive` for the core, with the options of flock(1): without a limit, for a time, or not at all.
final class ExclusiveTurn: Sendable {
    private let role: ExclusiveRole
    private let waits: Bool
    private let timeout: Duration?
    private let clock: any TimeSource
    /// Returns whether the command has not started.
    private let isWaiting: @Sendable () -> Bool
    private let cancelWait: @Sendable () -> Void
    private let ended = Mutex<CommandFailure?>(nil)

    /// Makes the turn of a command that has not begun to wait.
    ///
    /// - Parameter cancelWait: Called at most once, when the wait ends without the core. It must not block.
    init(
        as role: ExclusiveRole, waits: Bool, timeout: Duration?, by clock: any TimeSource,
        isWaiting: @escaping @Sendable () -> Bool, cancelWait: @escaping @Sendable () -> Void
    ) {
        (self.role, self.waits, self.timeout, self.clock) = (role, waits, timeout, clock)
        (self.isWaiting, self.cancelWait) = (isWaiting, cancelWait)
    }

    /// The reason why the wait has ended without the core; nil while it has not.
    var failure: CommandFailure? { ended.withLock { $0 } }

    private func giveUp(_ message: String) {
        guard isWaiting() else { return }
        let isFirst = ended.withLock { ended in
            guard ended == nil else { return false }
            ended = CommandFailure(.no, message + "; “sharedcore status” shows the owner")
            return true
        }
        if isFirst { cancelWait() }
    }

    /// Returns a task that ends the wait at the deadline, unless it is cancelled before; nil without a deadline.
    func watchClock(until deadline: CommandDeadline) -> Task<Void, Never>? {
        guard let instant = deadline.instant, let timeout else { return nil }
        return Task { [clock] in
            do { try await clock.sleep(until: instant) } catch { return }
            self.giveUp("timed out: the core was not to be had within \(DurationText.write(timeout))")
        }
    }

    /// With `--no-wait`, ends the wait if its reason is another participant.
    func evaluate(_ reason: OwnershipWaitReason) {
        guard !waits else { return }
        switch reason {
        // Nothing to do for a Main: the participant itself refuses it while another Main owns, and asks an Executor to
        // hand over.
        case .owner where role == .main, .request where role == .main: break
        case .owner, .request, .activity: giveUp("refused: \(reason.describe().replacing("waiting for ", with: ""))")
        case .handover, .criticalSection, .end, .answer, .rest, .coreStart, .store: break
        }
    }

    /// With `--no-wait`, refuses an Executor while another participant owns. A Main asks the owner.
    ///
    /// - Throws: The refusal, which is ``failure``.
    func check(_ group: any SharedStore) async throws {
        guard !waits, role == .executor, let owner = try await GroupOwner.current(in: group) else { return }
        evaluate(.owner(owner))
        if let failure { throw failure }
    }
}
