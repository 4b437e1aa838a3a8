internal import Coordination
internal import CoreAPI
internal import StoreEngine

/// The loop of a participant: it asks its machine for a directive, carries it out, and sleeps if there is none.
extension Simulation {
    mutating func proceed(_ number: Int) {
        guard members[number].isAlive, members[number].pending == nil, !members[number].isFrozen(at: clock) else {
            return
        }
        guard members[number].hold == nil else { return proceed(withHolder: number) }
        decideGoal(number)
        let before = Situation(of: members[number].machine, at: now)
        let directive = members[number].machine.step(at: now)
        let move = Move(directive, by: members[number].machine)
        took(.ownership, before.rawValue, move.rawValue, by: number)
        hearOfBaton(number)
        noticeLoss(number)
        noticeState(number)
        if let wanted = directive {
            let machine = members[number].machine
            guard let directive = mutant.map({ $0.changed(wanted, move, of: machine) }) ?? wanted else {
                return setAlarm(of: number, to: clock + 5_000_000)
            }
            members[number].pending = directive
            if move == .stops { members[number].viewAtStop = machine.view }
            if move == .takesOverUnanswered { thawHolder(by: number) }
            return schedule(.carryOut(number), after: stepTime(of: number))
        }
        let machine = members[number].machine
        if members[number].demandPolicy.isClosing, machine.core == nil, machine.given == nil,
            machine.holding == nil || machine.isStuck(at: now)
        {
            return finish(number)
        }
        let next = min(machine.nextStep, members[number].demandPolicy.policyIsDue ?? machine.nextStep)
        // Timers are never early, and a little late.
        let late = UInt64(members[number].random.number(1..<400)) * 1000
        setAlarm(of: number, to: clock + now.duration(to: next).clampedNanoseconds + late)
    }

    private mutating func decideGoal(_ number: Int) {
        let machine = members[number].machine
        let hadPolicy = members[number].demandPolicy.policy != nil
        let activities = machine.holding.flatMap { machine.view.activities(of: $0.epoch) }
        members[number].demandPolicy.ownsAgain = mutant?.doesNotOwnAgain != true && machine.given?.isOffered == true
        let isBeginning = members[number].begun > machine.view.revision
        let goal = members[number].demandPolicy.goal(
            holding: machine.holding?.epoch, core: machine.core,
            activities: mutant?.overlooksOwnActivities == true ? nil : activities,
            isBeginning: isBeginning && mutant?.overlooksOwnActivities != true, at: now)
        members[number].machine.insists = members[number].demandPolicy.insists
        if goal != machine.goal {
            let from = GoalKind(machine.goal)
            members[number].machine.goal = goal
            took(.goal, from.rawValue, GoalKind(goal).rawValue, by: number)
        }
        if hadPolicy { judgePolicy(of: number) }
        if members[number].demandPolicy.policy == nil { members[number].demandPosition = nil }
        if goal.wantsOwnership, machine.holding == nil {
            if members[number].wantsSince == nil { members[number].wantsSince = clock }
        } else {
            members[number].wantsSince = nil
        }
    }

    mutating func setAlarm(of number: Int, to time: UInt64) {
        let alarm = members[number].alarm
        if alarm <= time, alarm > clock { return }
        members[number].alarm = time
        queue.insert(.alarm(number, time), at: time)
    }

    private mutating func noticeLoss(_ number: Int) {
        if let refusal = members[number].machine.refusal, members[number].demandPolicy.notice(refusal) {
            judge(refusal, of: number)
            tell(refusal, of: number)
            setAlarm(of: number, to: clock + 1000)
        }
        let loss = members[number].machine.takeLoss()
        members[number].demandPolicy.notice(loss, hasYielded: members[number].machine.hasYielded)
        guard let loss else { return }
        if let successor = loss.successor {
            record(
                [
                    OwnershipEvent(
                        kind: .fenced, epoch: loss.epoch, other: successor.claim,
                        reason: "a newer epoch owns, so its core is stopped")
                ], of: number, at: state.revision)
        }
        for call in members[number].calls where calls[call].isWaiting && calls[call].held == loss.epoch { end(call) }
    }

