internal import Coordination
internal import CoreAPI

extension Mutant {
    /// All mutants. Schedules detect each of them.
    package static var every: [Mutant] { all + ofActivities + ofRestInSchedules + ofBatons + ofCalls }

    /// The mutants of everything except activities, each with one line of damage.
    package static let all: [Mutant] = [
        Mutant("a core whose writes are not fenced") {
            $0.changeTransaction = { transaction, purpose in
                if case .storing = purpose { transaction.dropGuards(on: OwnershipKey.owner) }
            }
        },
        Mutant("a core that starts without asking whether it still may") {
            $0.changeTransaction = { transaction, purpose in
                if case .announcing = purpose { transaction.dropGuards(on: OwnershipKey.owner) }
            }
        },
        Mutant("a release that does not ask whose the ownership is") {
            $0.changeDirective = { directive, move, _ in
                guard move == .releases || move == .givesUp else { return directive }
                return directive.changingTransaction { $0.guards = [] }
            }
        },
        Mutant("an acquisition in place of an owner") {
            $0.changeDirective = { directive, move, _ in
                guard move == .acquires else { return directive }
                return directive.changingTransaction {
                    $0.dropGuards(on: OwnershipKey.owner)
                    $0.operations.insert(.delete(OwnershipKey.owner), at: 0)
                }
            }
        },
        Mutant("an acquisition past the request of a Main") {
            $0.changeDirective = { directive, move, _ in
                guard move == .acquires else { return directive }
                return directive.changingTransaction { $0.dropGuards(on: OwnershipKey.handover) }
            }
        },
        Mutant("an owner that does not answer") {
            $0.changeDirective = { directive, move, _ in move == .answers ? nil : directive }
        },
        Mutant("a holder that is believed while it is frozen") {
            $0.changeRules = { $0.answerBound = .seconds(1000) }
        },
        Mutant("a take-over that does not ask whether the challenge was answered") {
            $0.changeDirective = { directive, move, _ in
                guard move == .takesOverUnanswered else { return directive }
                return directive.changingTransaction { $0.dropGuards(on: OwnershipKey.challenge, OwnershipKey.answer) }
            }
        },
        Mutant("a request that outlives the silence of its Main") {
            $0.changeDirective = { directive, move, _ in move == .removesRequest ? nil : directive }
        },
        Mutant("a deadline of a request that never comes") {
            $0.changeRules = { $0.handoverTimeout = .seconds(1000) }
        },
        Mutant("a deadline that does not count the critical section") {
            $0.changeRules = { $0.handoverMaximumTimeout = $0.handoverTimeout }
        },
        Mutant("a Main that does not wait for a core that is stopping") {
            $0.changeMainRules = { $0.stopTimeout = .zero }
        },
        Mutant("a critical section that is entered after the request") {
            $0.changeTransaction = { transaction, purpose in
                if case .enteringCritical = purpose { transaction.dropGuards(on: OwnershipKey.handover) }
            }
        },
        Mutant("a core that is not told to stop") {
            $0.changeDirective = { directive, move, _ in move == .stops ? .look : directive }
        },
        Mutant("a death that is not looked for") {
            $0.changeDirective = { directive, move, _ in move == .buries ? .look : directive }
        },
        Mutant("a kill of any process with that number") { $0.killsByNumber = true },
        Mutant("a Main that is started again and forgets that its core runs") { $0.startsAnew = true },
        Mutant("a core that is not told why it stops") { $0.tellsNoReason = true },
        Mutant("a core that is given up before its bound") { $0.changeRules = { $0.stopTimeout = .milliseconds(20) } },
        Mutant("an Executor that its activity does not keep") { $0.overlooksOwnActivities = true },
        Mutant("a kill that was not announced") {
            $0.killsWithoutLooking = true
            $0.changeDirective = { directive, move, machine in
                guard move == .announcesKill, let owner = machine.view.owner else { return directive }
                return .kill(owner.record.process, epoch: owner.claim)
            }
        },
        Mutant("a call that looks before it watches") { $0.looksFirst = true },
        Mutant("a call that expects what is there") { $0.expectsFirst = true },
        Mutant("a core that acknowledges before it has stored") { $0.acknowledgesFirst = true },
        Mutant("an owner that overlooks what others expect") { $0.overlooksDemand = true },
        Mutant("an Executor that does not hand on at the end of its budget") { $0.budgetIsEndless = true },
        Mutant("a second take of one message") {
            $0.changeTransaction = { transaction, purpose in
                guard case .taking = purpose else { return }
                transaction.guards.removeAll { if case .absent = $0 { true } else { false } }
            }
        },
        Mutant("an acknowledgement that remembers nothing") {
            $0.changeTransaction = { transaction, purpose in
                guard case .acknowledging = purpose else { return }
                transaction.operations.removeAll { if case .put = $0 { true } else { false } }
            }
        },
        Mutant("a message that is stored although it is known") {
            $0.changeTransaction = { transaction, purpose in
                guard case .storing = purpose else { return }
                transaction.guards.removeAll { if case .absent = $0 { true } else { false } }
            }
        },
        Mutant("a participant that does not look by itself") {
            $0.changeDirective = { directive, move, _ in move == .looks ? nil : directive }
        },
    ]

