package import CoreAPI

/// How a Main gets the ownership from an owner.
///
/// Source: contract C3, C14.
extension OwnershipMachine {
    /// Asks the owner to hand over and waits for it. After the deadline the owner is killed or fenced.
    package mutating func ask(_ owner: Standing<OwnerRecord>, at now: BootInstant) -> Directive? {
        guard let handover = view.handover else { return request(owner, at: now) }
        guard handover.session == myself.session else {
            return isPatient(handover, with: owner)
                ? request(owner, replacing: handover, at: now) : wait(behind: handover, at: now)
        }

        var wait =
            handoverWait
            ?? HandoverWait(
                handover: handover.claim, epoch: owner.claim, waitingTime: RunningTime(from: now))
        if wait.handover != handover.claim || wait.epoch != owner.claim {
            wait = HandoverWait(handover: handover.claim, epoch: owner.claim, waitingTime: RunningTime(from: now))
        }
        wait.waitingTime.count(to: now)
        defer { handoverWait = wait }

        // The owner has answered before this Main announced that it will kill it, so the owner gets the rest of its
        // time.
        if let silence = wait.silence, !handover.record.isKilling, !lasts(silence) {
            wait.silence = nil
            wait.enforcement = .notYet
        }
        if wait.enforcement == .notYet {
            let limit = handoverLimit(of: owner)
            let activities = activities(holdingUp: owner, after: wait.waitingTime.elapsed)
            // Insist only if there are activities: a changed request gives the owner its whole time again.
            if insists, activities != nil { return insist(in: handover) }
            // The owner's time to hand over begins when it is first seen without activities, not when it was last seen
            // busy: it had no reason to stop in between.
            let idleSince = activities == nil ? wait.idleSince ?? wait.waitingTime.elapsed : nil
            wait.idleSince = idleSince
            // The limit never gets shorter: an owner that leaves its critical section early must still stop its core.
            wait.limit = max(wait.limit, (idleSince ?? wait.waitingTime.elapsed) + limit)
            if owner.record.state == .stopping, wait.stopLimit == nil {
                wait.stopLimit = wait.waitingTime.elapsed + rules.stopTimeout
            }
            wait.failure = "it did not hand over within \(wait.limit)"
            if let activities {
                switch self.wait(
                    forAnswersOf: owner, until: activities.bound, orSilentFrom: limit, in: wait.waitingTime, at: now)
                {
                case .act(let directive): return directive
                case .unknown, .proved: return nil
                case .absent(let silence): wait.silence = silence
                }
                wait.failure = "it did not answer a challenge within \(wait.silence?.waited ?? rules.answerBound)"
            } else if let stopLimit = wait.stopLimit {
                switch self.wait(
                    forAnswersOf: owner, until: max(wait.limit, stopLimit), orSilentFrom: wait.limit,
                    in: wait.waitingTime,
                    at: now)
                {
                case .act(let directive): return directive
                case .unknown, .proved: return nil
                case .absent: break
                }
                if wait.waitingTime.elapsed >= stopLimit {
                    wait.failure = "its core did not stop within \(rules.stopTimeout)"
                }
            } else if wait.waitingTime.elapsed < wait.limit {
                self.wake(at: wait.waitingTime.nextCount(limit: wait.limit))
                return remind(owner, at: now)
            }
        }
        return enforce(handover, on: owner, in: &wait, at: now)
    }

    /// Waits for an owner that is stopping its core or is busy, as long as it answers challenges.
    ///
    /// The challenge begins at half of the time for silence: an ordinary hand-over is over by then, and a silent owner
    /// is detected soon after that time.
    ///
    /// - Parameters:
    ///   - end: When its time is over even if it answers.
    ///   - silent: The time after which an owner that does not answer gets no further time.
    /// - Returns: ``Life/absent(_:)`` when its time is over, even if it has answered.
    private mutating func wait(
        forAnswersOf owner: Standing<OwnerRecord>, until end: Duration, orSilentFrom silent: Duration,
        in waitingTime: RunningTime, at now: BootInstant
    ) -> Life {
        let elapsed = waitingTime.elapsed
        guard elapsed < end else {
            return .absent(Silence(challenge: view.revision, answer: nil, waited: rules.answerBound))
        }
        guard elapsed >= silent / 2 else {
            wake(at: waitingTime.nextCount(limit: silent / 2))
            return .unknown
        }
        let life = life(
            of: owner.claim, by: owner.session, in: owner.record.process, lease: leaseToWaitFor(owner), isUrgent: true,
            at: now)
        switch life {
        case .act: return life
        case .absent where elapsed >= silent: return life
        case .absent: wake(at: waitingTime.nextCount(limit: silent))
        case .unknown, .proved: wake(at: waitingTime.nextCount(limit: end))
        }
        return .unknown
    }