    /// Answers waits for the participant's own state: a Main's start, and calls that insist on a core.
    mutating func noticeState(_ number: Int) {
        let refusal = members[number].machine.refusal
        if members[number].isStarting { noticeStart(number, refusal) }
        for call in members[number].calls { noticeOwnership(call, of: number, refusal) }
        finishWhenIdle(number)
    }

    func isCoreRunning(in number: Int) -> Bool {
        guard let core = members[number].machine.core, core.phase == .running else { return false }
        return core.epoch == members[number].machine.holding?.epoch
    }

    private mutating func noticeStart(_ number: Int, _ refusal: Refusal?) {
        if let refusal {
            judge(refusal, of: number)
            members[number].demandPolicy.withdraw(because: .refused)
            tell(refusal, of: number)
        }
        let isAnswered = refusal != nil || isCoreRunning(in: number)
        guard isAnswered || !members[number].demandPolicy.intent.wantsOwnership else { return }
        members[number].isStarting = false
        setAlarm(of: number, to: clock + 1000)
        guard refusal != nil, !isQuiet, members[number].random.once(in: 2) else { return }
        // Some applications try again, some of them at once.
        let isAtOnce = members[number].random.once(in: 2)
        guard isAtOnce else { return schedule(.startAgain(number), after: members[number].random.time(1..<2000)) }
        startAgain(number)
    }

    mutating func startAgain(_ number: Int) {
        guard !members[number].demandPolicy.isClosing, !members[number].demandPolicy.intent.wantsOwnership else {
            return
        }
        say("\(members[number].name) is told again to own")
        members[number].demandPolicy.start(takingOver: false)
        members[number].machine.hasYielded = false
        members[number].isStarting = true
        setAlarm(of: number, to: clock + 1000)
    }

    private mutating func noticeOwnership(_ call: Int, of number: Int, _ refusal: Refusal?) {
        guard case .owning = calls[call].phase else { return }
        if let refusal {
            judge(refusal, of: number)
            tell(refusal, of: number)
            end(call)
        } else if isCoreRunning(in: number) {
            calls[call].held = members[number].machine.holding?.epoch
            calls[call].phase = .subscribing
            schedule(.call(call), after: stepTime(of: number))
        } else if members[number].demandPolicy.problem != calls[call].problemBefore
            || members[number].demandPolicy.lastLoss?.epoch != calls[call].lossBefore
        {
            end(call)
        }
    }

    /// Ends an Executor after its application has finished.
    private mutating func finishWhenIdle(_ number: Int) {
        let member = members[number]
        guard !member.isMain, member.isFinishing, member.calls.isEmpty, !member.demandPolicy.isClosing,
            member.machine.holding == nil, member.machine.core == nil, member.demandPolicy.policy == nil,
            member.machine.given == nil
        else { return }
        members[number].demandPolicy.isClosing = true
        setAlarm(of: number, to: clock + 1000)
    }

    /// Ends the participation, and with it the session.
    mutating func finish(_ number: Int) {
        members[number].machine.abandonBaton()
        hearOfBaton(number)
        say("\(members[number].name) closes")
        members[number].isOpen = false
        members[number].demandPosition = nil
        for call in members[number].calls { calls[call].phase = .over }
        members[number].calls = []
        guard let effect = state.ending(members[number].session, at: now) else { return }
        applied(effect, by: nil)
    }

    private mutating func tell(_ refusal: Refusal, of number: Int) {
        let deed = refusal.owner == nil ? "has asked for the core" : "owns the core and answers"
        record(
            [OwnershipEvent(kind: .refused, other: refusal.owner?.claim, reason: "the Main \(refusal.title) \(deed)")],
            of: number, at: state.revision)
    }
}
