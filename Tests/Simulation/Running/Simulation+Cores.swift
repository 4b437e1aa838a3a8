internal import Coordination
internal import CoreAPI
internal import StoreEngine

/// The members' cores.
extension Simulation {
    func core(of epoch: Revision, in number: Int) -> Int? {
        members[number].cores.first { cores[$0].epoch == epoch }
    }

    mutating func startCore(_ epoch: Revision, of number: Int) {
        members[number].demandPolicy.coreBegins(at: now)
        cores.append(SimulatedCore(member: number, epoch: epoch))
        let core = cores.count - 1
        members[number].cores.append(core)
        cores[core].offered = members[number].machine.view.baton
        let isFirst = dialogs.isEmpty && cores[core].offered == nil
        schedule(.core(core, isFirst ? .announce : .prepare), after: stepTime(of: number))
        if members[number].demandPolicy.policy != nil { schedule(.followDemand(number), after: stepTime(of: number)) }
    }

    mutating func stopCore(_ epoch: Revision, of number: Int) {
        guard let core = core(of: epoch, in: number) else { return }
        let request = members[number].machine.core?.request
        judgeRequest(mutant?.tellsNoReason == true ? nil : request, to: core)
        cores[core].wasToldToStop = true
        cores[core].request = request
        endCore(core)
    }

    /// Makes a core stop, which takes some time.
    mutating func endCore(_ core: Int) {
        guard !cores[core].isEnding else { return }
        cores[core].isEnding = true
        cores[core].endsSince = now
        let number = cores[core].member
        // A core that has run nothing yet ends before it starts.
        guard cores[core].runs else { return schedule(.core(core, .stopped), after: stepTime(of: number)) }
        let isStubborn = goesWrong(schedule.faultProfile.stubbornCores, for: number, .stubbornCores)
        if isStubborn { disturb(for: 3_000_000) }
        schedule(.core(core, .stopped), after: members[number].random.time(isStubborn ? 2500..<9000 : 0..<100))
    }

    mutating func happen(_ event: Event.CoreEvent, to core: Int) {
        guard case let number = cores[core].member, cores[core].phase != .over else { return }
        if cores[core].isQuiet {
            switch event {
            // Not the core's code notices these.
            case .receive: return wakeForData(core, of: number)
            case .failed: return cores[core].problem = "it lost its connection"
            case .stopped, .leaveCritical, .endActivity, .endCall: break
            default: return
            }
        }
        switch event {
        case .announce: announce(core, of: number)
        case .started: started(core, of: number)
        case .failed: fail(core, because: "it lost its connection")
        case .stopped: stopped(core, of: number)
        case .quiet: becomeQuiet(core, of: number)
        case .enterCritical: enterCritical(core, of: number)
        case .leaveCritical:
            _ = commit(CriticalRecord.leaving(cores[core].epoch), of: number, for: .leavingCritical)
        case .beginActivity: beginActivity(core, of: number)
        case .endActivity(let id): endActivity(id, of: core, in: number)
        case .beginCall: beginCall(core, of: number)
        case .endCall(let dialog): endCall(dialog, of: core, in: number)
        case .readMoves(let dialog): readMoves(of: dialog, by: core, in: number)
        case .commitMoves(let dialog, let transaction): commitMoves(transaction, of: dialog, by: core, in: number)
        case .readCommands(let dialog): readCommands(for: dialog, by: core, in: number)
        case .takeCommand(let order, let transaction): takeCommand(order, by: transaction, for: core, of: number)
        case .finishCommand(let order, let taken): finishCommand(order, taken: taken, by: core, of: number)
        case .prepare: prepare(core, of: number)
        case .endLostCalls: endLostCalls(before: core, of: number)
        case .useBaton: useBaton(core, of: number)
        case .receive(let message): receive(message, in: core)
        case .acknowledge(let message): acknowledge(message, by: core)
        }
    }

