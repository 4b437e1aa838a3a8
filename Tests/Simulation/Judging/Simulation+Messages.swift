internal import Coordination
internal import CoreAPI
internal import Mailboxes
internal import StoreEngine

/// Validates the rules of messages, with complete knowledge of the simulation.
extension Simulation {
    /// Validates one change of the inbox.
    mutating func judgeInbox(_ change: Change) {
        guard let place = inbox.mailbox.keys.place(of: change.key), let number = messageNumbers[place.item] else {
            return
        }
        messages[number].lastChange = state.revision.rawValue
        switch (place.part, change.new) {
        case (.message, .some):
            check(change.old == nil, "C10: a message was stored over another one")
            let isAgain = messages[number].acknowledgements > 0 && !messages[number].hasExpired
            check(!isAgain, "C10: a message was stored again after it had been acknowledged")
            messages[number].availableSince = clock
            if messages[number].storedAt == nil { messages[number].storedAt = clock }
        case (.message, nil):
            messages[number].availableSince = nil
            if change.kind == .expired {
                messages[number].hasExpired = true
                took(.inbox, InboxKind.stored.rawValue, InboxMove.expires.rawValue, by: 0)
            } else {
                messages[number].acknowledgements += 1
                let isTwice = messages[number].acknowledgements > 1 && !messages[number].hasExpired
                check(!isTwice, "C10: a message was acknowledged twice")
                check(
                    inboxState(of: number) == .acknowledged,
                    "C10: what was acknowledged is not remembered")
            }
        case (.take, .some):
            check(change.old == nil, "C10: a message was taken out of another's hand")
            messages[number].availableSince = nil
        case (.take, nil):
            if item(of: number).message != nil { messages[number].availableSince = clock }
            if change.kind == .sessionEnded {
                took(.inbox, InboxKind.taken.rawValue, InboxMove.holderEnds.rawValue, by: 0)
            }
        case (.mark, .some):
            if inboxState(of: number) == .nothingToShow { messages[number].availableSince = clock }
            if messages[number].storedAt == nil { messages[number].storedAt = clock }
        case (.details, _): break
        case (.mark, nil):
            messages[number].hasExpired = true
            messages[number].availableSince = nil
            let from: InboxKind = messages[number].acknowledgements > 0 ? .acknowledged : .nothingToShow
            took(.inbox, from.rawValue, InboxMove.expires.rawValue, by: 0)
        }
    }

    /// Checks that the server drops only messages that the store has.
    mutating func judgeServerAcknowledgement(of message: Int) {
        let isKnown = inboxState(of: message) != .absent || messages[message].hasExpired
        check(isKnown, "C8: a core acknowledged to its server what is not stored")
    }

    /// Checks that a message arrives at once if no wake-ups are lost.
    mutating func judgePromptness(of call: Int, since available: UInt64?) {
        let member = members[calls[call].member]
        guard let available, !calls[call].insists, schedule.faultProfile.lostWakeUps == 0,
            schedule.faultProfile.slowSteps == 0
        else { return }
        let since = max(available, calls[call].since, member.runsSince, member.troubleUntil)
        check(
            clock - since < 200_000_000,
            "C13: \(member.name) took a message only \((clock - since) / 1_000_000) ms after it was there")
    }

    /// Checks that a call without an answer was obstructed.
    mutating func judgeTimeout(of call: Int) {
        let made = calls[call]
        let member = members[made.member]
        let message = messages[made.message]
        guard let arrived = message.arrivedAt, !made.insists, made.wait.deadline <= now, !message.hasExpired,
            !member.demandPolicy.isSpent, !member.demandPolicy.isClosing
        else { return }
        // The call waits for a message that another consumer has taken.
        let state = inboxState(of: made.message)
        guard state != .taken else { return }
        let since = max(arrived, made.since, disturbedUntil, member.runsSince, message.storedAt ?? 0)
        let grace: UInt64 = schedule.faultProfile.lostWakeUps > 0 ? 16_000_000_000 : 6_000_000_000
        check(
            clock < since + grace,
            "C8: \(member.name) did not get “\(message.callID)” before its deadline, and nothing stood in its way")
    }

    /// Checks that a core runs no longer than its process may.
    mutating func judgePolicy(of number: Int) {
        let demandPolicy = members[number].demandPolicy
        let machine = members[number].machine
        let last = machine.holding.flatMap { machine.view.activities(of: $0.epoch)?.last }
        let input: PolicyInput =
            if let last, last.latestEnd > now {
                .busy
            } else if demandPolicy.demand == nil {
                .unknown
            } else {
                demandPolicy.demand?.openUntil(after: now) == nil ? .quiet : .awaited
            }
        let decision: PolicyDecision
        switch GoalKind(members[number].machine.goal) {
        case .allServed: decision = .done
        case .budgetUsedUp, .boundPassed: decision = .spent
        default: decision = .run
        }
        took(.policy, input.rawValue, decision.rawValue, by: number)
        guard let core = members[number].cores.last, cores[core].runs, !cores[core].isEnding else { return }
        let bound = schedule.budget.clampedNanoseconds + 500_000_000
        let since = max(cores[core].startedAt, members[number].runsSince)
        let idleAt = busyEnd(of: cores[core].epoch)
        check(
            clock < max(since + bound, idleAt + 500_000_000) || !members[number].machine.goal.wantsOwnership,
            "C9: \(members[number].name)'s core runs beyond its budget of \(schedule.budget)")
    }
}
