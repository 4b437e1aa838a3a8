internal import Coordination
internal import CoreAPI

/// A Main that rests, and the holder that owns for it.
extension Simulation {
    // MARK: - The Main

    /// The application asks its Main to rest: its core becomes quiet first.
    mutating func rest(_ number: Int) {
        let member = members[number]
        guard member.isAlive, member.isMain, !member.machine.isAtRest, !member.machine.wantsRest,
            let core = member.cores.last, cores[core].phase == .running, !cores[core].isEnding,
            !cores[core].isQuiet, !cores[core].isBecomingQuiet
        else { return }
        if let reason = member.machine.reasonNotToRest { return say("\(member.name) does not rest: \(reason)") }
        say("\(member.name) is asked to rest")
        cores[core].isBecomingQuiet = true
        schedule(.core(core, .quiet), after: members[number].random.time(0..<100))
    }

    /// The core is quiet: from here on the machine tells it to continue or to stop.
    mutating func becomeQuiet(_ core: Int, of number: Int) {
        guard cores[core].phase == .running, !cores[core].isEnding, members[number].machine.core?.phase == .running,
            members[number].machine.core?.epoch == cores[core].epoch
        else { return }
        for message in cores[core].unacknowledged.sorted() { acknowledge(message, by: core) }
        say("\(members[number].name)'s core is quiet")
        cores[core].isQuiet = true
        members[number].machine.core?.isQuiet = true
        members[number].machine.wokenFor = .user
        // The core may have been asked to resume meanwhile.
        if cores[core].isBecomingQuiet, members[number].machine.reasonNotToRest == nil {
            count(.rests)
            members[number].machine.wantsRest = true
            members[number].machine.wakeReason = .user
        }
        cores[core].isBecomingQuiet = false
        proceed(number)
    }

    /// The application asks its Main to resume.
    mutating func resume(_ number: Int, for wake: Wake = .user) {
        guard members[number].isAlive, let core = members[number].cores.last else { return }
        cores[core].isBecomingQuiet = false
        guard members[number].machine.wantsRest else { return }
        say("\(members[number].name) is asked to resume: \(wake)")
        members[number].machine.wakeReason = wake
        members[number].machine.wantsRest = false
        proceed(number)
    }

    mutating func resumeCore(_ epoch: Revision, of number: Int) {
        judgeResume(of: epoch, by: number)
        guard let core = core(of: epoch, in: number), cores[core].isQuiet else { return }
        say("\(members[number].name)'s core goes on")
        cores[core].isQuiet = false
        if let problem = cores[core].problem { return fail(core, because: problem) }
        for message in messages.indices where messages[message].isHeld { send(message, to: core) }
    }

    /// Delivers data for a quiet core. The process that keeps its sockets, or the holder, wakes its Main.
    mutating func wakeForData(_ core: Int, of number: Int) {
        guard members[number].machine.isAtRest, members[number].random.once(in: 2),
            let owner = present.owner, owner.claim == cores[core].epoch, let holder = member(owner.session),
            members[holder].hold?.holding != nil
        else { return resume(number, for: .data) }
        members[holder].need = .data
        setAlarm(of: holder, to: clock + 1000)
    }

    // MARK: - The holder

    mutating func proceed(withHolder number: Int) {
        guard var hold = members[number].hold else { return }
        hold.view = members[number].machine.view
        hold.isClosing = members[number].demandPolicy.isClosing
        if hold.holding == nil, hold.view.offer == nil { members[number].need = nil }
        let openUntil = members[number].demand?.openUntil(after: now)
        hold.reason = members[number].need ?? (openUntil == nil ? nil : .call)
        let before = Situation(of: hold)
        let directive = hold.step(at: now)
        members[number].hold = hold
        let move = Move(directive, by: members[number].machine)
        took(.ownership, before.rawValue, move.rawValue, by: number)
        if hold.isClosing {
            members[number].endsAt = min(
                members[number].endsAt, clock + (promised.wakeBound * 2).clampedNanoseconds)
        }
        if hold.hasEnded || members[number].endsAt <= clock { return finish(number) }
        guard let wanted = directive else {
            let next = min(hold.nextStep, openUntil ?? hold.nextStep)
            let late = UInt64(members[number].random.number(1..<400)) * 1000
            let due = clock + now.duration(to: next).clampedNanoseconds + late
            return setAlarm(of: number, to: min(due, max(members[number].endsAt, clock + 1)))
        }
        let machine = members[number].machine
        guard let directive = mutant.map({ $0.changed(wanted, move, of: machine) }) ?? wanted else {
            return setAlarm(of: number, to: clock + 5_000_000)
        }
        members[number].pending = directive
        schedule(.carryOut(number), after: stepTime(of: number))
    }

    /// Starts following the group's demand as a holder, which does so from the beginning.
    mutating func followDemand(asHolder number: Int) {
        let demand = presentDemand()
        members[number].demand = demand
        members[number].demandPosition = demandLog.count
    }
}