    /// Commits the first entry of a core, before any of its code runs.
    private mutating func announce(_ core: Int, of number: Int) {
        guard !cores[core].isEnding else { return }
        let epoch = cores[core].epoch
        switch commit(Transaction().guarded(by: epoch), of: number, for: .announcing(epoch)) {
        case .committed: break
        case .refused:
            // The ownership is over: the next check notices that.
            endCore(core)
            return setAlarm(of: number, to: clock + 1000)
        case .failed, .unknown:
            guard members[number].isAlive else { return }
            cores[core].problem = "the store failed"
            return endCore(core)
        }
        guard cores[core].phase == .announced else { return }
        record([OwnershipEvent(kind: .coreStarted, epoch: epoch, reason: "")], of: number, at: state.revision)
        judgeStart(of: core)
        cores[core].runs = true
        cores[core].startedAt = clock
        cores[core].phase = .starting
        if goesWrong(schedule.faultProfile.failingCores, for: number, .failingCores) {
            schedule(.core(core, .failed), after: members[number].random.time(1..<1500))
        }
        var start = members[number].random.time(1..<200)
        if let gets = cores[core].gets, members[number].random.once(in: 3) {
            // Some cores receive their batons at the very moment at which the batons' time is over.
            let left = Int(now.duration(to: gets.record.deadline).clampedNanoseconds / 1000)
            let isLast = left < 3_000_000 && members[number].random.once(in: 2)
            start = isLast ? left + members[number].random.time(0..<2) : members[number].random.time(200..<1500)
        }
        schedule(.core(core, .started), after: start)
    }

    private mutating func started(_ core: Int, of number: Int) {
        guard !cores[core].isEnding, cores[core].phase == .starting else { return }
        guard cores[core].gets == nil else { return useBaton(core, of: number) }
        hasStarted(core, of: number)
    }

    /// The start of a core has returned, and it has no baton.
    mutating func hasStarted(_ core: Int, of number: Int) {
        guard !cores[core].isEnding, cores[core].phase == .starting else { return }
        cores[core].phase = .running
        let before = CorePhase(members[number].machine.core)
        members[number].machine.coreStarted(cores[core].epoch)
        took(.core, before.rawValue, CorePhase(members[number].machine.core).rawValue, by: number)
        members[number].demandPolicy.coreStarted(at: now)
        say("\(members[number].name)'s core is connected")
        for message in messages.indices where messages[message].isHeld { send(message, to: core) }
        if members[number].random.once(in: schedule.faultProfile.criticalSections) {
            schedule(.core(core, .enterCritical), after: members[number].random.time(0..<100))
        }
        if goesWrong(schedule.faultProfile.activities, for: number, .activities) {
            schedule(.core(core, .beginActivity), after: members[number].random.time(0..<300))
        }
        if schedule.faultProfile.calls > 0, !isQuiet, members[number].random.once(in: schedule.faultProfile.calls) {
            schedule(.core(core, .beginCall), after: members[number].random.time(0..<300))
        }
        proceed(number)
    }

    /// Makes the running core of a member fail.
    mutating func failCore(of number: Int) {
        guard !isQuiet, let core = members[number].cores.last, cores[core].runs else { return }
        count(.coreFailures)
        guard !cores[core].isQuiet else { return cores[core].problem = "its server hung up" }
        fail(core, because: "its server hung up")
    }

    mutating func fail(_ core: Int, because problem: String) {
        guard !cores[core].isEnding else { return }
        let number = cores[core].member
        say("\(members[number].name)'s core fails: \(problem)")
        cores[core].problem = problem
        take(problem, of: cores[core].epoch, in: number)
        let before = CorePhase(members[number].machine.core)
        members[number].machine.coreFailed(cores[core].epoch, problem: problem, at: now)
        took(.core, before.rawValue, CorePhase(members[number].machine.core).rawValue, by: number)
        endCore(core)
        proceed(number)
    }

    private mutating func take(_ problem: String, of epoch: Revision, in number: Int) {
        guard let rest = members[number].demandPolicy.coreFailed(problem, of: epoch, at: now) else { return }
        members[number].machine.rest = rest
        disturb(for: Int(rest.length.clampedNanoseconds / 1000) + 1_000_000)
    }

