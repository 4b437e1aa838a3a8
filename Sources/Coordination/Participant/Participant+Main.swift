internal import CoreAPI
internal import Mailboxes

/// The requests of a Main to its participant.
extension Participant {
    func startMain(
        takingOver: Bool, insisting: Bool = false, waitingItsTurn: Bool = false,
        reporting: (@Sendable (OwnershipWaitReason) -> Void)?
    ) async throws(CoordinationError) {
        do throws(SharedCoreError) {
            try await reopen()
        } catch {
            throw failure(error)
        }
        try guardOpen()
        do throws(SharedCoreError) {
            try await begin()
        } catch {
            throw failure(error)
        }
        let before = state
        demandPolicy.start(
            takingOver: takingOver, insisting: insisting, waitingItsTurn: waitingItsTurn,
            isRunning: before.isCoreRunning)
        machine.hasYielded = false
        // A new request is tried at once.
        machine.rest = nil
        blockingFailure = nil
        wakeUp.signal()
        let caller = newNumber()
        report(to: caller, by: reporting)
        // A running Main may have to wait for its core again later, so its caller gets the reasons until the Main ends.
        var superfluous: Int? = caller
        defer { stopReporting(to: superfluous) }
        await untilState { state in
            state.isOver || state.isCoreRunning || state.refusal != nil || state.problem != before.problem
                || !state.wantsOwnership || state.lastingError != nil
        }
        try guardOpen()
        if let refusal = machine.refusal {
            withdraw(because: .refused)
            await tell(refusal)
            throw refused(by: refusal)
        }
        if state.isCoreRunning {
            superfluous = mainReporter
            mainReporter = caller
            return
        }
        if Task.isCancelled {
            withdraw(because: .startCancelled)
            throw CoordinationError(.cancelled, "The task that started the Main was cancelled.")
        }
        if let problem = demandPolicy.problem, problem != before.problem {
            // The core may have run for a short time, but nothing may run after a start that throws.
            withdraw(because: .coreFailed(problem.text))
            throw CoordinationError(.coreFailed, problem.text)
        }
        if let error = state.lastingError {
            withdraw(because: .storeRefuses)
            throw failure(error)
        }
        throw CoordinationError(.superseded, "Another Main took over.", owner: owner)
    }

    /// Waits for the end of a Main's ownership.
    func mainEnd() async -> MainEndReason {
        await untilState { state in state.isOver || (!state.wantsOwnership && state.isIdle) }
        switch end {
        case .storeEnded: return .sessionEnded
        case .closed: return .stopped
        case nil: break
        }
        if demandPolicy.isSuperseded { return .superseded }
        return demandPolicy.problem.map { .coreFailed($0.text) } ?? .stopped
    }

    /// Ends a Main's goal to own.
    func withdraw(because reason: IdleReason) {
        demandPolicy.withdraw(because: reason)
        reconsider()
    }
}