    /// Returns the activities for which the owner has more time; nil if it has none, or if their bound has passed since
    /// the request.
    ///
    /// No activity begins during a request, so each of them began before it.
    func activities(holdingUp owner: Standing<OwnerRecord>, after elapsed: Duration) -> ActivitiesRecord? {
        guard view.handover?.record.insists != true, owner.record.state != .stopping,
            let activities = view.activities(of: owner, holdingUp: view.handover), elapsed < activities.bound
        else { return nil }
        return activities
    }

    /// Returns true if an owner has still not answered the challenge of a recorded silence.
    private func lasts(_ silence: Silence) -> Bool {
        view.challenge?.revision == silence.challenge && view.answer?.revision == silence.answer
    }

    /// Returns true if this Main, which takes over and insists, may replace another Main's request because that request
    /// waits for activities.
    ///
    /// A request that insists is never replaced, so two Mains do not replace each other's requests without end.
    private func isPatient(_ handover: Standing<HandoverRecord>, with owner: Standing<OwnerRecord>) -> Bool {
        goal == .takeOver && insists && !handover.record.insists && !handover.record.isKilling
            && owner.record.state != .stopping && view.activities(of: owner.claim) != nil
    }

    /// Changes the pending request so that the owner's activities do not delay it.
    private func insist(in handover: Standing<HandoverRecord>) -> Directive {
        var record = handover.record
        record.insists = true
        return write(
            record, provided: [.epoch(OwnershipKey.handover, handover.claim)],
            telling: OwnershipEvent(
                kind: .asked, other: view.owner?.claim, from: view.owner?.record.state,
                bound: rules.handoverTimeout, reason: "it does not wait for the owner's activities"))
    }

    /// Returns the commit that writes this Main's request for hand-over.
    ///
    /// - Parameter takes: The kinds of batons that the author's core takes; nil for a pending request, which keeps its
    ///   kinds.
    private func write(
        _ request: HandoverRecord, taking takes: [String]? = nil, replacing former: Standing<HandoverRecord>? = nil,
        provided guards: [Transaction.Guard], waking rest: Standing<RestRecord>? = nil,
        telling timelineEvent: OwnershipEvent
    ) -> Directive {
        var transaction = Transaction(guards: guards)
        var timelineEvents = [timelineEvent]
        if let rest, view.wake(of: rest) == nil {
            transaction.wake(rest, for: .handover, in: view)
            timelineEvents.insert(self.timelineEvent(ofWaking: rest, for: .handover), at: 0)
        }
        // Deleting first gives the entry a new creation revision, and so a new claim.
        if former != nil { transaction.delete(OwnershipKey.handover) }
        transaction.put(OwnershipKey.handover, request.bytes, lifetime: .session)
        if let takes {
            if takes.isEmpty {
                transaction.delete(OwnershipKey.takes)
            } else {
                transaction.put(
                    OwnershipKey.takes, TakesRecord(reach: myself.reach, kinds: takes).bytes, lifetime: .session)
            }
        }
        return .commit(Transition(transaction: transaction, timelineEvents: timelineEvents))
    }

    /// Records that SIGKILL was sent to the owner's process, or why that was impossible.
    package mutating func killEnded(_ epoch: Revision, impossible reason: String?, at now: BootInstant) {
        guard handoverWait?.epoch == epoch else { return }
        handoverWait?.enforcement = reason.map { .impossible($0) } ?? .killed
        handoverWait?.afterKill = RunningTime(from: now)
    }