    private mutating func stopped(_ core: Int, of number: Int) {
        if members[number].isAlive {
            partWithCalls(core, of: number)
            // The core's process may have died at one of its commits.
            guard cores[core].phase != .over else { return }
        }
        cores[core].phase = .over
        cores[core].runs = false
        members[number].cores.removeAll { $0 == core }
        let problem = cores[core].wasToldToStop ? nil : cores[core].problem
        let before = CorePhase(members[number].machine.core)
        if let problem, members[number].isAlive { take(problem, of: cores[core].epoch, in: number) }
        members[number].machine.coreEnded(cores[core].epoch, problem: problem)
        took(.core, before.rawValue, CorePhase(members[number].machine.core).rawValue, by: number)
        proceed(number)
    }

    /// Handles a write that has shown that the ownership is over: the core ends, and its member reads the records.
    mutating func fenced(_ core: Int) {
        endCore(core)
        let number = cores[core].member
        catchUp(number)
        setAlarm(of: number, to: clock + 1000)
    }

    // MARK: - Critical sections

    private mutating func enterCritical(_ core: Int, of number: Int) {
        guard cores[core].phase == .running, !cores[core].isEnding else { return }
        let bound = members[number].random.time(50..<1500)
        let transaction = CriticalRecord.entering(cores[core].epoch, bound: .microseconds(bound))
        guard case .committed = commit(transaction, of: number, for: .enteringCritical) else { return }
        say("\(members[number].name)'s core enters a critical section of at most \(bound / 1000) ms")
        count(.criticalSections)
        schedule(.core(core, .leaveCritical), after: members[number].random.time(0..<1800))
    }

    // MARK: - Activities

    /// Begins an activity of some kind. Kinds with bounds of hours or minutes end within seconds; kinds with bounds of
    /// seconds may exceed them.
    private mutating func beginActivity(_ core: Int, of number: Int) {
        // A stopping core begins no activity.
        guard cores[core].phase == .running, !cores[core].isEnding, members[number].machine.core?.mayRun == true
        else { return }
        let kinds: [Activity.Kind] = [
            .call, .transfer, .custom("work", bound: .microseconds(members[number].random.time(200..<4000))),
        ]
        let kind = kinds[min(members[number].random.number(0..<8), 2)]
        let id = cores[core].activities.count
        let activity = Activity(kind, id: "\(id)", begun: now)
        let transaction = OpenWork(present).beginning(activity, under: cores[core].epoch)
        let verdict = commit(transaction, of: number, for: .beginning)
        guard members[number].isAlive else { return }
        switch verdict {
        // A begin without an answer is repeated, and returns the open activity.
        case .committed, .unknown: members[number].begun = present.revision
        case .refused(let failure):
            if failure.condition.key == OwnershipKey.owner { fenced(core) }
            return
        case .failed: return
        }
        say("\(members[number].name)'s core begins \(activity.describe()), of \(kind.bound) at most")
        cores[core].activities.append(activity)
        wake(number)
        let isEndless =
            schedule.faultProfile.calls > 0 && kind != .call && kind != .transfer
            && members[number].random.once(in: 3)
        if isEndless {
            count(.endlessActivities)
        } else {
            schedule(.core(core, .endActivity(id)), after: members[number].random.time(0..<5000))
        }
        if id < 3, members[number].random.once(in: 2) {
            schedule(.core(core, .beginActivity), after: members[number].random.time(0..<2000))
        }
    }

    private mutating func endActivity(_ id: Int, of core: Int, in number: Int) {
        let activity = cores[core].activities[id]
        guard let transaction = OpenWork(present).ending(activity, under: cores[core].epoch) else { return }
        let verdict = commit(transaction, of: number, for: .ending)
        guard members[number].isAlive else { return }
        switch verdict {
        case .committed, .unknown:
            say("\(members[number].name)'s core ends \(activity.describe())")
            wake(number)
        case .refused: fenced(core)
        case .failed: schedule(.core(core, .endActivity(id)), after: 100_000)
        }
    }
}
