internal import Coordination
internal import CoreAPI
internal import StoreEngine

/// Faults of processes and the machine.
extension Simulation {
    /// Kills a process, with every member in it.
    mutating func kill(_ process: Int) {
        for number in members.indices where members[number].plan.process == process && members[number].isAlive {
            die(number)
        }
    }

    private mutating func die(_ number: Int) {
        say("\(members[number].name) is killed")
        members[number].isDead = true
        members[number].diedAt = clock
        members[number].pending = nil
        endEverything(in: number)
        disturb(for: 1_000_000)
        if goesWrong(schedule.faultProfile.silentDeaths, for: number, .silentDeaths) { return }
        // The system may report it at once or a little later.
        schedule(.bury(number), after: members[number].random.number(50..<3000))
    }

    private mutating func endEverything(in number: Int) {
        for core in members[number].cores {
            cores[core].phase = .over
            cores[core].runs = false
        }
        members[number].cores = []
        for call in members[number].calls { calls[call].phase = .over }
        members[number].calls = []
        members[number].demandPosition = nil
    }

    /// Ends the session of a dead member, once.
    mutating func bury(_ number: Int) {
        guard members[number].isDead, !members[number].isBuried else { return }
        members[number].isBuried = true
        guard let effect = state.ending(members[number].session, at: now) else { return }
        say("The group hears of \(members[number].name)'s death")
        applied(effect, by: nil)
    }

    mutating func freeze(_ process: Int, for duration: Int, _ fault: Fault) {
        guard !isQuiet else { return }
        let until = min(clock + UInt64(duration) * 1000, quietFrom)
        for number in members.indices where members[number].plan.process == process && members[number].isAlive {
            count(fault)
            say("\(members[number].name) is stopped for \((until - clock) / 1_000_000) ms")
            members[number].frozenUntil = max(members[number].frozenUntil ?? 0, until)
            disturbedUntil = max(disturbedUntil, until + 1_000_000_000)
            queue.insert(.goOn(number), at: until)
            if let owner = present.owner, owner.session == members[number].session {
                watchOver(number, owner.claim)
            }
            if let handover = present.handover, handover.session == members[number].session {
                watchOver(number, handover.claim)
            }
        }
    }

    /// Resumes the holder that is about to be superseded, so that it races.
    mutating func thawHolder(by number: Int) {
        guard schedule.faultProfile.lastMoments > 0, let owner = present.owner, let holder = member(owner.session),
            members[holder].isFrozen(at: clock),
            goesWrong(schedule.faultProfile.lastMoments, for: number, .lastMoments)
        else { return }
        members[holder].frozenUntil = clock
        goOn(holder)
    }

    /// After a change of ownership, resumes members that were stopped between their read and their commit, so that they
    /// race.
    mutating func letRacersGoOn(by number: Int) {
        guard schedule.faultProfile.lastMoments > 0 else { return }
        for racer in members.indices
        where members[racer].isFrozen(at: clock) && members[racer].pending?.isCommit == true
            && goesWrong(schedule.faultProfile.lastMoments, for: number, .lastMoments)
        {
            say("\(members[racer].name) is let go on")
            members[racer].frozenUntil = clock
            goOn(racer)
        }
    }

    /// Makes a process die just before it is killed; the next process gets its number.
    mutating func reuseNumber(of process: ProcessIdentity, by number: Int) {
        guard let victim = members.first(where: { $0.process == process && $0.isAlive }),
            let next = members.firstIndex(where: { !$0.isOpen && !$0.isDead && $0.plan.process == $0.number }),
            goesWrong(schedule.faultProfile.reusedNumbers, for: number, .reusedNumbers)
        else { return }
        kill(victim.plan.process)
        members[next].reusedNumber = process.pid
        open(next)
    }

    mutating func trouble(_ number: Int, for duration: Int) {
        guard !isQuiet, members[number].isAlive else { return }
        count(.trouble)
        let until = min(clock + UInt64(duration) * 1000, quietFrom)
        say("The store refuses \(members[number].name) for \((until - clock) / 1_000_000) ms")
        members[number].troubleUntil = until
        disturbedUntil = max(disturbedUntil, until + 1_000_000_000)
    }

    /// Makes the machine sleep: its clock continues, and timers fire after the sleep.
    mutating func sleep(for duration: Int) {
        guard !isQuiet else { return }
        count(.sleeps)
        say("The machine sleeps for \(duration / 1000) ms")
        bootOffset &+= UInt64(duration) * 1000
        disturb(for: 2_000_000)
        for number in members.indices where members[number].isAlive {
            members[number].runsSince = clock
            if members[number].wantsSince != nil { members[number].wantsSince = clock }
            setAlarm(of: number, to: clock + UInt64(members[number].random.number(10..<2000)) * 1000)
        }
        for call in calls.indices where calls[call].isWaiting && calls[call].alarm < .max {
            setAlarm(ofCall: call, to: clock + UInt64(random.number(10..<2000)) * 1000)
        }
    }

    /// Restarts the machine: all members are dead, the store stays, and the clock starts again.
    mutating func reboot() {
        count(.reboots)
        say("The machine starts again")
        for number in members.indices where members[number].isOpen {
            members[number].isDead = true
            members[number].isBuried = true
            members[number].diedAt = clock
            members[number].pending = nil
            endEverything(in: number)
        }
        disturb(for: 1_000_000)
        bootID = BootID(high: bootID.high + 1, low: 1)
        bootOffset = 3_000_000_000 &- clock
        let effect = state.restarting(in: bootID, at: now)
        demandLog = []
        applied(effect, by: nil)
        demandLog = []
    }
}

/// The kinds of faults that are injected.
package enum Fault: String, CaseIterable, Sendable {
    case kills, killsBeforeCommit = "kills before a commit", killsAfterCommit = "kills after a commit"
    case freezes, freezesAfterCommit = "freezes after a commit"
    case coreFailures = "failures of connected cores", failingCores = "failures of young cores"
    case trouble = "stores in trouble", sleeps = "sleeps of the machine", reboots
    case lostWakeUps = "lost wake-ups", doubledWakeUps = "doubled wake-ups", staleWakeUps = "stale wake-ups"
    case slowSteps = "slow steps", lostAnswers = "lost answers", silentDeaths = "silent deaths"
    case doubledDeliveries = "doubled deliveries", stubbornCores = "stubborn cores"
    case criticalSections = "critical sections", forbiddenKills = "forbidden kills"
    case lastMoments = "answers at the last moment", reusedNumbers = "reused numbers of processes"
    case returnedMessages = "returned messages", activities, insistence = "Mains that insist"
    case rests = "rests of Mains"
    case calls = "calls of cores", lostCalls = "calls ended as lost", commands = "commands for calls",
        executedCommands = "commands carried out", changesOfMoves =
        "calls that begin or cease to move",
        batons = "batons given"
    case appliedBatons = "batons applied", refusedBatons = "batons refused"
    case endlessActivities = "activities that never end"
}
