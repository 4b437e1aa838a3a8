internal import CoreAPI
internal import Mailboxes
internal import Synchronization

/// The core that runs here.
extension Participant {
    /// The interval at which a witness checks whether the files of an ending process are closed, and the time limit for
    /// that. A lock that is still held after the limit belongs to a process that is not ending.
    private static let exitLook = Duration.milliseconds(100)
    private static let longestExit = Duration.seconds(30)

    func startCore(under epoch: Revision) {
        let isFenced = OneWayFlag()
        let fenced: @Sendable () -> Void = { [weak self, executor = environment.coreExecutor] in
            isFenced.raise()
            Task(executorPreference: executor) { await self?.lookSoon() }
        }
        // A refusal of the last core's writes need not apply to this core. But the record of the refusal in the group
        // stays until a write of this core succeeds.
        if let error = storeRefusal.current { storeRefusalOfOwner = RefusalRecord(error, under: .zero) }
        let refusal = StoreRefusal()
        storeRefusal = refusal
        let calls = CutCalls(isCutOff: { [store, clock, stopTimeout = options.stopTimeout] in
            guard let lease = store.lease else { return false }
            return clock.now() >= lease.doubtBegins(stoppingWithin: stopTimeout)
        })
        coreCalls = calls
        let guarded = EpochGuardedStore(
            inner: store, epoch: epoch, fenced: fenced, calls: calls,
            report: { [weak self, executor = environment.coreExecutor] write in
                guard refusal.note(write) else { return }
                Task(executorPreference: executor) { await self?.publishRefusal(refusal, under: epoch) }
            })
        var context = CoreContext(
            store: guarded, epoch: epoch, role: store.session.role,
            push: store.session.role == .executor ? environment.push : nil, clock: clock,
            acceptMessage: { [lifetime = options.inboxLifetime] message throws(SharedCoreError) in
                try await Inbox(guarded, lifetime: lifetime).store(message)
            },
            reportProblem: { [weak self] problem in
                await self?.tell(OwnershipEvent(kind: .problem, epoch: epoch, reason: problem))
            })
        context.gate = ActivityGate { [wakeUp] in wakeUp.signal() }
        context.stopTimeout = options.stopTimeout
        context.callsLifetime = options.callsLifetime
        context.system = environment.system
        context.executor = environment.coreExecutor
        let watching = WitnessedRun(by: environment.witness)
        demandPolicy.coreBegins(at: clock.now())
        let isForOthers = demandPolicy.policy != nil
        coreRun = CoreRun(
            in: context, core: makeCore, on: environment.coreExecutor,
            prepare: {
                [
                    weak self, timeline, clock, executor = environment.coreExecutor, context,
                    baton = machine.view.baton, kinds = options.rules.takesBatons + givenKinds,
                    tell = batonTeller(under: epoch)
                ] in
                try await context.receive(baton, taking: kinds, in: clock.bootID, tell: tell)
                try await timeline.announceCore(under: epoch, through: guarded, at: clock)
                let others = try watching.begin(epoch)
                guard !others.isEmpty else { return }
                Task(executorPreference: executor) { [weak self] in
                    await self?.judge(others, seenBy: watching, under: epoch)
                }
                // This process may have been frozen since it announced the core. Another process may own meanwhile, and
                // the guard then fails.
                _ = try await guarded.commit(Transaction())
            },
            starting: { [weak self, executor] in
                self?.coreStartCount.add(1, ordering: .relaxed)
                guard isForOthers else { return }
                Task(executorPreference: executor) { await self?.followDemand(under: epoch) }
            },
            isFenced: { isFenced.isRaised }, finish: { watching.end() },
            report: { [weak self] report in await self?.receive(report, of: epoch) })
        watchLease()
    }

    /// Stops the core when the session may end soon because the group does not answer. This also works while the loop
    /// waits for the store.
    ///
    /// Source: contract C19.
    private func watchLease() {
        leaseWatch?.cancel()
        guard store.lease != nil else { return }
        leaseWatch = Task(executorPreference: executor) { [weak self, clock] in
            while let due = await self?.lookAtLease() {
                do throws(CancellationError) { try await clock.sleep(until: due) } catch { return }
            }
        }
    }