    /// The mutants of activities, which the exploration detects too.
    package static let ofActivities: [Mutant] = [
        Mutant("an activity that answers for its owner") {
            $0.changeDirective = { directive, move, machine in
                let isBusy = machine.view.owner.map { machine.view.activities(of: $0.claim) != nil } ?? false
                guard isBusy, [.challenges, .challengesAgain, .takesOverUnanswered].contains(move) else {
                    return directive
                }
                return nil
            }
        },
        Mutant("a bound of an activity that is not looked at") {
            $0.changeSeen = { entry, _ in
                guard entry.key == OwnershipKey.activities else { return entry }
                var record = ActivitiesRecord(bytes: entry.value)
                record.activities = record.activities.map {
                    Activity(.custom($0.kind.name, bound: .seconds(1000)), id: $0.id, begun: $0.begun)
                }
                return entry.changingValue(to: record.bytes)
            }
        },
        Mutant("a request that does not stop a second begin") {
            $0.changeTransaction = { transaction, purpose in
                if case .beginning = purpose { transaction.dropGuards(on: OwnershipKey.handover) }
            }
        },
        Mutant("an insisting request that is not heard") {
            $0.changeSeen = { entry, session in
                guard entry.key == OwnershipKey.handover, entry.origin != session else { return entry }
                var record = HandoverRecord(bytes: entry.value)
                record.insists = false
                return entry.changingValue(to: record.bytes)
            }
        },
        Mutant("a Main that takes over, insists, and waits behind one that does not") {
            $0.changeDirective = { directive, move, machine in
                move == .asks && machine.view.handover.map { $0.session != machine.myself.session } == true
                    ? nil : directive
            }
        },
        Mutant("an activity that outlives its epoch") {
            $0.changeDirective = { directive, _, _ in
                directive.changingTransaction { $0.operations.removeAll { $0 == .delete(OwnershipKey.activities) } }
            }
        },
        Mutant("a release with an open activity that lets another in before the Main") {
            $0.changeDirective = { directive, move, machine in
                guard move == .releases, machine.view.activities != nil else { return directive }
                return directive.changingTransaction { $0.delete(OwnershipKey.handover) }
            }
        },
        Mutant("a request that stops a busy core") {
            $0.changeSeen = { entry, session in
                entry.key == OwnershipKey.activities && entry.origin == session ? nil : entry
            }
        },
        Mutant("a Main that does not see that the owner is busy") {
            $0.changeSeen = { entry, session in
                entry.key == OwnershipKey.activities && entry.origin != session ? nil : entry
            }
        },
    ]
}

