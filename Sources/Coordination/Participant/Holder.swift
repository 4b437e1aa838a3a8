internal import CoreAPI
internal import Mailboxes

/// Runs the machine of a holder, as ``Participant`` runs that of a participant.
actor Holder {
    private nonisolated let store: any SharedStore
    private nonisolated let environment: CoordinationEnvironment
    private nonisolated let timeline: Timeline
    private nonisolated let executor: any SerialExecutor & TaskExecutor
    private nonisolated let wakeUp = AsyncEvent()
    private nonisolated let mainPushes: QueueKeys
    private let claim: SessionClaim
    private let wakeBound: Duration
    private let releaseBound: Duration
    private let woken: (@Sendable (ProcessIdentity) async -> Void)?

    private var machine: HolderMachine
    private var demand: Demand
    /// The waiting pushes for Main, and those that a Main has in hand.
    private var waitingPushes: Set<ItemName> = []
    private var takenPushes: Set<ItemName> = []
    /// The reasons of the pending calls of ``wakeMain(for:)``, by the number of the call.
    private var needs: [Int: Wake] = [:]
    private var keepAliveAt: BootInstant?
    private var lastNumber = 0
    private var listeners: [Int: AsyncEvent] = [:]
    private var untrimmedCount = 0
    private var watch: Watch?
    private var loop: Task<Void, Never>?
    private var alarm: Alarm
    private var hasEnded = false
    /// When the store last failed to answer; nil while all requests are answered, also by a refusal.
    private var troubleSince: BootInstant?
    private var stoppingSince: BootInstant?
    /// The store's error that ended the holder.
    private var fault: SharedCoreError?
    /// The last wake that was reported by ``woken``.
    private var toldWake = Revision.zero

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated var clock: any TimeSource { environment.clock }

    private static let prefixes: [KeyPrefix] =
        [OwnershipKey.path] + Demand.prefixes + [".sharedcore/main-pushes/"]

    init(
        _ store: any SharedStore, options: CoordinationOptions, environment: CoordinationEnvironment,
        woken: (@Sendable (ProcessIdentity) async -> Void)?
    ) throws(SharedCoreError) {
        self.store = store
        self.woken = woken
        self.environment = environment
        executor = environment.executor ?? environment.system.participants()
        timeline = Timeline(store, capacity: options.timelineCapacity)
        claim = try SessionClaim(on: store.session)
        mainPushes = try MainPushQueue(store, clock: environment.clock).mailbox.keys
        demand = Demand(of: try Inbox(store).mailbox.keys, in: environment.clock.bootID)
        wakeBound = options.wakeBound
        releaseBound = options.releaseBound
        let session = store.session
        let myself = Participation(
            session: session.id, role: session.role, name: session.name, process: session.process,
            processNamespace: environment.system.ownNamespace(session.process))
        machine = HolderMachine(for: myself, rules: options.rules, at: environment.clock.now())
        alarm = Alarm(signalling: wakeUp, by: environment.clock, on: executor)
    }

    var isHolding: Bool { machine.holding != nil }

    func start() async throws(CoordinationError) {
        guard !hasEnded, !machine.isClosing else { throw CoordinationError(.closed, "The holder has stopped.") }
        guard loop == nil else { return }
        do throws(SharedCoreError) {
            try await open()
        } catch {
            throw CoordinationError(.store, "The group's store failed.", cause: error)
        }
        guard loop == nil, !hasEnded else { return }
        loop = Task(executorPreference: executor) { await self.run() }
    }

    func wakeMain(for wake: Wake) async {
        guard loop != nil, !hasEnded else { return }
        lastNumber += 1
        let number = lastNumber
        needs[number] = wake
        wakeUp.signal()
        await untilAwake()
        needs[number] = nil
        wakeUp.signal()
    }

    func setKeepAlive(at instant: BootInstant?) {
        keepAliveAt = instant
        wakeUp.signal()
    }

    func stop() async {
        machine.isClosing = true
        stoppingSince = stoppingSince ?? clock.now()
        wakeUp.signal()
        guard loop != nil else { return finish() }
        await untilAwake { $0.hasEnded }
        finish()
        // It may wait for the store.
        loop?.cancel()
        await loop?.value
    }

    /// The time at which a holder that was stopped gives up on a store that does not answer. Its record is then removed
    /// when its session ends. Nil before the stop, and while the store answers.
    private var givenUpAt: BootInstant? {
        guard let stoppingSince, let troubleSince else { return nil }
        return max(stoppingSince, troubleSince).advanced(by: releaseBound)
    }

    nonisolated func abandon() {
        Task(executorPreference: executor) { await self.stop() }
    }

    func waitUntilEnded() async throws(CoordinationError) {
        let event = AsyncEvent()
        lastNumber += 1
        let number = lastNumber
        listeners[number] = event
        defer { listeners[number] = nil }
        while !hasEnded, !Task.isCancelled { await event.wait() }
        guard let fault else { return }
        throw CoordinationError(.store, "The group's store has ended the holder.", cause: fault)
    }

    /// Returns when no Main rests here, after twice the bound, or when a store that does not answer is given up.
    private func untilAwake(_ condition: (HolderMachine) -> Bool = { $0.holding == nil && $0.view.offer == nil }) async
    {
        let event = AsyncEvent()
        lastNumber += 1
        let number = lastNumber
        listeners[number] = event
        let limit = clock.now().advanced(by: wakeBound * 2)
        var alarm = Alarm(signalling: event, by: clock, on: executor)
        defer {
            listeners[number] = nil
            alarm.stop()
        }
        while !hasEnded, !condition(machine) {
            let end = min(limit, givenUpAt ?? limit)
            guard clock.now() < end else { return }
            alarm.set(to: end)
            await event.wait()
        }
    }

    // MARK: - The loop

    private func run() async {
        while !hasEnded {
            let now = clock.now()
            noteWake()
            machine.reason = reason(at: now)
            if let directive = machine.step(at: now) {
                await carryOut(directive)
                publish()
                continue
            }
            publish()
            if machine.hasEnded { return finish() }
            alarm.set(to: min(machine.nextStep, nextChange(after: now)))
            await wakeUp.wait()
        }
    }

    /// Returns why the Main is needed; nil if it is not.
    private func reason(at now: BootInstant) -> Wake? {
        if let need = needs.min(by: { $0.key < $1.key }) { return need.value }
        if !waitingPushes.isSubset(of: takenPushes) { return .push }
        if demand.openUntil(after: now) != nil { return .call }
        guard let keepAliveAt, keepAliveAt <= now else { return nil }
        // Only the wake is the holder's task: a Main that is awake schedules its keep-alives itself.
        if machine.holding == nil {
            self.keepAliveAt = nil
            return nil
        }
        return .keepAlive
    }

    private func nextChange(after now: BootInstant) -> BootInstant {
        [keepAliveAt, demand.openUntil(after: now)].compactMap(\.self).filter { $0 > now }.min()
            ?? BootInstant(nanoseconds: .max)
    }

    private func publish() {
        for (_, listener) in listeners.sorted(by: { $0.key < $1.key }) { listener.signal() }
    }

    private func carryOut(_ directive: Directive) async {
        troubleSince = troubleSince ?? clock.now()
        if stoppingSince != nil { publish() }
        do throws(SharedCoreError) {
            switch directive {
            case .bury:
                _ = try await store.sessions(among: machine.view.sessions)
                try await look()
            case .commit(let transition):
                try await commit(transition)
            default:
                try await look()
            }
            troubleSince = nil
        } catch {
            if error.code != .unavailable { troubleSince = nil }
            note(error)
        }
    }

    private func commit(_ transition: Transition) async throws(SharedCoreError) {
        var transaction = transition.transaction
        for timelineEvent in transition.timelineEvents {
            let entry = TimelineEntry(
                timelineEvent.kind, by: store.session, epoch: timelineEvent.epoch, other: timelineEvent.other,
                from: timelineEvent.from, to: timelineEvent.to,
                previous: timelineEvent.previous, bound: timelineEvent.bound, reason: timelineEvent.reason,
                at: clock.now(),
                bootID: clock.bootID)
            try timeline.append(entry, to: &transaction)
            untrimmedCount += 1
        }
        let main = machine.view.sleeper?.record.process
        do throws(SharedCoreError) {
            let revision = try await store.commit(transaction).revision
            if let place = transition.place { environment.system.place(place) }
            // Main may have resumed before the read.
            if transition.timelineEvents.last?.kind == .woken, let main { tell(main, wokenAt: revision) }
        } catch {
            guard error.code == .guardFailed || error.code == .outcomeUnknown else { throw error }
        }
        try await look()
        guard untrimmedCount >= timeline.capacity / 8 else { return }
        untrimmedCount = 0
        try await timeline.trim()
    }

    /// Reports a wake by another participant.
    private func noteWake() {
        guard machine.holding != nil, let rest = machine.view.sleeper, let wake = machine.view.wake(of: rest) else {
            return
        }
        tell(rest.record.process, wokenAt: wake.claim)
    }

    /// Reports a wake, once. A repeated wake has the same creation revision.
    private func tell(_ main: ProcessIdentity, wokenAt claim: Revision) {
        guard let woken, claim > toldWake else { return }
        toldWake = claim
        Task(executorPreference: environment.executor) { await woken(main) }
    }

    private func look() async throws(SharedCoreError) {
        machine.view.apply(try await store.list(OwnershipKey.path), at: clock.now())
    }

    private func note(_ error: SharedCoreError) {
        switch error.code {
        case .closed, .sessionEnded, .corrupt, .incompatible:
            if !hasEnded { fault = error }
            finish()
        case .guardFailed: break
        default: machine.failed(at: clock.now())
        }
    }

    // MARK: - The watch

    private func open() async throws(SharedCoreError) {
        let watch = try await store.watch(Self.prefixes, from: .snapshot)
        guard let first = try await watch.next(), !hasEnded else { return watch.cancel() }
        self.watch?.cancel()
        self.watch = watch
        apply(first)
        Task(executorPreference: executor) { await self.follow(watch) }
    }

    private func follow(_ watch: Watch) async {
        do throws(SharedCoreError) {
            while let event = try await watch.next() {
                apply(event)
                wakeUp.signal()
            }
        } catch {
            if error.code == .unavailable, await store.isLost() {
                if !hasEnded { fault = error }
                return finish()
            }
            note(error)
        }
        // Without a watch this holder learns of no wake, so it opens a new one, and tries again until the holder has
        // ended.
        while !hasEnded, self.watch === watch {
            do {
                try await clock.sleep(until: clock.now().advanced(by: machine.rules.lookInterval))
                try await open()
            } catch let error as SharedCoreError {
                note(error)
            } catch {
                return
            }
        }
    }

    private func apply(_ event: WatchEvent) {
        machine.view.apply(event, at: clock.now())
        demand.apply(event)
        switch event {
        case .snapshot(let snapshot), .lagged(let snapshot):
            waitingPushes = []
            takenPushes = []
            for entry in snapshot.entries { note(entry.key, isThere: true) }
        case .changes(let changes):
            for change in changes.changes { note(change.key, isThere: change.new != nil) }
        }
    }

    private func note(_ key: Key, isThere: Bool) {
        guard let place = mainPushes.place(of: key) else { return }
        func change(_ pushes: inout Set<ItemName>) {
            if isThere { pushes.insert(place.item) } else { pushes.remove(place.item) }
        }
        switch place.part {
        case .message: change(&waitingPushes)
        case .take: change(&takenPushes)
        default: break
        }
    }

    private func finish() {
        guard !hasEnded else { return }
        hasEnded = true
        claim.release()
        watch?.cancel()
        alarm.stop()
        publish()
        wakeUp.signal()
    }
}
