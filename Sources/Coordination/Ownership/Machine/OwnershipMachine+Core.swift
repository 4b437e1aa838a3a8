package import CoreAPI

/// The life of the core that an owner runs.
extension OwnershipMachine {
    /// Records that the core's start has returned.
    package mutating func coreStarted(_ epoch: Revision) {
        guard core?.epoch == epoch, core?.phase == .starting else { return }
        core?.phase = .running
    }

    /// Records that the core failed or ended by itself. It has the same time to stop as a core that was told to.
    package mutating func coreFailed(_ epoch: Revision, problem: String, at now: BootInstant) {
        guard let core, core.epoch == epoch, core.mayRun else { return }
        _ = stop(core, for: StopRequest(.failed), because: problem, at: now)
    }

    private mutating func stop(
        _ core: LocalCore, for request: StopRequest, because reason: String, at now: BootInstant
    ) -> Directive {
        self.core?.phase = .stopping(since: now)
        self.core?.reason = reason
        self.core?.request = request
        return .stopCore(epoch: core.epoch)
    }

    /// Records that the core has stopped.
    ///
    /// - Parameter problem: Why it stopped by itself; nil if it was told to stop.
    package mutating func coreEnded(_ epoch: Revision, problem: String?) {
        if leftover == epoch { leftover = nil }
        guard core?.epoch == epoch else { return }
        core?.phase = .ended
        if let problem { core?.reason = problem }
    }

    /// Returns the next step of an owner: start the core, publish its state, stop it when necessary, release when it
    /// has stopped.
    package mutating func hold(at now: BootInstant) -> Directive? {
        guard let holding, let owner = view.owner, !holding.isReleasing else { return nil }
        if let ending = holding.ending { return release(owner, telling: ending) }
        hear(at: now)
        guard let core else {
            // The session may have ended. Wait: the next answer of the group shows whether it still exists.
            if isInDoubt(at: now) { return nil }
            if let (_, reason) = reasonToStop(at: now) { return release(owner, because: reason) }
            self.core = LocalCore(epoch: holding.epoch, phase: .starting)
            return .startCore(epoch: holding.epoch)
        }
        guard core.epoch == holding.epoch else { return nil }
        switch core.phase {
        case .starting, .running:
            if let (request, reason) = reasonToStop(at: now) {
                return stop(core, for: request, because: reason, at: now)
            }
            if core.isQuiet {
                self.core?.isQuiet = false
                return .resumeCore(epoch: core.epoch)
            }
            guard core.phase == .running, owner.record.state == .starting else { return nil }
            return publish(.running, of: holding, owner, because: "its core has started")
        case .stopping(let since):
            let bound = since.advanced(by: rules.stopTimeout + killAllowance)
            if bound <= now { return giveUp(owner, because: core.reason) }
            wake(at: bound)
            guard owner.record.state != .stopping else { return nil }
            return publish(.stopping, of: holding, owner, because: core.reason)
        case .ended:
            return release(owner, because: core.reason)
        }
    }

    /// The extra time before a core that does not stop is given up while a Main waits. In this time the Main kills the
    /// process, so that no core is left running.
    private var killAllowance: Duration {
        guard !myself.isMain, let handover = view.handover, handover.session != myself.session,
            reasonNotToKill(handover.record.process) == nil
        else { return .zero }
        return rules.killBound
    }

    /// The moment from which the session may end before a core could stop; nil if the session ends only with its
    /// process.
    ///
    /// Source: contract C19.
    package var doubtBegins: BootInstant? {
        lease?.doubtBegins(stoppingWithin: rules.stopTimeout)
    }

    package func isInDoubt(at now: BootInstant) -> Bool {
        doubtBegins.map { $0 <= now } ?? false
    }

    /// Stops a core if its session may be over soon, since another participant may own then.
    package mutating func stopInDoubt(at now: BootInstant) -> Directive? {
        guard let core, core.mayRun, core.epoch == holding?.epoch, let doubtBegins else { return nil }
        guard doubtBegins <= now else {
            wake(at: doubtBegins)
            return nil
        }
        return stop(
            core, for: StopRequest(.cutOff),
            because: "it was cut off from the group, so that its session might have been over", at: now)
    }

