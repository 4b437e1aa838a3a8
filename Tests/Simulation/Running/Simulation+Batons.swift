internal import Coordination
internal import CoreAPI
internal import StoreEngine

/// The batons with which calls move (C25): given, kept, fetched, applied or refused.
extension Simulation {
    static let batonKind = "sip-dialog/1"

    // MARK: - The core that gets one

    /// The first step of a core: it fetches the baton that was offered when its ownership was acquired.
    mutating func prepare(_ core: Int, of number: Int) {
        guard !cores[core].isEnding else { return }
        guard let standing = cores[core].offered, standing.record.state == .offered else {
            return endLostCalls(before: core, of: number)
        }
        let takes = members[number].plan.takesBatons || members[number].hasGiven
        guard takes else { return failBaton(standing, of: core, in: number, because: "its core takes no baton") }
        let giver = member(standing.session)
        let isKept = giver.map { members[$0].isAlive && members[$0].machine.given?.record == standing.record } ?? false
        let isFrozen = giver.map { members[$0].isFrozen(at: clock) } ?? false
        guard standing.record.deadline > now, standing.record.bootID == bootID,
            isKept && !isFrozen || schedule.faultProfile.keepsAtHost
        else {
            // A stopped keeper is asked for 500 ms.
            guard isKept, isFrozen, !cores[core].hasAsked else {
                return failBaton(standing, of: core, in: number, because: "no process keeps it")
            }
            cores[core].hasAsked = true
            return schedule(.core(core, .prepare), after: 500_000)
        }
        say("\(members[number].name)'s core has fetched the baton of epoch \(standing.record.epoch)")
        cores[core].gets = standing
        endLostCalls(before: core, of: number)
    }

    /// Applies the baton that a core has, or records that it cannot, while the core starts.
    mutating func useBaton(_ core: Int, of number: Int) {
        guard let standing = cores[core].gets, !cores[core].isEnding, cores[core].phase == .starting else { return }
        if !cores[core].isApplyUnclear, goesWrong(schedule.faultProfile.refusedBatons, for: number, .refusedBatons) {
            cores[core].gets = nil
            return failBaton(standing, of: core, in: number, because: "its core has not applied it")
        }
        // A core that must stop begins nothing.
        guard members[number].machine.core?.mayRun == true else { return cores[core].gets = nil }
        let epoch = cores[core].epoch
        let open = callKeys(of: standing.record).compactMap(openRecord)
        let applying = try? standing.applying(
            open, beside: OpenWork(present), under: epoch, reach: .machine, at: now, in: bootID)
        guard let applying else { return broke("C25: the calls of a baton have no room") }
        let timelineEvent = OwnershipEvent(
            kind: .batonApplied, epoch: epoch, other: standing.record.epoch, reason: standing.record.title)
        let verdict = commit(applying.guarded(by: epoch), of: number, for: .applying, telling: [timelineEvent])
        guard members[number].isAlive else { return }
        switch verdict {
        case .committed: goOn(with: open.map(\.entry.key), in: core, of: number)
        case .unknown:
            cores[core].isApplyUnclear = true
            schedule(.core(core, .useBaton), after: stepTime(of: number))
        case .refused(let failure):
            switch failure.condition.key {
            case OwnershipKey.owner: fenced(core)
            case OwnershipKey.baton:
                // Only this makes an older call belong to this ownership.
                let own = open.map(\.entry).filter { !$0.isOlder(than: epoch) }.map(\.key)
                guard !cores[core].isApplyUnclear || own.isEmpty else { return goOn(with: own, in: core, of: number) }
                cores[core].gets = nil
                guard members[number].random.once(in: 2) else { return fail(core, because: "its baton is over") }
                failBaton(standing, of: core, in: number, because: "its core has not applied it")
            default: schedule(.core(core, .useBaton), after: stepTime(of: number))
            }
        case .failed: fail(core, because: "it could not apply its baton")
        }
    }

    private mutating func goOn(with calls: [Key], in core: Int, of number: Int) {
        members[number].begun = present.revision
        cores[core].gets = nil
        for dialog in calls.compactMap({ dialogNumbers[$0] }) {
            cores[core].dialogs.insert(dialog)
            let left = dialogs[dialog].endsAt > clock ? Int((dialogs[dialog].endsAt - clock) / 1000) : 0
            schedule(.core(core, .endCall(dialog)), after: left)
            schedule(.core(core, .readCommands(dialog)), after: stepTime(of: number))
        }
        say("\(members[number].name)'s core goes on with \(calls.count) calls")
        hasStarted(core, of: number)
    }

