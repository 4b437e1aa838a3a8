internal import Coordination
internal import CoreAPI

/// Dispatches events to members, if they can happen now.
extension Simulation {
    mutating func happen(_ event: Event) {
        switch event {
        case .incident(let number): return happen(schedule.incidents[number], as: event)
        case .bury(let number): return bury(number)
        case .goOn(let number): return goOn(number)
        case .judge(let judgement): return judge(judgement)
        default: break
        }
        guard let number = member(of: event), members[number].isAlive || isEnding(event) else { return }
        guard !members[number].isDead, !isStopped(number, until: event) else { return }
        switch event {
        case .alarm(_, let time):
            guard members[number].alarm == time else { return }
            members[number].alarm = .max
            proceed(number)
        case .carryOut: carryOut(number)
        case .news:
            members[number].isToldSoon = false
            catchUp(number)
            proceed(number)
        case .staleNews: hearStaleNews(number)
        case .followDemand: followDemand(number)
        case .startAgain: startAgain(number)
        case .batonEnded: forgetBaton(number)
        case .call(let call): proceed(withCall: call)
        case .callAlarm(let call, let time):
            guard calls[call].alarm == time, case .waiting = calls[call].phase else {
                if case .owning = calls[call].phase, calls[call].alarm == time { end(call) }
                return
            }
            calls[call].phase = .looking
            proceed(withCall: call)
        case .order(let order, let step): happen(step, to: order)
        case .core(let core, let what): happen(what, to: core)
        case .incident, .bury, .goOn, .judge: break
        }
    }

    private func member(of event: Event) -> Int? {
        switch event {
        case .alarm(let number, _), .carryOut(let number), .news(let number), .staleNews(let number),
            .followDemand(let number), .startAgain(let number), .batonEnded(let number):
            number
        case .call(let call), .callAlarm(let call, _): calls[call].member
        case .order(let order, _): orders[order].sender
        case .core(let core, _): cores[core].member
        case .incident, .bury, .goOn, .judge: nil
        }
    }

    /// An abandoned core may outlive its participant, as long as the process lives.
    private func isEnding(_ event: Event) -> Bool {
        if case .core(_, .stopped) = event { true } else { false }
    }

    /// Returns whether a member's process is stopped; the event is deferred until it runs again.
    private mutating func isStopped(_ number: Int, until event: Event) -> Bool {
        guard members[number].isFrozen(at: clock) else { return false }
        members[number].deferred.append(event)
        return true
    }

    /// Resumes a stopped member.
    mutating func goOn(_ number: Int) {
        guard let until = members[number].frozenUntil, until <= clock else { return }
        members[number].frozenUntil = nil
        members[number].runsSince = clock
        if members[number].isAlive { say("\(members[number].name) runs again") }
        for event in members[number].deferred { queue.insert(event, at: clock) }
        members[number].deferred = []
    }

    // MARK: - Incidents

    private mutating func happen(_ incident: Incident, as event: Event) {
        if let number = incident.member, members[number].isAlive, isStopped(number, until: event) { return }
        switch incident.kind {
        case .open(let number):
            // A participant in a stopped process begins when the process is resumed.
            let process = members[number].plan.process
            if let host = members.first(where: { $0.isAlive && $0.plan.process == process })?.number,
                isStopped(host, until: event)
            {
                return
            }
            open(number)
        case .start(let number, let takingOver, let insisting):
            start(number, takingOver: takingOver, insisting: insisting)
        case .rest(let number): rest(number)
        case .resume(let number): resume(number)
        case .close(let number): close(number)
        case .push(let number, let message, let deadline, let insists):
            push(number, for: message, within: deadline, insisting: insists)
        case .arrive(let message): arrive(message)
        case .failCore(let number): failCore(of: number)
        case .kill(let process):
            guard !isQuiet, members.contains(where: { $0.isAlive && $0.plan.process == process }) else { return }
            count(.kills)
            kill(process)
        case .killAtCommit(let number, let skipping, let after):
            guard !isQuiet else { return }
            members[number].diesAtCommit = (skipping, after)
        case .freeze(let process, let duration): freeze(process, for: duration, .freezes)
        case .freezeAtCommit(let number, let skipping, let duration):
            guard !isQuiet else { return }
            members[number].freezesAtCommit = (skipping, duration)
        case .trouble(let number, let duration): trouble(number, for: duration)
        case .sleep(let duration): sleep(for: duration)
        case .reboot: reboot()
        }
    }

    private mutating func start(_ number: Int, takingOver: Bool, insisting: Bool) {
        guard members[number].isAlive, !members[number].demandPolicy.isClosing else { return }
        say(
            "\(members[number].name) is told to own" + (takingOver ? ", over another Main if need be" : "")
                + (insisting ? ", whatever the owner is busy with" : ""))
        if insisting { count(.insistence) }
        members[number].demandPolicy.start(
            takingOver: takingOver, insisting: insisting,
            isRunning: mutant?.startsAnew != true && isCoreRunning(in: number))
        members[number].machine.hasYielded = false
        members[number].isStarting = true
        if takingOver, insisting { watchOver(insisting: number) }
        proceed(number)
    }

    private mutating func close(_ number: Int) {
        guard members[number].isAlive else { return }
        say("\(members[number].name) is told to close")
        members[number].demandPolicy.isClosing = true
        disturb(for: 1_000_000)
        for call in members[number].calls { end(call) }
        proceed(number)
    }
}