    /// Stops a core that its participant no longer wants, also while another directive is carried out.
    package mutating func stopUnwanted(at now: BootInstant) -> Directive? {
        guard let core, core.mayRun, core.epoch == holding?.epoch, !isAtRest, !wantsRest,
            case .nothing(let reason) = goal
        else { return nil }
        return stop(core, for: reason.request, because: reason.sentence, at: now)
    }

    /// Stops a core that has lost its ownership, and gives it up if it does not stop.
    package mutating func stopOrphanedCore(at now: BootInstant) -> Directive? {
        guard let core, core.epoch != holding?.epoch else { return nil }
        switch core.phase {
        case .starting, .running:
            self.core?.phase = .stopping(since: now)
            self.core?.request = StopRequest(.superseded)
            return .stopCore(epoch: core.epoch)
        case .stopping(let since):
            let bound = since.advanced(by: rules.stopTimeout)
            guard bound <= now else {
                wake(at: bound)
                return nil
            }
            self.core = nil
            let reason = "it did not stop within \(rules.stopTimeout) of being fenced"
            return tell(OwnershipEvent(kind: .coreGivenUp, epoch: core.epoch, reason: reason))
        case .ended:
            self.core = nil
            return tell(OwnershipEvent(kind: .coreStopped, epoch: core.epoch, reason: "it was fenced"))
        }
    }

    /// Returns the directive for a timeline entry that belongs to no transition.
    func tell(_ timelineEvent: OwnershipEvent) -> Directive {
        .commit(Transition(transaction: Transaction(), timelineEvents: [timelineEvent]))
    }

    /// Remembers when a request for hand-over was seen first.
    private mutating func hear(at now: BootInstant) {
        guard let handover = view.handover, handover.session != myself.session else {
            hearing = nil
            return
        }
        if hearing?.handover != handover.claim { hearing = Hearing(handover: handover.claim, since: now) }
    }

    /// Returns why the core must stop: the request for the core, and a reason as text for users. Nil while the core may
    /// continue.
    private mutating func reasonToStop(at now: BootInstant) -> (request: StopRequest, sentence: String)? {
        if case .nothing(let reason) = goal { return (reason.request, reason.sentence) }
        guard let handover = view.handover, let hearing, !myself.isMain || handover.record.takesOverMain else {
            return nil
        }
        if let critical = view.critical, critical.session == myself.session, critical.record.epoch == holding?.epoch {
            let end = hearing.since.advanced(by: critical.record.bound)
            if now < end {
                wake(at: end)
                return nil
            }
        }
        var request = StopRequest(handover.record.insists ? .insisted : .handover, by: handover.record.name)
        // While an earlier baton of this participant has no outcome, the core can give no other one, so no activity can
        // move: wait until all have ended.
        if !handover.record.insists, given != nil, let owner = view.owner, view.activities(of: owner.claim) != nil {
            return nil
        }
        request.takes = takes(handover)
        if !request.takes.isEmpty, let owner = view.owner { request.batonReach = view.reach(of: owner, to: handover) }
        let holdUp = view.owner.flatMap { view.activities(of: $0, holdingUp: handover) }
        if !handover.record.insists, let last = holdUp?.last {
            guard last.latestEnd <= now else {
                wake(at: last.latestEnd)
                return nil
            }
            let (takes, reach) = (request.takes, request.batonReach)
            request = StopRequest(.bound, activity: last)
            (request.takes, request.batonReach) = (takes, reach)
        }
        hasYielded = myself.isMain
        let sentence = "“\(handover.record.name)” asked for ownership"
        return (
            request, request.activity.map { "\(sentence), and the bound of \($0.describe()) has passed" } ?? sentence
        )
    }

