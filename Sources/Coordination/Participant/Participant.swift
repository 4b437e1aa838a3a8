internal import CoreAPI
internal import Mailboxes
internal import Synchronization

/// Runs the machines of one participant: it passes the events of the store's watch and the time to them, and carries
/// out their directives.
///
/// It runs on the participants' thread, where no code of the application runs; a core's calls run elsewhere.
actor Participant {
    nonisolated let store: any SharedStore
    nonisolated let options: CoordinationOptions
    nonisolated let environment: CoordinationEnvironment
    nonisolated let inbox: Inbox
    nonisolated let mainPushes: MainPushQueue
    nonisolated let timeline: Timeline
    /// Wakes the loop.
    nonisolated let wakeUp = AsyncEvent()
    nonisolated let makeCore: @Sendable () -> any Core
    /// The executor of this participant: the participants' thread, except in a simulation.
    nonisolated let executor: any SerialExecutor & TaskExecutor

    private var claim: SessionClaim
    /// The kinds of the batons that this participant's cores have given. Its later cores take them, too.
    var givenKinds: [String] = []
    var machine: OwnershipMachine
    /// The goal concerning ownership.
    var demandPolicy: DemandPolicy
    var lastNumber = 0
    /// The callers that wait for this participant's own state to change.
    var listeners: [Int: AsyncEvent] = [:]
    /// The callbacks that report to callers why they wait, by the number of the caller.
    private var reporters: [Int: @Sendable (OwnershipWaitReason) -> Void] = [:]
    /// The reporter of the running Main, which its `start` was given.
    var mainReporter: Int?
    /// The expectations of this participant, by item.
    var expected = OwnExpectations()
    /// The last pending write of each expectation.
    var writes: [ItemName: (number: Int, end: Task<Void, Never>)] = [:]

    var coreRun: CoreRun?
    /// When the last core stopped; nil before.
    var coreStopped: BootInstant?
    /// The core that is becoming quiet for a rest; nil if none is.
    var becomingQuiet: CoreRun?
    /// True if the Main was resumed while its core was becoming quiet.
    var isResumedEarly = false
    /// The core that is being resumed after a rest; nil if none is.
    var resuming: CoreRun?
    /// The core of a baton that is kept, and the baton's keeper.
    var givenBaton: KeptBaton?
    /// The calls of the running core to the store, which are cancelled when the group cannot be reached.
    var coreCalls = CutCalls()
    var leaseWatch: Task<Void, Never>?
    /// The task that checks an Executor's policy while the loop waits for the store.
    var policyWatch: Task<Void, Never>?
    /// True while the loop carries out a directive: it may wait for the store.
    var isCarryingOut = false
    /// How many cores were started here.
    nonisolated let coreStartCount = Atomic(0)
    var demandWatch: Watch?
    /// The watch through which the application takes pushes.
    var pushWatch: Watch?

    /// How many entries of the timeline this participant has written since it last dropped the oldest.
    var untrimmedCount = 0
    /// True while the oldest entries are being dropped.
    var isTrimming = false
    /// The store's error that prevents the machine's directives; nil after a directive has succeeded.
    var blockingFailure: BlockingFailure?
    /// Since when the participant waits for a successful answer of the store. Refusals do not count as answers. Nil
    /// while it does not wait.
    var troubleSince: BootInstant?
    /// The time at which the core was told to stop, or the participation to end; nil if neither was.
    var stoppingSince: BootInstant?

    /// Why the store refuses the writes of the core that runs here, or ran here last.
    var storeRefusal = StoreRefusal()
    var isPublishingRefusal = false
    /// The refusal that an owner has published, until a sign that it has ended.
    var storeRefusalOfOwner: RefusalRecord?

    /// The permanent error of the store's watch, from then until the core has stopped.
    var fault: SharedCoreError?
    private(set) var end: ParticipantEnd?
    /// True once the application has made a request, even if the participant could not begin yet.
    private var isAsked = false
    private var loop: Task<Void, Never>?
    /// The task that begins to follow the group. Its result is the error with which that failed; nil for success.
    private var attending: Task<SharedCoreError?, Never>?
    /// The task that prepares this participant before its first request.
    private(set) var preparation: Task<Void, Never>?
    var watch: Watch?
    /// True while the watch covers only the keys that a resting Main has to see.
    var isWatchOfSleep = false
    var alarm: Alarm
    private var published: ParticipantState?
    /// The start of the last linearizable read of the ownership; nil before the first one.
    var lookedAt: BootInstant?
    /// The guards and timeline events of the last commit, and how often in a row it was committed.
    var repetition: (guards: [Transaction.Guard], timelineEvents: [OwnershipEvent], count: Int)?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    nonisolated var clock: any TimeSource { environment.clock }

    init(
        _ store: any SharedStore, core: @escaping @Sendable () -> any Core, options: CoordinationOptions,
        environment: CoordinationEnvironment
    ) throws(SharedCoreError) {
        self.store = store
        self.options = options
        self.environment = environment
        self.executor = environment.executor ?? environment.system.participants()
        self.makeCore = core
        self.inbox = try Inbox(store, lifetime: options.inboxLifetime)
        self.timeline = Timeline(store, capacity: options.timelineCapacity)
        self.mainPushes = try MainPushQueue(
            store, timelineCapacity: options.timelineCapacity, clock: environment.clock)
        let session = store.session
        self.claim = try SessionClaim(on: session)
        let myself = Participation(
            session: session.id, role: session.role, name: session.name, process: session.process,
            processNamespace: environment.system.ownNamespace(session.process), reach: store.ownReach)
        self.machine = OwnershipMachine(
            for: myself, rules: options.rules, seed: environment.seed ^ session.id.rawValue,
            at: environment.clock.now())
        self.demandPolicy = DemandPolicy(
            isMain: myself.isMain, budget: options.executorBudget, linger: options.coreLinger)
        self.alarm = Alarm(signalling: wakeUp, by: environment.clock, on: executor)
    }

    /// Begins to take part, at the first request that needs it.
    func begin() async throws(SharedCoreError) {
        isAsked = true
        try await attend()
        guard end == nil, loop == nil else { return }
        loop = Task(executorPreference: executor) { await self.run() }
    }

    /// Takes part again after ``close()``, if the handle is open and no other participant uses its session.
    func reopen() async throws(SharedCoreError) {
        guard end == .closed else { return }
        await loop?.value
        guard end == .closed else { return }
        claim = try SessionClaim(on: store.session)
        (end, fault, loop, attending, watch, isWatchOfSleep) = (nil, nil, nil, nil, nil, false)
        (blockingFailure, troubleSince, stoppingSince, coreStopped) = (nil, nil, nil, nil)
        demandPolicy.isClosing = false
        // A core that has not stopped in time may still run: no other one is started beside it.
        if machine.core == nil { machine.leftover = coreRun?.epoch }
    }

    /// Follows the ownership without seeking it. This prepares what the first request needs, such as the thread. If it
    /// fails, the next call tries again.
    nonisolated func prepare() {
        Task(executorPreference: executor) { await self.beginPreparation() }
    }

    private func beginPreparation() {
        guard end == nil else { return }
        preparation = Task(executorPreference: executor) {
            do throws(SharedCoreError) {
                try await self.attend()
                try await self.meet()
            } catch {
                return
            }
        }
    }

    /// Begins to follow the group, once.
    private func attend() async throws(SharedCoreError) {
        let task = attending ?? Task(executorPreference: executor) { await self.open() }
        attending = task
        if let error = await task.value {
            // Another caller that saw this failure first may have begun a new attempt.
            if attending == task { attending = nil }
            throw error
        }
    }

    /// For a Main that finds an Executor as the owner, makes the group end the sessions of dead processes before it
    /// asks. If a Main owns, this one is refused, and checks that owner when it is.
    private func meet() async throws(SharedCoreError) {
        // If the application has already made a request, that request reads the store itself.
        guard !isAsked, end == nil, store.session.role == .main, let owner = machine.view.owner,
            owner.record.role == .executor
        else { return }
        let now = clock.now()
        _ = try await store.sessions(among: machine.view.sessions)
        try await look(.causal)
        machine.met(owner.claim, at: now)
    }

    private func open() async -> SharedCoreError? {
        do throws(SharedCoreError) {
            // Open the watch before the read. The watch begins with a snapshot of its own.
            let watch = try await store.watch([OwnershipKey.path], from: .snapshot)
            guard let first = try await watch.next() else {
                return SharedCoreError(.closed, "The group's handle is closed.", at: "session \(store.session.id)")
            }
            guard end == nil else {
                watch.cancel()
                return nil
            }
            machine.view.apply(first, at: clock.now())
            noticeRefusal()
            self.watch = watch
            Task(executorPreference: executor) { await self.follow(watch) }
            return nil
        } catch {
            // Waiting callers get the reason of the end, not the errors that follow from it.
            return end == nil ? error : nil
        }
    }

    /// Stops the core, releases the ownership, and ends all tasks. Returns when that is done, or after its time limit.
    /// A core that does not stop then keeps running, and an ownership that the store does not release ends with the
    /// session.
    func close() async {
        demandPolicy.isClosing = true
        stoppingSince = stoppingSince ?? clock.now()
        reconsider()
        guard loop != nil else { return finish(with: .closed) }
        // In a task of its own, because the core must also stop if the caller is cancelled. The loop may wait for the
        // store for longer than the bound.
        await Task(executorPreference: executor) { await self.untilState { $0.isOver || $0.isStuck } }.value
        finish(with: .closed)
    }

    /// Ends a participant to which the application has no reference any more.
    nonisolated func abandon() {
        Task(executorPreference: executor) { await self.close() }
    }

    /// The participant's own state now.
    var state: ParticipantState {
        ParticipantState(
            isOver: end != nil, wantsOwnership: demandPolicy.intent.wantsOwnership, holding: machine.holding?.epoch,
            core: machine.core, coreStarts: coreStartCount.load(ordering: .relaxed), refusal: machine.refusal,
            lossOf: demandPolicy.lastLoss?.epoch, problem: demandPolicy.problem, isIdle: isIdle, isStuck: isStuck,
            stuckAt: stuckAt, isAtRest: machine.isAtRest, wantsRest: machine.wantsRest,
            isBecomingQuiet: becomingQuiet != nil, isQuiet: machine.core?.isQuiet == true || isResumingCore,
            waiting: (lastingError ?? cut).map { .store($0) } ?? machine.waiting, lastingError: lastingError)
    }

    /// The error for which the core of the held ownership does not run: the group cannot be reached.
    private var cut: SharedCoreError? {
        machine.holding != nil && machine.core?.mayRun != true && machine.isInDoubt(at: clock.now())
            ? CutCalls.refusal : nil
    }

    /// The store's error, once it has blocked this participant for longer than a hand-over may take.
    private var lastingError: SharedCoreError? {
        guard let blockingFailure, blockingFailure.since.advanced(by: options.handoverTimeout) <= clock.now() else {
            return nil
        }
        return blockingFailure.error
    }

    /// When the participant gives up the release of its core's ownership. This is the stop timeout after the store began to
    /// refuse the release. If no core must stop, it is a shorter time after the store stopped answering.
    var stuckAt: BootInstant? {
        // While the loop waits for the store, an Executor does not learn that its time has passed.
        guard let troubleSince, let over = stoppingSince ?? demandPolicy.policyIsDue else { return nil }
        let begun = max(troubleSince, over)
        let limit = begun.advanced(by: options.stopTimeout)
        let isSilent = coreRun == nil && (blockingFailure == nil || blockingFailure?.error.code == .unavailable)
        return isSilent ? min(limit, max(begun, coreStopped ?? begun).advanced(by: options.releaseBound)) : limit
    }

    var isStuck: Bool {
        machine.isStuck(at: clock.now()) || stuckAt.map { $0 <= clock.now() } ?? false
    }

    /// True if no ownership, core or goal is left here.
    private var isIdle: Bool {
        machine.holding == nil && machine.core == nil && machine.given == nil && demandPolicy.policy == nil
            && demandPolicy.needs.isEmpty
    }

    /// Waits until the participant's own state satisfies a condition, until `limit`, or until the task is cancelled.
    func untilState(before limit: BootInstant? = nil, _ condition: (ParticipantState) -> Bool) async {
        let wakeUp = AsyncEvent()
        let number = newNumber()
        listeners[number] = wakeUp
        var alarm = Alarm(signalling: wakeUp, by: clock, on: executor)
        defer {
            listeners[number] = nil
            alarm.stop()
        }
        while true {
            let state = state
            if condition(state) || Task.isCancelled { return }
            if let limit {
                guard clock.now() < limit else { return }
                alarm.set(to: limit)
            }
            if let stuckAt = state.stuckAt, !state.isStuck { alarm.set(to: stuckAt) }
            await wakeUp.wait()
        }
    }

    /// Reports the reason of the wait to a caller, from now until ``stopReporting(to:)``.
    func report(to caller: Int, by reporting: (@Sendable (OwnershipWaitReason) -> Void)?) {
        guard let reporting else { return }
        // Report the present reason to the other callers first, so that this caller does not get it twice.
        publish()
        reporters[caller] = reporting
        if let waiting = state.waiting { reporting(waiting) }
    }

    func stopReporting(to caller: Int?) {
        if let caller { reporters[caller] = nil }
    }

    func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Wakes the callers that wait for a change of this participant's own state.
    func publish() {
        let state = state
        guard state != published else { return }
        if let waiting = state.waiting, waiting != published?.waiting {
            for (_, report) in reporters.sorted(by: { $0.key < $1.key }) { report(waiting) }
        }
        published = state
        signalListeners()
    }

    func signalListeners() {
        // In the order of registration, which makes runs reproducible.
        for (_, listener) in listeners.sorted(by: { $0.key < $1.key }) { listener.signal() }
    }

    /// Records a store error that no caller receives.
    func note(_ error: SharedCoreError) {
        switch error.code {
        case .closed, .sessionEnded: finish(with: .storeEnded(error))
        case .guardFailed: break
        default: machine.failed(at: clock.now())
        }
    }

    func finish(with end: ParticipantEnd) {
        guard self.end == nil else { return }
        self.end = end
        claim.release()
        // A request that the store never answers would keep a reference to the participant.
        attending?.cancel()
        preparation?.cancel()
        let request = StopRequest(end == .closed ? .closing : .superseded)
        let timeout = stopTimeout(for: request)
        coreRun?.stop(request, within: timeout)
        coreRun?.giveUp(at: (stoppingSince ?? clock.now()).advanced(by: timeout), by: clock, on: executor)
        machine.abandonBaton()
        endBaton()
        leaseWatch?.cancel()
        policyWatch?.cancel()
        watch?.cancel()
        demandWatch?.cancel()
        pushWatch?.cancel()
        alarm.stop()
        publish()
        reporters = [:]
        wakeUp.signal()
    }
}
