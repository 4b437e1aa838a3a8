internal import CoreAPI
internal import Synchronization

/// One run of a core, from before its start to after its stop, away from the participants' thread.
final class CoreRun: Sendable {
    /// A report of a run to its participant.
    enum Report: Sendable {
        /// Its start has returned.
        case started
        /// It failed or ended by itself, and is being stopped.
        case failed(problem: Problem)
        /// It has stopped; with a problem when it was neither told to nor fenced, and with the baton that it has given.
        case ended(problem: Problem?, baton: CoreBaton? = nil)
    }

    /// Why a core does not run any more that was neither told to stop nor fenced.
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

    /// - Parameters:
    ///   - executor: The executor of the core; nil for the concurrent pool.
    ///   - prepare: Called first. Throwing ends the run before there is a core.
    ///   - starting: Told when the core is about to start. It must return at once.
    ///   - isFenced: True if a write has shown that the ownership is over: an error that the core throws then is no
    ///     fault of it.
    ///   - finish: Called last, when the core has stopped for good.
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
            // It has stopped, and waits for the end of its baton: no second core would run beside it.
            if baton != nil { context.giveUp.forget() }
            finish()
            await report(.ended(problem: isFenced() ? nil : problem, baton: baton))
        }
    }

    /// Tells the core to stop, why and within what time. The first call counts.
    func stop(_ request: StopRequest, within timeout: Duration) {
        var request = request
        request.timeout = timeout
        gate.close(request)
        task.cancel()
    }

    /// Tells the core, where it wants to hear of it, that others may own from now on though it has not stopped. It may end the
    /// process.
    func giveUp() {
        giveUpCall.call()
    }

    /// The same at a moment: for a participant that ends before its core has stopped.
    func giveUp(at limit: BootInstant, by clock: any TimeSource, on executor: any TaskExecutor) {
        guard giveUpCall.isAwaited else { return }
        if limit <= clock.now() { return giveUp() }
        Task(executorPreference: executor) { [giveUpCall] in
            do {
                try await clock.sleep(until: limit)
                giveUpCall.call()
            } catch {
                // Cancelled: by nothing here.
            }
        }
    }

    /// Runs a core through its three calls. Gives the problem that ended it, if it was not told to stop, and its baton.
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
        // A core that is told to stop has no problem to report, and another participant waits for the ownership.
        let problem: Problem? =
            Task.isCancelled
            ? nil
            : failure.map { Problem(text: "its core failed: \($0)") }
                ?? Problem(text: "its core ended by itself", isFinal: true)
        // Told before its stop, which may hang.
        if let problem, !isFenced() { await report(.failed(problem: problem)) }
        // A task of its own, because within a cancelled one a core could not wait for anything any more.
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

/// A core that has started and is not told to stop yet: it can be made quiet.
final class PresentCore: Sendable {
    private let content = Mutex<(any Core)?>(nil)

    var core: (any Core)? {
        get { content.withLock(\.self) }
        set { content.withLock { $0 = newValue } }
    }
}

/// The witness's hold of one run of a core; nothing where there is no witness.
final class WitnessedRun: Sendable {
    private let witness: (any Witness)?
    private let hold = Mutex<(any WitnessHold)?>(nil)

    init(by witness: (any Witness)?) {
        self.witness = witness
    }

    /// Says that the core runs. Gives the epochs of others that do.
    func begin(_ epoch: Revision) throws(SharedCoreError) -> [Revision] {
        guard let witness else { return [] }
        let begun = try witness.begin(epoch: epoch)
        hold.withLock { $0 = begun }
        return begun.others
    }

    /// The epochs of others that run now.
    func currentOthers() throws(SharedCoreError) -> [Revision] {
        try hold.withLock { $0 }?.currentOthers() ?? []
    }

    /// Says that the core has stopped.
    func end() {
        let held = hold.withLock { hold in
            defer { hold = nil }
            return hold
        }
        held?.end()
    }
}