    private func publish(
        _ state: OwnerState, of holding: Holding, _ owner: Standing<OwnerRecord>, because reason: String
    ) -> Directive {
        var record = owner.record
        record.state = state
        var transaction = Transaction()
        transaction.require(.epoch(OwnershipKey.owner, holding.epoch))
        transaction.put(OwnershipKey.owner, record.bytes, lifetime: .session)
        return .commit(
            Transition(
                transaction: transaction,
                timelineEvents: [
                    OwnershipEvent(
                        kind: .stateChanged, epoch: holding.epoch, from: owner.record.state, to: state, reason: reason)
                ]))
    }

    private mutating func release(_ owner: Standing<OwnerRecord>, because reason: String) -> Directive {
        var timelineEvents: [OwnershipEvent] = []
        if core != nil { timelineEvents.append(OwnershipEvent(kind: .coreStopped, epoch: owner.claim, reason: reason)) }
        timelineEvents.append(
            OwnershipEvent(kind: .released, epoch: owner.claim, from: owner.record.state, reason: reason))
        return release(owner, telling: timelineEvents)
    }

    /// Releases although the core still runs.
    private mutating func giveUp(_ owner: Standing<OwnerRecord>, because reason: String) -> Directive {
        if core?.request?.reason == .cutOff { leftover = core?.epoch }
        let late = "it did not stop within \(rules.stopTimeout)"
        return release(
            owner,
            telling: [
                OwnershipEvent(
                    kind: .coreGivenUp, epoch: owner.claim, from: owner.record.state, reason: "\(late): \(reason)"),
                OwnershipEvent(kind: .released, epoch: owner.claim, from: owner.record.state, reason: reason),
            ])
    }

    private mutating func release(_ owner: Standing<OwnerRecord>, telling timelineEvents: [OwnershipEvent]) -> Directive
    {
        core = nil
        noteRelease(telling: timelineEvents)
        var transaction = Transaction()
        transaction.require(.revision(OwnershipKey.owner, owner.revision))
        transaction.delete(OwnershipKey.owner)
        transaction.delete(OwnershipKey.critical)
        transaction.delete(OwnershipKey.activities)
        transaction.delete(OwnershipKey.moving)
        var transition = Transition(transaction: transaction, timelineEvents: timelineEvents)
        offer(with: owner.claim, in: &transition)
        return .commit(transition)
    }
}

/// The pause in which a participant starts no core because its last core failed.
package struct CoreRest: Hashable, Sendable {
    package let until: BootInstant
    package let length: Duration
    /// Why the core failed.
    package let problem: String
}

/// The core that runs in this participant, as the machine knows it.
package struct LocalCore: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        case starting
        case running
        /// The core was told to stop at this moment.
        case stopping(since: BootInstant)
        case ended
    }

    /// The ownership that it was started under.
    package let epoch: Revision
    package var phase: Phase
    /// Why the core stops or has ended, as text for users.
    package var reason = ""
    /// The request to stop that the core was given; nil before that.
    package var request: StopRequest?
    /// True if the core is quiet for a rest.
    package var isQuiet = false

    package var mayRun: Bool {
        switch phase {
        case .starting, .running: true
        case .stopping, .ended: false
        }
    }
}

/// A request for hand-over, as the owner has received it.
package struct Hearing: Hashable, Sendable {
    /// The request.
    package let handover: Revision
    /// When the owner saw it first: a critical section may last for its bound from here.
    package let since: BootInstant
}

extension SessionLease {
    /// Returns the moment from which the session may end before a core has stopped: the stop timeout before the end of
    /// the lease, but at most a third of the lease before it.
    func doubtBegins(stoppingWithin stopTimeout: Duration) -> BootInstant {
        confirmedAt.advanced(by: duration - margin(stoppingWithin: stopTimeout))
    }

    /// Returns the time between ``doubtBegins(stoppingWithin:)`` and the end of the lease, in which a core must stop.
    func margin(stoppingWithin stopTimeout: Duration) -> Duration { min(stopTimeout, duration / 3) }
}