    /// Stops the core if the session's lease is nearly over.
    ///
    /// - Returns: When to check again; nil if no core runs or the session has no lease.
    private func lookAtLease() -> BootInstant? {
        machine.lease = store.lease
        guard end == nil, coreRun != nil, let doubtBegins = machine.doubtBegins else { return nil }
        let now = clock.now()
        guard doubtBegins <= now else { return doubtBegins }
        if let directive = machine.stopInDoubt(at: now) {
            obey(directive)
            publish()
            wakeUp.signal()
        }
        coreCalls.end()
        // The group may answer again while the core stops, and then fall silent again, so go on checking.
        return now.advanced(by: options.lookInterval)
    }

    // MARK: - Unwanted cores

    /// Stops a core that is no longer wanted, and wakes the loop. Called after each change of the goal.
    func reconsider() {
        stopUnwantedCore()
        wakeUp.signal()
    }

    /// Stops a core that is no longer wanted while the loop waits for a store, which may not answer for long.
    private func stopUnwantedCore() {
        guard end == nil, isCarryingOut, machine.core?.mayRun == true else { return }
        let now = clock.now()
        decideGoal(at: now)
        guard let directive = machine.stopUnwanted(at: now) else { return watchPolicy() }
        obey(directive)
        publish()
    }

    /// Schedules ``stopUnwantedCore()`` for the time at which the policy of an Executor's core is due.
    func watchPolicy() {
        policyWatch?.cancel()
        policyWatch = nil
        guard let due = demandPolicy.policyIsDue, machine.core?.mayRun == true else { return }
        policyWatch = Task(executorPreference: executor) { [weak self, clock] in
            do throws(CancellationError) { try await clock.sleep(until: due) } catch { return }
            await self?.stopUnwantedCore()
        }
    }

    private func obey(_ directive: Directive) {
        if case .stopCore(let epoch) = directive { stopCore(of: epoch) }
    }

    /// Tells the core to stop, with the reason.
    func stopCore(of epoch: Revision) {
        stoppingSince = stoppingSince ?? clock.now()
        guard let coreRun, coreRun.epoch == epoch else { return }
        let request = machine.core?.request ?? StopRequest(.superseded)
        let timeout = stopTimeout(for: request)
        coreRun.stop(request, within: timeout)
        // If the group cannot be reached, the ownership cannot be released, and the machine's directives do not give up
        // the core when the session may have ended. So it is scheduled here.
        if request.reason == .cutOff { coreRun.giveUp(at: clock.now().advanced(by: timeout), by: clock, on: executor) }
    }

    /// Returns the time that a core has to stop. After it the ownership may pass to others.
    func stopTimeout(for request: StopRequest) -> Duration {
        guard request.reason == .cutOff, let lease = store.lease else { return options.stopTimeout }
        return lease.margin(stoppingWithin: options.stopTimeout)
    }

    /// Handles a report of a run. If its core has given a baton, has the baton kept first.
    private func receive(_ report: CoreRun.Report, of epoch: Revision) async {
        if case .ended(_, let baton) = report, let baton { await keep(baton, of: epoch) }
        hear(report, of: epoch)
    }

    /// Handles a report of a run.
    func hear(_ report: CoreRun.Report, of epoch: Revision) {
        switch report {
        case .started:
            machine.coreStarted(epoch)
            demandPolicy.coreStarted(at: clock.now())
            trimTimeline()
        case .failed(let problem):
            stoppingSince = stoppingSince ?? clock.now()
            machine.coreFailed(epoch, problem: take(problem, of: epoch), at: clock.now())
        case .ended(let problem, _):
            stoppingSince = stoppingSince ?? clock.now()
            machine.coreEnded(epoch, problem: problem.map { take($0, of: epoch) })
            if coreRun?.epoch == epoch {
                coreRun = nil
                coreStopped = clock.now()
                leaseWatch?.cancel()
            }
            trimTimeline()
        }
        publish()
        wakeUp.signal()
    }

    /// Records why a core failed. Returns the text for the timeline.
    private func take(_ problem: CoreRun.Problem, of epoch: Revision) -> String {
        if let rest = demandPolicy.coreFailed(problem.text, isFinal: problem.isFinal, of: epoch, at: clock.now()) {
            machine.rest = rest
        }
        return demandPolicy.problem?.sentence ?? problem.text
    }

    /// Reads the ownership now, for example after a refused write or before a resume. Notes a failure.
    func lookSoon() async {
        do throws(SharedCoreError) {
            try await look()
        } catch {
            note(error)
        }
        wakeUp.signal()
    }