    /// Returns the time that an owner has to hand over.
    func handoverLimit(of owner: Standing<OwnerRecord>) -> Duration {
        // A Main that rests must resume first, so its time is longer.
        (view.sleeper == nil ? .zero : rules.wakeBound)
            + min(rules.handoverTimeout + grantedBound(of: owner), rules.handoverMaximumTimeout)
    }

    /// Returns the time that the owner's critical section adds to the deadline. The owner entered it before the
    /// request, or its guard would have refused it.
    private func grantedBound(of owner: Standing<OwnerRecord>) -> Duration {
        guard let critical = view.critical, critical.record.epoch == owner.claim else {
            return granted?.epoch == owner.claim ? granted?.bound ?? .zero : .zero
        }
        return critical.record.bound
    }

    /// Asks the owner to hand over.
    ///
    /// - Parameter former: The request of another Main that this one replaces, unless its author has changed it
    ///   meanwhile.
    private mutating func request(
        _ owner: Standing<OwnerRecord>, replacing former: Standing<HandoverRecord>? = nil, at now: BootInstant
    ) -> Directive {
        // The owner may leave the section before this participant reads again.
        granted = (owner.claim, grantedBound(of: owner))
        let record = HandoverRecord(
            name: myself.name, askedAt: now, deadline: rules.handoverTimeout, takesOverMain: goal == .takeOver,
            process: myself.process, insists: insists)
        let before = former.map { Transaction.Guard.revision(OwnershipKey.handover, $0.revision) }
        return write(
            record, taking: rules.takesBatons, replacing: former,
            provided: [.revision(OwnershipKey.owner, owner.revision), before ?? .absent(OwnershipKey.handover)],
            waking: view.sleeper,
            telling: OwnershipEvent(
                kind: .asked, other: owner.claim, from: owner.record.state, bound: rules.handoverTimeout,
                reason: reasonToAsk(owner, replacing: former)))
    }

    private func reasonToAsk(
        _ owner: Standing<OwnerRecord>, replacing former: Standing<HandoverRecord>?
    ) -> String {
        var reason = goal == .takeOver ? "it was told to take over" : "a Main takes the core from an Executor"
        if let former { reason += " before “\(former.record.name)”" }
        guard let activities = view.activities(of: owner.claim)?.activities else { return reason }
        let work = activities.map { $0.describe() }.joined(separator: ", ")
        return "\(reason), \(insists ? "and interrupts" : "after") \(work)"
    }

    /// Returns the next step after the deadline.
    private mutating func enforce(
        _ handover: Standing<HandoverRecord>, on owner: Standing<OwnerRecord>, in wait: inout HandoverWait,
        at now: BootInstant
    ) -> Directive? {
        var asked: [Transaction.Guard] = [.epoch(OwnershipKey.handover, wait.handover)]
        if let silence = wait.silence, !handover.record.isKilling { asked += unanswered(silence) }
        switch wait.enforcement {
        case .notYet:
            wait.enforcement = reasonNotToKill(owner).map { .impossible($0) } ?? .confirmed
            buried(owner.claim, at: now, holding: rules.burialInterval)
            return .bury
        case .confirmed:
            guard !handover.record.isKilling else { return .kill(owner.record.process, epoch: owner.claim) }
            var record = handover.record
            record.isKilling = true
            return write(
                record, provided: asked + [.revision(OwnershipKey.owner, owner.revision)],
                telling: OwnershipEvent(
                    kind: .killed, other: owner.claim, from: owner.record.state, reason: wait.failure))
        case .killed:
            var waitingTime = wait.afterKill ?? RunningTime(from: now)
            waitingTime.count(to: now)
            wait.afterKill = waitingTime
            guard waitingTime.elapsed < rules.killBound else {
                wait.enforcement = .impossible("its process did not end within \(rules.killBound) of being killed")
                return .look
            }
            let next = now.advanced(by: RunningTime.tick)
            wake(at: next)
            guard let burial = lastBurial, burial.at.advanced(by: RunningTime.tick) > now else {
                buried(owner.claim, at: now, holding: rules.burialInterval)
                return .bury
            }
            return nil
        case .impossible(let reason):
            if let lease = leaseToWaitFor(owner), wait.silence == nil {
                // An owner that is cut off has neither received the request nor stopped its core.
                switch life(
                    of: owner.claim, by: owner.session, in: owner.record.process, lease: lease, isUrgent: true, at: now)
                {
                case .act(let directive): return directive
                case .unknown:
                    if let waitingTime = watched?.waitingTime, waitingTime.elapsed >= rules.answerBound {
                        wait.isOverdue = true
                    }
                    return nil
                case .proved where wait.isOverdue && !wait.isHeardAgain:
                    // The owner was cut off and receives the request only now, so its time begins anew, once.
                    wait.isHeardAgain = true
                    wait.waitingTime = RunningTime(from: now)
                    (wait.limit, wait.idleSince, wait.stopLimit, wait.enforcement) = (.zero, nil, nil, .notYet)
                    return .look
                case .proved, .absent: break
                }
            }
            return supersede(
                owner, at: now, provided: asked, as: owner.record.role == .main ? .replaced : .deadlinePassed,
                because: "\(wait.failure); \(reason), so its core may still run")
        }
    }

