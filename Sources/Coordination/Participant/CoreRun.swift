internal import CoreAPI
internal import Synchronization

/// One run of a core, from before its start to after its stop, away from the participants' thread.
final class CoreRun: Sendable {
    /// The reports of a run of a core to its participant.
    enum Report: Sendable {
        /// Its start has returned.
        case started
        /// The core failed or ended by itself, and is being stopped.
        case failed(problem: Problem)
        /// The core has stopped, with the problem if it was neither told to stop nor fenced, and with the baton that it
        /// has given.
        case ended(problem: Problem?, baton: CoreBaton? = nil)
    }

    /// Why a core ended that was neither told to stop nor fenced.
    struct Problem: Sendable {
        let text: String
        /// True if it ended by itself, without an error.
        var isFinal = false
    }

    /// The ownership that it runs under.
    let epoch: Revision
    /// The activities that the core is beginning.
    let gate: ActivityGate
    /// The core between its start and its stop.
    let present = PresentCore()
    let context: CoreContext
    private let giveUpCall: GiveUpCall
    private let task: Task<Void, Never>

    /// Starts a core in a task of its own.
    ///
    /// - Parameters:
    ///   - executor: The executor of the core; nil for the concurrent pool.
    ///   - prepare: Called first. If it throws, the run ends before a core is made.
    ///   - starting: Called when the core is about to start. It must return at once.
    ///   - isFenced: Returns true if a write has shown that the ownership has ended. An error that the core then throws
    ///     does not count as its failure.
    ///   - finish: Called last, when the core has stopped and is not called any more.
    init(
        in context: CoreContext, core: @escaping @Sendable () -> any Core, on executor: (any TaskExecutor)? = nil,
        prepare: @escaping @Sendable () async throws -> Void, starting: @escaping @Sendable () -> Void = {},
        isFenced: @escaping @Sendable () -> Bool,
        finish: @escaping @Sendable () -> Void,
        report: @escaping @Sendable (Report) async -> Void
    ) {
        epoch = context.epoch
        gate = context.gate
        giveUpCall = context.giveUp
        self.context = context
        task = Task.detached(executorPreference: executor) { [present] in
            do {
                try await prepare()
                try Task.checkCancellation()
            } catch {
                context.dropReceivedBaton()
                finish()
                return await report(.ended(problem: Task.isCancelled || isFenced() ? nil : Problem(text: "\(error)")))
            }
            starting()
            let (problem, baton) = await Self.run(
                core(), in: context, on: executor, present: present, isFenced: isFenced, report: report)
            // The core has stopped and waits for the outcome of its baton: the next owner's core may run beside it.
            if baton != nil { context.giveUp.forget() }
            finish()
            await report(.ended(problem: isFenced() ? nil : problem, baton: baton))
        }
    }

    /// Tells the core to stop, with the reason and the time limit. Only the first call counts.
    func stop(_ request: StopRequest, within timeout: Duration) {
        var request = request
        request.timeout = timeout
        gate.close(request)
        task.cancel()
    }

    /// Calls the handler of the core, if it has set one, because other participants may own from now on although the
    /// core has not stopped. The handler may end the process.
    func giveUp() {
        giveUpCall.call()
    }

    /// Calls ``giveUp()`` at `limit`, for a participant that ends before its core has stopped.
    func giveUp(at limit: BootInstant, by clock: any TimeSource, on executor: any TaskExecutor) {
        guard giveUpCall.isAwaited else { return }
        if limit <= clock.now() { return giveUp() }
        Task(executorPreference: executor) { [giveUpCall] in
            do {
                try await clock.sleep(until: limit)
                giveUpCall.call()
            } catch {
                // Cannot happen, because no code cancels this task.
            }
        }
    }

    /// Runs a core through its three calls. Returns the problem that ended it, if it was not told to stop, and its
    /// baton.
    private static func run(
        _ core: any Core, in context: CoreContext, on executor: (any TaskExecutor)?, present: PresentCore,
        isFenced: @Sendable () -> Bool, report: @Sendable (Report) async -> Void
    ) async -> (Problem?, CoreBaton?) {
        var failure: (any Error)?
        var hasStarted = false
        do {
            try await core.start(in: context)
            hasStarted = true
            try await context.endReceivedBaton()
            present.core = core
            await report(.started)
            try await core.iterate(in: context)
        } catch {
            failure = error
        }
        present.core = nil
        context.dropReceivedBaton()
        // If the core was told to stop, an error is not reported as a problem, because the core ends in any case.
        let problem: Problem? =
            Task.isCancelled
            ? nil
            : failure.map { Problem(text: "its core failed: \($0)") }
                ?? Problem(text: "its core ended by itself", isFinal: true)
        // Reported before the core's stop, which may hang.
        if let problem, !isFenced() { await report(.failed(problem: problem)) }
        // The core stops in a task of its own: this task is cancelled, so the core could wait for nothing in it.
        let request = context.request ?? StopRequest(isFenced() ? .superseded : .failed, within: context.stopTimeout)
        let gives = hasStarted && !request.takes.isEmpty && problem == nil
        let baton = await Task(executorPreference: executor) { () -> Baton? in
            if gives { return await core.handOver(request) }
            await core.stop(request)
            return nil
        }.value
        return (problem, baton.map { CoreBaton(core: core, baton: $0) })
    }
}

/// A core that has started and was not told to stop: it can rest.
final class PresentCore: Sendable {
    private let content = Mutex<(any Core)?>(nil)

    var core: (any Core)? {
        get { content.withLock(\.self) }
        set { content.withLock { $0 = newValue } }
    }
}

/// The witness's record of one run of a core; does nothing without a witness.
final class WitnessedRun: Sendable {
    private let witness: (any Witness)?
    private let hold = Mutex<(any WitnessHold)?>(nil)

    init(by witness: (any Witness)?) {
        self.witness = witness
    }

    /// Tells the witness that the core runs. Returns the epochs of other running cores.
    func begin(_ epoch: Revision) throws(SharedCoreError) -> [Revision] {
        guard let witness else { return [] }
        let begun = try witness.begin(epoch: epoch)
        hold.withLock { $0 = begun }
        return begun.others
    }

    /// Returns the epochs of the other cores that run now.
    func currentOthers() throws(SharedCoreError) -> [Revision] {
        try hold.withLock { $0 }?.currentOthers() ?? []
    }

    /// Tells the witness that the core has stopped.
    func end() {
        let held = hold.withLock { hold in
            defer { hold = nil }
            return hold
        }
        held?.end()
    }
}
