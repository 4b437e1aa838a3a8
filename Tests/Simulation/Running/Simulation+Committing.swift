internal import Coordination
internal import CoreAPI
internal import StoreEngine

/// Applies commits and notifies the members that watch.
extension Simulation {
    /// The purpose of a commit.
    enum Purpose {
        /// A directive of the ownership machine.
        case transition([OwnershipEvent])
        /// A core of an epoch announces itself, or stores a received message.
        case announcing(Revision), storing(message: Int, epoch: Revision)
        case enteringCritical, leavingCritical
        /// An activity begins or ends.
        case beginning, ending
        /// A call begins or ceases to move.
        case moving
        /// A command for a call is sent, taken, finished and withdrawn.
        case sendingCommand, takingCommand, finishingCommand, withdrawingCommand
        /// A core takes over calls, records that it cannot, or ends those of former ownerships.
        case applying, failingBaton, losing
        case taking(message: Int), acknowledging(message: Int), givingBack
        case expecting(call: Int), forgetting
    }

    enum Verdict {
        case committed(Revision)
        case refused(GuardFailure)
        /// The store could not execute it.
        case failed
        /// The commit took effect, but its caller does not know.
        case unknown
    }

    /// - Parameter stories: The timeline events of a commit that is no transition.
    mutating func commit(
        _ wanted: Transaction, of number: Int, for purpose: Purpose, telling timelineEvents: [OwnershipEvent] = []
    ) -> Verdict {
        expire()
        guard members[number].troubleUntil <= clock else { return .failed }
        var transaction = wanted
        mutant?.changeTransaction?(&transaction, purpose)
        if let death = members[number].diesAtCommit, death.skipping == 0, !death.after, !isQuiet {
            members[number].diesAtCommit = nil
            count(.killsBeforeCommit)
            kill(members[number].plan.process)
            return .failed
        }
        // A commit without operations still takes a revision, as an entry of the timeline does.
        if transaction.operations.isEmpty { transaction.put("told", []) }
        let decision: StoreState.Decision
        do throws(SharedCoreError) {
            decision = try state.decide(transaction, of: members[number].session, at: now)
        } catch {
            broke("the store refused \(members[number].name): \(error)")
            return .failed
        }
        switch decision {
        case .answer(.refused(let failure)):
            return .refused(failure)
        case .answer(.committed(let commit)):
            return .committed(commit.revision)
        case .record(_, .refused(let failure)):
            return .refused(failure)
        case .record(let effect, .committed):
            let before = present
            applied(effect, by: number)
            // With a rest, the ownership moves under its epoch.
            if before.owner?.claim != present.owner?.claim || before.owner?.session != present.owner?.session {
                letRacersGoOn(by: number)
            }
            if case .transition(let timelineEvents) = purpose {
                record(timelineEvents, of: number, at: effect.revision)
            }
            record(timelineEvents, of: number, at: effect.revision)
            judge(before, purpose, by: number)
            return aftermath(of: effect.revision, by: number)
        }
    }

    /// Injects faults between a member's commit and its next step.
    private mutating func aftermath(of revision: Revision, by number: Int) -> Verdict {
        if let death = members[number].diesAtCommit, !isQuiet {
            members[number].diesAtCommit = death.skipping == 0 ? nil : (death.skipping - 1, death.after)
            if death.skipping == 0, death.after {
                count(.killsAfterCommit)
                kill(members[number].plan.process)
                return .unknown
            }
        }
        if let freeze = members[number].freezesAtCommit, !isQuiet {
            members[number].freezesAtCommit = freeze.skipping == 0 ? nil : (freeze.skipping - 1, freeze.duration)
            if freeze.skipping == 0 {
                self.freeze(members[number].plan.process, for: freeze.duration, .freezesAfterCommit)
            }
        }
        if goesWrong(schedule.faultProfile.lostAnswers, for: number, .lostAnswers) { return .unknown }
        return .committed(revision)
    }

    /// Applies the expiries that are due.
    mutating func expire() {
        while let effect = state.expiry(at: now) { applied(effect, by: nil) }
    }

    /// Applies an effect, and notifies the members that watch its keys.
    mutating func applied(_ effect: Effect, by number: Int?) {
        state.apply(effect)
        var ownership: [Change] = []
        var demand: [Change] = []
        if let last = state.history.last, last.revision == effect.revision {
            for stored in last.changes {
                guard let change = try? stored.change() else { continue }
                switch KeyPart(change.key) {
                case .ownership: ownership.append(change)
                case .inbox:
                    demand.append(change)
                    judgeInbox(change)
                case .expectations: demand.append(change)
                case .calls: judgeCall(change)
                case .other: break
                }
            }
        }
        let origin = SessionID(rawValue: 0)
        let request = present.handover?.claim
        present.apply(.changes(ChangeSet(revision: effect.revision, origin: origin, changes: ownership)), at: now)
        if let request, present.handover?.claim != request { requestOverAt = clock }
        if !demand.isEmpty {
            demandLog.append(ChangeSet(revision: effect.revision, origin: origin, changes: demand))
        }
        guard !ownership.isEmpty || !demand.isEmpty else { return }
        for other in members.indices where members[other].isAlive {
            let isAboutIt =
                other != number && isNews(ownership, for: members[other])
                || !demand.isEmpty && (members[other].demandPosition != nil || hasRungCall(members[other]))
            if isAboutIt { wake(other) }
        }
    }

    /// Returns whether a member's watch shows one of these changes.
    private func isNews(_ changes: [Change], for member: Member) -> Bool {
        guard member.machine.isAtRest else { return !changes.isEmpty }
        return changes.contains { OwnershipKeys.ofSleep.contains($0.key) }
    }

    private func hasRungCall(_ member: Member) -> Bool {
        member.calls.contains { calls[$0].isSubscribed && calls[$0].heard < messages[calls[$0].message].lastChange }
    }

    /// Adds a commit's events to the timeline, and has the checker validate it.
    mutating func record(_ timelineEvents: [OwnershipEvent], of number: Int, at revision: Revision) {
        let member = members[number]
        let session = Session(
            id: member.session, process: member.process, role: member.plan.role, name: member.name, openedAt: now)
        for timelineEvent in timelineEvents {
            let previous = timelineEvent.kind == .acquired ? tenure : timelineEvent.previous
            switch timelineEvent.kind {
            case .acquired, .tookOver: tenure = PreviousOwnership(epoch: revision, end: .sessionEnded)
            case .released: tenure = timelineEvent.epoch.map { PreviousOwnership(epoch: $0, end: .released) }
            case .coreGivenUp: if let epoch = timelineEvent.epoch { superseded.insert(epoch) }
            default: break
            }
            let entry = TimelineEntry(
                timelineEvent.kind, by: session, epoch: timelineEvent.epoch, other: timelineEvent.other,
                from: timelineEvent.from, to: timelineEvent.to,
                previous: previous, bound: timelineEvent.bound, reason: timelineEvent.reason, at: now, bootID: bootID)
            let told = TimelineRecord(revision: revision, entry: entry)
            if narrative.isTold { say(told.entry.describe()) }
            for violation in ledger.apply(told) { broke(violation.description) }
        }
    }
}
