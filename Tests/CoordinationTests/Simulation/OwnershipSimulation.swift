import CoreAPI
import CoreAPITesting
import StoreEngine
import TestSupport

@testable import Coordination

/// A group of participants' machines over one store, in simulated time: deaths, freezes, lost wake-ups, slow cores and
/// every order of events that a seed gives. Nothing in it waits, sleeps or runs in parallel, so a seed replays exactly.
struct OwnershipSimulation {
    /// One thing that happens.
    enum Event {
        case step(Int)
        case carryOut(Int, Directive)
        case deliver(Int)
        case coreStarted(Int, Revision)
        case coreStopped(Int, Revision)
        case enterCritical(Int)
        case leaveCritical(Int)
        case wish(Int)
        case kill(Int)
        case freeze(Int)
        case notice(Int)
        case judgeFenced(Int, Revision)
    }

    /// One participant.
    struct Member {
        let session: SessionID
        let role: SessionRole
        let process: ProcessIdentity
        var machine: OwnershipMachine
        var isDead = false
        /// Since when it has been able to run without a break.
        var runsSince: BootInstant
        var frozenUntil: BootInstant?
        /// Whether a directive of its is on its way.
        var isBusy = false
        /// Whether a wake-up of its was lost since it last looked.
        var missedNews = false
        /// The epochs of its cores that run, and whether each was told to stop.
        var cores: [Revision: Bool] = [:]
    }

    let rules: OwnershipRules
    /// Damages what a machine wants, to see that the damage is noticed.
    let mutation: (Directive) -> Directive?

    var random: SplitMix64
    var state = StoreState()
    var now = BootInstant(nanoseconds: 1_000_000_000)
    var members: [Member] = []
    var violations: [String] = []
    var acquisitions = 0
    var takeOvers = 0
    var kills = 0

    private var queue: [(at: BootInstant, number: UInt64, event: Event)] = []
    private var lastNumber: UInt64 = 0
    var ledger = OwnershipLedger()
    var lastEpoch = Revision.zero
    private var tenure: (epoch: Revision, isReleased: Bool)?
    /// The epochs that were superseded or given up: their cores may run on.
    var superseded: Set<Revision> = []
    /// Whether no more faults happen.
    private var isQuiet = false

    init(seed: Seed, mains: Int, executors: Int, mutation: @escaping (Directive) -> Directive? = { $0 }) {
        random = SplitMix64(seed)
        self.mutation = mutation
        var rules = OwnershipRules()
        rules.onDeadline = random.once(in: 3) ? .fence : .kill
        rules.stopBound = .seconds(2)
        self.rules = rules
        for _ in 0..<mains { join(.main) }
        for _ in 0..<executors { join(.executor) }
    }

    // MARK: - Running

    /// Lets things happen for a while, then lets the faults end and waits until everybody must have what it wants.
    mutating func run(for busy: Duration, thenQuietlyFor quiet: Duration) {
        let end = now.advanced(by: busy)
        drain(until: end)
        isQuiet = true
        for number in members.indices where members[number].machine.wish == .takeOver {
            members[number].machine.wish = .own
        }
        drain(until: end.advanced(by: quiet))
        judgeRest()
    }

    private mutating func drain(until end: BootInstant) {
        while violations.isEmpty, let next = queue.first, next.at <= end {
            queue.removeFirst()
            now = max(now, next.at)
            happen(next.event)
        }
        now = end
    }