extension Mutant {
    /// The mutants of calls and batons that schedules alone detect.
    package static let ofCalls: [Mutant] = [
        Mutant("a core that starts and leaves the calls of former cores open") { $0.leavesLostCalls = true },
        Mutant("a core that ends the calls of the baton that it gets") { $0.sparesNoCalls = true },
        Mutant("an Executor that does not want to own for its baton") { $0.doesNotOwnAgain = true },
        Mutant("an owner that does not see which batons the Main takes") {
            $0.changeSeen = { entry, session in
                entry.key == OwnershipKey.takes && entry.origin != session ? nil : entry
            }
        },
        Mutant("a call that moves without its activity") {
            $0.changeTransaction = { transaction, purpose in
                guard case .applying = purpose else { return }
                transaction.operations.removeAll {
                    if case .put(OwnershipKey.activities, _, _) = $0 { true } else { false }
                }
            }
        },
        Mutant("a call that ceases to move although a Main has asked that takes it") { $0.movesAsItLikes = true },
        Mutant("a call that ceases to move without the request as the guard") {
            $0.changeTransaction = { transaction, purpose in
                if case .moving = purpose { transaction.dropGuards(on: OwnershipKey.handover) }
            }
        },
        Mutant("a core that takes a command again") {
            $0.takesCommandsAgain = true
            $0.changeTransaction = { transaction, purpose in
                guard case .takingCommand = purpose else { return }
                transaction.guards.removeAll { if case .absent = $0 { true } else { false } }
            }
        },
        Mutant("a core that takes a command whose time is over") { $0.takesLateCommands = true },
        Mutant("a command that is taken although its sender has taken it back") {
            $0.changeTransaction = { transaction, purpose in
                guard case .takingCommand = purpose, case .put(let progress, _, _) = transaction.operations.first else {
                    return
                }
                transaction.guards.removeAll { progress.text == $0.key.text + "/taken" }
            }
        },
        Mutant("a command that is taken back without asking whether it was taken") {
            $0.changeTransaction = { transaction, purpose in
                if case .withdrawingCommand = purpose { transaction.guards = [] }
            }
        },
        Mutant("a former owner that takes a lost answer for the end by another") { $0.forgetsUnclearEnds = true },
    ]

    /// The mutants of batons.
    package static let ofBatons: [Mutant] = [
        Mutant("a baton that is applied without its record as the guard") {
            $0.changeTransaction = { transaction, purpose in
                if case .applying = purpose { transaction.dropGuards(on: OwnershipKey.baton) }
            }
        },
        Mutant("a baton that is applied without the epoch as the guard") {
            $0.changeTransaction = { transaction, purpose in
                if case .applying = purpose { transaction.dropGuards(on: OwnershipKey.owner) }
            }
        },
        Mutant("a baton that is applied and stays offered") {
            $0.changeTransaction = { transaction, purpose in
                guard case .applying = purpose else { return }
                transaction.operations = [.put("elsewhere", [], .persistent)]
            }
        },
        Mutant("an old owner that ends its call by the clock alone") {
            $0.changeDirective = { directive, move, _ in
                move == .settles ? directive.changingTransaction { $0.dropGuards(on: OwnershipKey.baton) } : directive
            }
        },
        Mutant("an old owner that does not end its baton") {
            $0.changeDirective = { directive, move, _ in move == .settles ? nil : directive }
        },
        Mutant("a release that does not offer the baton") {
            $0.changeDirective = { directive, move, _ in
                guard move == .releases else { return directive }
                return directive.changingTransaction { $0.operations.removeAll { $0.isOfBaton } }
            }
        },
    ]
}

extension Transaction.Operation {
    fileprivate var isOfBaton: Bool { if case .put(OwnershipKey.baton, _, _) = self { true } else { false } }
}

extension Entry {
    /// Returns the same entry with another value.
    func changingValue(to value: [UInt8]) -> Entry {
        Entry(
            key: key, value: value, revision: revision, creationRevision: creationRevision, lifetime: lifetime,
            origin: origin)
    }
}

extension Directive {
    /// Returns the same directive with another transaction.
    func changingTransaction(_ change: (inout Transaction) -> Void) -> Directive {
        guard case .commit(var transition) = self else { return self }
        change(&transition.transaction)
        return .commit(transition)
    }
}