    /// Writes to the timeline which other cores a witness saw running when this core began. Cores of ending processes
    /// do not count: such a process runs no code, and holds its lock only until the kernel has closed its files.
    private func judge(_ others: [Revision], seenBy witness: WitnessedRun, under epoch: Revision) async {
        let limit = clock.now().advanced(by: Self.longestExit)
        var open = others
        do {
            while true {
                let history = try await timeline.history()
                let isLate = clock.now() >= limit
                var exiting: [Revision] = []
                for other in open {
                    // An epoch that the timeline does not know belongs to another history of the group, for example
                    // after a restore under a running owner. Its core may run: no lock survives a restart of the
                    // machine, so a process of this boot holds the lock.
                    let process = history.process(of: other)
                    let isKnown = process.map { $0.bootID == clock.bootID } ?? false
                    if let process, isKnown, !isLate, await environment.processes.isExiting(process) {
                        exiting.append(other)
                    } else {
                        // This core may be the superseded one, so look for both epochs.
                        let isSuperseded = !history.supersededEpochs.isDisjoint(with: [epoch, other])
                        await tell(
                            OwnershipEvent(
                                kind: isSuperseded ? .supersededOverlap : .overlap, epoch: epoch, other: other,
                                reason: isKnown && isLate
                                    ? "the lock of an ended process is still held"
                                    : isKnown || isSuperseded
                                        ? "seen by the witness"
                                        : "seen by the witness, and not known to this group's timeline"))
                    }
                }
                if exiting.isEmpty { return }
                try await clock.sleep(until: clock.now().advanced(by: Self.exitLook))
                let remaining = try witness.currentOthers()
                open = exiting.filter(remaining.contains)
            }
        } catch {
            let reason = "the witness cannot find other cores: \(error)"
            await tell(OwnershipEvent(kind: .problem, epoch: epoch, reason: reason))
        }
    }

    /// Drops the oldest entries of a timeline that is too long, away from the participants' thread.
    private func trimTimeline() {
        untrimmedCount = 0
        guard !isTrimming else { return }
        isTrimming = true
        Task.detached(executorPreference: environment.coreExecutor) { [timeline, weak self] in
            do throws(SharedCoreError) {
                try await timeline.trim()
            } catch {
                await self?.note(error)
            }
            await self?.trimmingEnded()
        }
    }

    private func trimmingEnded() {
        isTrimming = false
    }

    /// Drops the oldest entries regularly, each time that this participant has written an eighth of the timeline's
    /// capacity.
    func trimTimelineWhenDue() {
        if untrimmedCount >= timeline.capacity / 8 { trimTimeline() }
    }

    // MARK: - An Executor's demand

    /// Follows the demand of the group while this participant owns.
    private func followDemand(under epoch: Revision) async {
        do throws(SharedCoreError) {
            let watch = try await store.watch(Demand.prefixes, from: .snapshot)
            guard end == nil, machine.holding?.epoch == epoch else { return watch.cancel() }
            demandWatch = watch
            var demand = Demand(of: inbox.mailbox.keys, in: clock.bootID)
            while let event = try await watch.next() {
                guard machine.holding?.epoch == epoch else { return watch.cancel() }
                demand.apply(event)
                // Set the demand only after the first event: an empty demand would say that no call in the group waits.
                demandPolicy.demand = demand
                wakeUp.signal()
            }
        } catch {
            note(error)
            wakeUp.signal()
        }
    }

    /// Passes the present goal to the machine.
    func decideGoal(at now: BootInstant) {
        let activities = machine.holding.flatMap { machine.view.activities(of: $0.epoch) }
        demandPolicy.ownsAgain = machine.given?.isOffered ?? false
        func goal(_ isBeginning: Bool) -> OwnershipGoal {
            demandPolicy.goal(
                holding: machine.holding?.epoch, core: machine.core, activities: activities, isBeginning: isBeginning,
                at: now)
        }
        machine.goal = coreRun?.gate.decide(knowing: machine.view.revision, goal) ?? goal(false)
        machine.insists = demandPolicy.insists
        machine.waitsItsTurn = demandPolicy.waitsItsTurn
        guard demandPolicy.policy == nil else { return }
        demandWatch?.cancel()
        demandWatch = nil
    }
}

extension Timeline {
    /// Writes that a core starts. The transaction is guarded by the epoch, so it fails if the ownership or the
    /// participant has ended.
    fileprivate func announceCore(
        under epoch: Revision, through guarded: EpochGuardedStore, at clock: any TimeSource
    ) async throws(SharedCoreError) {
        var transaction = Transaction()
        let entry = TimelineEntry(
            .coreStarted, by: guarded.session, epoch: epoch, at: clock.now(), bootID: clock.bootID)
        try append(entry, to: &transaction)
        _ = try await guarded.commit(transaction)
    }
}