    mutating func schedule(_ event: Event, after delay: Duration) {
        lastNumber += 1
        let item = (at: now.advanced(by: delay), number: lastNumber, event: event)
        var low = 0
        var high = queue.count
        while low < high {
            let middle = (low + high) / 2
            if (queue[middle].at, queue[middle].number) < (item.at, item.number) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        queue.insert(item, at: low)
    }

    private mutating func join(_ role: SessionRole) {
        let number = members.count
        let process = ProcessIdentity(
            bootID: BootID(high: 1, low: 1), pid: Int32(100 + number), startTime: UInt64(number))
        let opening = SessionOpening(
            process: process, description: SessionDescription(role: role, name: "\(role)-\(number)"))
        let effect = state.opening(opening, at: now)
        state.apply(effect)
        let session = SessionID(rawValue: effect.revision.rawValue)
        members.append(
            Member(
                session: session, role: role, process: process,
                machine: OwnershipMachine(
                    for: Participation(session: session, role: role, name: "\(role)-\(number)", process: process),
                    rules: rules, seed: random.next(), at: now),
                runsSince: now))
        look(number)
        schedule(.wish(number), after: milliseconds(0..<500))
        if random.once(in: 3) { schedule(.freeze(number), after: milliseconds(0..<8000)) }
        if random.once(in: 4) { schedule(.kill(number), after: milliseconds(0..<8000)) }
        schedule(.step(number), after: .zero)
    }

    mutating func milliseconds(_ range: Range<Int>) -> Duration {
        .microseconds(Int.random(in: range.lowerBound * 1000..<range.upperBound * 1000, using: &random))
    }

    // MARK: - Events

    private mutating func happen(_ event: Event) {
        guard let number = member(of: event) else { return }
        if case .notice = event {
            bury(number)
            return
        }
        guard !members[number].isDead else { return }
        if let until = members[number].frozenUntil {
            guard until <= now else {
                schedule(event, after: now.duration(to: until))
                return
            }
            members[number].frozenUntil = nil
            members[number].runsSince = now
        }
        switch event {
        case .step: step(number)
        case .carryOut(_, let directive): carryOut(directive, of: number)
        case .deliver:
            look(number)
            step(number)
        case .coreStarted(_, let epoch):
            members[number].machine.coreStarted(epoch)
            if members[number].role == .executor, random.once(in: 3) {
                schedule(.enterCritical(number), after: milliseconds(0..<100))
            }
            if !isQuiet, random.once(in: 8) { schedule(.coreStopped(number, epoch), after: milliseconds(0..<1000)) }
            step(number)
        case .coreStopped(_, let epoch):
            guard members[number].cores[epoch] != nil else { return }
            let problem = members[number].cores[epoch] == true ? nil : "it ended by itself"
            if isQuiet, problem != nil { return }
            members[number].cores[epoch] = nil
            members[number].machine.coreEnded(epoch, problem: problem)
            if problem != nil, members[number].role == .main {
                members[number].machine.wish = .nothing(because: "its core ended")
            }
            step(number)
        case .enterCritical: enterCritical(number)
        case .leaveCritical: leaveCritical(number)
        case .wish: changeWish(number)
        case .kill: kill(number)
        case .freeze: freeze(number)
        case .judgeFenced(_, let epoch): judgeFenced(number, epoch)
        case .notice: break
        }
    }

    private func member(of event: Event) -> Int? {
        switch event {
        case .step(let number), .carryOut(let number, _), .deliver(let number), .coreStarted(let number, _),
            .coreStopped(let number, _), .enterCritical(let number), .leaveCritical(let number), .wish(let number),
            .kill(let number), .freeze(let number), .notice(let number), .judgeFenced(let number, _):
            number
        }
    }

    private mutating func step(_ number: Int) {
        guard !members[number].isBusy else { return }
        let directive = members[number].machine.step(at: now)
        if let loss = members[number].machine.takeLoss(), loss.successor?.record.role == .main {
            // A Main gives way to another one, as it does outside of the simulation.
            if members[number].role == .main { members[number].machine.wish = .nothing(because: "superseded") }
        }
        if members[number].machine.refusal != nil {
            judgeRefusal(of: number)
            members[number].machine.wish = .nothing(because: "refused")
            members[number].machine.refusal = nil
            schedule(.wish(number), after: milliseconds(0..<3000))
            schedule(.step(number), after: .zero)
            return
        }
        guard let directive else {
            let delay = now.duration(to: members[number].machine.nextStep)
            schedule(.step(number), after: delay + .microseconds(50))
            return
        }
        guard let changed = mutation(directive) else {
            schedule(.step(number), after: .milliseconds(5))
            return
        }
        members[number].isBusy = true
        let delay = random.once(in: 20) ? milliseconds(0..<40) : milliseconds(0..<1)
        schedule(.carryOut(number, changed), after: delay)
    }

    private mutating func changeWish(_ number: Int) {
        let machine = members[number].machine
        if machine.wish.wantsOwnership, !isQuiet {
            members[number].machine.wish = .nothing(because: "it has what it wanted")
            schedule(.wish(number), after: milliseconds(0..<3000))
        } else if !machine.wish.wantsOwnership {
            let isBold = !isQuiet && random.once(in: 4)
            members[number].machine.wish =
                members[number].role == .main ? (isBold ? .takeOver : .own) : (isBold ? .insist : .own)
            if !isQuiet { schedule(.wish(number), after: milliseconds(0..<4000)) }
        }
        step(number)
    }

    private mutating func freeze(_ number: Int) {
        guard !isQuiet else { return }
        members[number].frozenUntil = now.advanced(by: milliseconds(50..<3000))
        schedule(.freeze(number), after: milliseconds(3000..<8000))
    }

    private mutating func kill(_ number: Int) {
        guard !isQuiet else { return }
        die(number)
    }

    private mutating func die(_ number: Int) {
        members[number].isDead = true
        members[number].cores = [:]
        // The system may tell at once, later, or only whoever asks.
        if !random.once(in: 4) { schedule(.notice(number), after: milliseconds(0..<2)) }
    }

    /// Ends the session of a dead member.
    private mutating func bury(_ number: Int) {
        guard let effect = state.ending(members[number].session, at: now) else { return }
        let before = owner
        state.apply(effect)
        if before != nil, owner == nil { tell(besides: number) }
    }

    private mutating func enterCritical(_ number: Int) {
        guard let holding = members[number].machine.holding, members[number].cores[holding.epoch] == false else {
            return
        }
        var transaction = Transaction()
        transaction.require(.epoch(OwnershipKey.owner, holding.epoch))
        transaction.require(.absent(OwnershipKey.handover))
        transaction.require(.absent(OwnershipKey.critical))
        let bound = milliseconds(0..<1000)
        transaction.put(
            OwnershipKey.critical, CriticalRecord(epoch: holding.epoch, bound: bound).bytes, lifetime: .session)
        if commit(transaction, of: number, telling: []) != nil {
            schedule(.leaveCritical(number), after: milliseconds(0..<1500))
        }
    }

    private mutating func leaveCritical(_ number: Int) {
        guard let holding = members[number].machine.holding else { return }
        var transaction = Transaction(guards: [.epoch(OwnershipKey.owner, holding.epoch)])
        transaction.delete(OwnershipKey.critical)
        _ = commit(transaction, of: number, telling: [])
    }

    // MARK: - Directives

    private mutating func carryOut(_ directive: Directive, of number: Int) {
        members[number].isBusy = false
        switch directive {
        case .look:
            break
        case .bury:
            for dead in members.indices where members[dead].isDead { bury(dead) }
        case .commit(let transition):
            if commit(transition.transaction, of: number, telling: transition.stories) == nil {
                members[number].machine.refused(at: now)
            }
        case .startCore(let epoch):
            startCore(epoch, of: number)
        case .stopCore(let epoch):
            if members[number].cores[epoch] != nil { members[number].cores[epoch] = true }
            let delay = !isQuiet && random.once(in: 15) ? Duration.seconds(10) : milliseconds(0..<100)
            schedule(.coreStopped(number, epoch), after: delay)
        case .examine(let process, let claim):
            // Most cannot be seen, as in another namespace, so that most take-overs race with an answer.
            let holder = random.once(in: 4) ? members.first { $0.process == process } : nil
            let isStopped = holder.map { holder in holder.frozenUntil.map { $0 > now } ?? false }
            members[number].machine.examined(claim, isStopped: isStopped)
        case .kill(let process, let epoch):
            kill(process, epoch, by: number)
        }
        look(number)
        step(number)
    }

    private mutating func startCore(_ epoch: Revision, of number: Int) {
        let transaction = Transaction(guards: [.epoch(OwnershipKey.owner, epoch)])
        guard commit(transaction, of: number, telling: [Story(kind: .coreStarted, epoch: epoch, reason: "")]) != nil
        else {
            members[number].machine.coreEnded(epoch, problem: "superseded before its start")
            return
        }
        judgeCoreStart(of: epoch)
        members[number].cores[epoch] = false
        schedule(.coreStarted(number, epoch), after: milliseconds(0..<200))
    }

    private mutating func kill(_ process: ProcessIdentity, _ epoch: Revision, by number: Int) {
        kills += 1
        judgeKill(of: process, epoch, by: number)
        if random.once(in: 6) {
            members[number].machine.killEnded(epoch, impossible: "the test forbids it", at: now)
            return
        }
        for target in members.indices where members[target].process == process && !members[target].isDead {
            die(target)
        }
        members[number].machine.killEnded(epoch, impossible: nil, at: now)
    }

    private mutating func look(_ number: Int) {
        members[number].missedNews = false
        guard members[number].machine.view.revision < state.revision else { return }
        let keys = [
            OwnershipKey.owner, OwnershipKey.handover, OwnershipKey.critical, OwnershipKey.challenge,
            OwnershipKey.answer,
        ]
        let entries = keys.compactMap { key in try? state.entry(key)?.entry(for: key) }
        members[number].machine.view.apply(Snapshot(revision: state.revision, entries: entries))
    }

    private mutating func commit(_ transaction: Transaction, of number: Int, telling stories: [Story]) -> Revision? {
        let session = members[number].session
        // A transition that only tells something still takes a place in the order.
        var transaction = transaction
        if transaction.operations.isEmpty { transaction.put("told", []) }
        guard case .record(let effect, _) = try? state.decide(transaction, of: session, at: now) else { return nil }
        let before = View(of: state)
        state.apply(effect)
        let after = View(of: state)
        record(stories, of: number, at: effect.revision)
        judge(before, after, by: number, stories)
        if before != after { tell(besides: number) }
        return effect.revision
    }

    /// Wakes everybody else, but for those whose wake-up is lost.
    private mutating func tell(besides number: Int) {
        for other in members.indices where other != number && !members[other].isDead {
            if !isQuiet, random.once(in: 12) {
                members[other].missedNews = true
            } else {
                schedule(.deliver(other), after: milliseconds(0..<2))
            }
        }
    }

    /// Puts on the timeline what a commit tells, and has the checker judge it.
    private mutating func record(_ stories: [Story], of number: Int, at revision: Revision) {
        let member = members[number]
        let session = Session(
            id: member.session, process: member.process, role: member.role, name: "", openedAt: now)
        for story in stories {
            var previous = story.previous
            if story.kind == .acquired {
                previous = tenure.map {
                    PreviousOwnership(epoch: $0.epoch, end: $0.isReleased ? .released : .sessionEnded)
                }
            }
            switch story.kind {
            case .acquired, .tookOver: tenure = (revision, false)
            case .released: tenure = story.epoch.map { ($0, true) }
            case .coreGivenUp: if let epoch = story.epoch { superseded.insert(epoch) }
            default: break
            }
            let entry = TimelineEntry(
                story.kind, by: session, epoch: story.epoch, other: story.other, from: story.from, to: story.to,
                previous: previous, bound: story.bound, reason: story.reason, at: story.at ?? now,
                bootID: BootID(high: 1, low: 1))
            violations += ledger.apply(TimelineRecord(revision: revision, entry: entry)).map(\.description)
        }
    }
}