    /// Records that a baton cannot be used, and ends its calls.
    private mutating func failBaton(
        _ standing: Standing<BatonRecord>, of core: Int, in number: Int, because reason: String
    ) {
        var transaction = Transaction(guards: [.revision(OwnershipKey.baton, standing.revision)])
        if member(standing.session).map({ members[$0].isBuried || !members[$0].isOpen }) ?? true {
            // The author of the baton removes it, unless the author is gone.
            transaction.delete(OwnershipKey.baton)
        } else {
            var record = standing.record
            record.state = .failed
            transaction.put(
                OwnershipKey.baton, record.bytes, lifetime: .expiring(after: Baton.lifetimes.upperBound))
        }
        let timelineEvent = OwnershipEvent(
            kind: .batonFailed, epoch: cores[core].epoch, other: standing.record.epoch, reason: reason)
        let verdict = commit(
            transaction.guarded(by: cores[core].epoch), of: number, for: .failingBaton, telling: [timelineEvent])
        guard members[number].isAlive else { return }
        switch verdict {
        case .committed: schedule(.core(core, .endLostCalls), after: stepTime(of: number))
        case .refused(let failure):
            if failure.condition.key == OwnershipKey.owner { return fenced(core) }
            // The author of the offer has removed the baton.
            schedule(.core(core, .endLostCalls), after: stepTime(of: number))
        case .failed, .unknown: failPreparing(core)
        }
    }

    /// Ends a core that could not write before it has started.
    mutating func failPreparing(_ core: Int) {
        guard cores[core].phase == .announced else { return fail(core, because: "the store failed") }
        cores[core].problem = "the store failed"
        endCore(core)
    }

    // MARK: - The core that gives one

    /// Disposes of the calls of a core that stops. The core gives them with a baton if it is asked for one; otherwise
    /// it ends or leaves them.
    mutating func partWithCalls(_ core: Int, of number: Int) {
        let isWell = cores[core].problem == nil && cores[core].wasToldToStop && cores[core].phase == .running
        guard isWell, let request = cores[core].request, request.takes.contains(Self.batonKind),
            !members[number].random.once(in: 8)
        else {
            guard cores[core].runs, members[number].random.once(in: 2) else { return }
            for dialog in cores[core].dialogs.sorted() { endCall(dialog, of: core, in: number) }
            return
        }
        let given = cores[core].dialogs.sorted().filter { dialogs[$0].moves && dialogs[$0].isOpen }
            .prefix(Baton.maximumCallCount)
        guard !given.isEmpty else { return }
        let epoch = cores[core].epoch
        let machine = members[number].machine
        let record = BatonRecord(
            epoch: epoch, kind: Self.batonKind, byteCount: 1, digest: [UInt8](repeating: 0, count: 32),
            descriptorCount: 1, calls: given.map { dialogs[$0].id.text }, bootID: bootID,
            deadline: now.advanced(by: schedule.batonLifetime), keepers: ["keeper"])
        guard machine.holding?.epoch == epoch, machine.holding?.isReleasing == false, machine.given == nil,
            machine.core?.epoch == epoch
        else { return hangUp(record, .refused, by: number) }
        say("\(members[number].name)'s core gives a baton with \(given.count) calls")
        count(.batons)
        members[number].machine.give(GivenBaton(record, lifetime: schedule.batonLifetime))
        members[number].hasGiven = true
    }

    /// Tells the core the outcome of its baton, once it is known.
    mutating func hearOfBaton(_ number: Int) {
        guard let given = members[number].machine.given, case .over(let end) = given.phase,
            !members[number].hearsOfBaton
        else { return }
        say("\(members[number].name)'s core hears that its baton is over: \(end)")
        members[number].hearsOfBaton = true
        hangUp(given.record, end, by: number)
        schedule(.batonEnded(number), after: members[number].random.time(0..<50))
    }

    /// The core has dealt with the end of its baton.
    mutating func forgetBaton(_ number: Int) {
        members[number].machine.given = nil
        members[number].hearsOfBaton = false
        proceed(number)
    }

    /// A core ends the calls of its baton over the network if they are its own.
    private mutating func hangUp(_ record: BatonRecord, _ end: BatonEnd, by number: Int) {
        judgeEnd(of: record, end, by: number)
        guard end.isOwn else { return }
        for key in callKeys(of: record) {
            if let dialog = dialogNumbers[key] { dialogs[dialog].isHungUp = true }
        }
    }
}