    /// Returns how long an owner's session may last after its connection was cut; nil if the owner is this process or
    /// has no lease. A core that is cut off stops before the end of the lease, not at once.
    ///
    /// Source: contract C6, C19.
    func leaseToWaitFor(_ owner: Standing<OwnerRecord>) -> Duration? {
        let process = owner.record.process
        // A process over a network has no boot id, so a process id may mean another process.
        let isOwn = process == myself.process && process.bootID != BootID(high: 0, low: 0)
        return isOwn ? nil : view.lease(of: owner)
    }

    private func reasonNotToKill(_ owner: Standing<OwnerRecord>) -> String? {
        if owner.record.role != .executor { return "only Executors are killed" }
        if let reason = reasonNotToKill(owner.record.process) { return reason }
        return owner.record.processNamespace == myself.processNamespace
            ? nil : "its process number is of another namespace"
    }

    /// Returns why a hand-over must not kill `process`; nil if it may.
    func reasonNotToKill(_ process: ProcessIdentity) -> String? {
        if rules.onHandoverTimeout == .fence { return "it is fenced as configured" }
        if process == myself.process { return "it lives in the same process" }
        if process.bootID != myself.process.bootID { return "it runs on another machine" }
        return nil
    }

    /// Waits behind another Main's request.
    mutating func wait(behind handover: Standing<HandoverRecord>, at now: BootInstant) -> Directive? {
        bury(handover.claim, at: now) ?? wait(for: handover, at: now)
    }
}

/// A Main's wait for an owner that it has asked.
package struct HandoverWait: Hashable, Sendable {
    package enum Enforcement: Hashable, Sendable {
        case notYet
        /// The group has ended the sessions of dead processes. The owner's session still exists.
        case confirmed
        /// The signal was sent.
        case killed
        /// The process cannot be killed, for this reason.
        case impossible(String)
    }

    /// The request.
    package let handover: Revision
    /// The ownership that is waited for.
    package let epoch: Revision
    package var waitingTime: RunningTime
    /// How long the owner has.
    package var limit = Duration.zero
    /// The value of ``waitingTime`` when the owner was first seen without an activity; nil while the owner has
    /// activities.
    package var idleSince: Duration?
    /// The challenge that a busy owner has not answered. The take-over is valid only while it stays unanswered.
    package var silence: OwnershipMachine.Silence?
    /// The time limit for an owner that has published that its core is stopping and that answers challenges; nil if it
    /// has not published that.
    package var stopLimit: Duration?
    /// The step that the owner failed to do in time, as text for the timeline.
    package var failure = ""
    package var enforcement = Enforcement.notYet
    /// True if an owner with a lease has missed its time to answer. ``isHeardAgain`` is true if it has answered since.
    package var isOverdue = false
    package var isHeardAgain = false
    /// The time that has passed since the owner's process was killed; nil before that.
    package var afterKill: RunningTime?
}
