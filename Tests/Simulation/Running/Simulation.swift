internal import Coordination
internal import CoreAPI
internal import Mailboxes
internal import StoreEngine

/// A group of participants over one store, in simulated time.
///
/// The machines, the rules of the inbox and the store's state are the real ones; only the shell around them, the cores,
/// the server and the system are simulated. Nothing in it waits, sleeps or runs in parallel, so a schedule replays
/// exactly.
package struct Simulation {
    package let schedule: Schedule
    let mutant: Mutant?
    /// Which transitions were taken.
    package var coverage = Coverage()
    /// What happened, for people.
    let narrative: Narrative

    var state = StoreState(historyByteCount: 1 << 10)
    var queue = EventQueue()
    /// How long the machine has been awake since the beginning, in nanoseconds.
    var clock: UInt64 = 0
    /// What the machine's own clock has beyond that.
    var bootOffset: UInt64 = 1_000_000_000
    var bootID = BootID(high: 1, low: 1)
    /// When the faults end.
    let quietFrom: UInt64
    /// What chance decides for nobody in particular.
    var random: SeededRandom

    /// The times and choices that the machines have, and those that the judge holds them to.
    var rules = OwnershipRules()
    let promised: OwnershipRules
    let inbox: Inbox
    var members: [Member] = []
    var calls: [Call] = []
    var cores: [SimulatedCore] = []
    var messages: [ServerMessage] = []
    var messageNumbers: [ItemName: Int] = [:]

    /// What stands under the keys of ownership.
    var present = OwnershipView()
    /// What watches of the demand deliver.
    var demandLog: [ChangeSet] = []

    var ledger = OwnershipLedger()
    var lastEpoch = Revision.zero
    var tenure: PreviousOwnership?
    /// The epochs that were superseded or given up: their cores may run on.
    var superseded: Set<Revision> = []
    /// How long the owner has had since each request for hand-over, with the bound of its critical section.
    var granted: [Revision: Duration] = [:]
    /// When the activities of the owner changed last, and when they were over.
    var activitiesChangedAt: UInt64 = 0
    var idleSince: [Revision: UInt64] = [:]
    /// When a request for hand-over was over last.
    var requestOverAt: UInt64 = 0
    /// Until when what is promised without faults is not promised.
    var disturbedUntil: UInt64 = 0
    /// What the history of all members comes to.
    package internal(set) var history: UInt64 = 0xcbf2_9ce4_8422_2325
    /// How often each kind of fault happened.
    package internal(set) var faults: [Fault: Int] = [:]
    package internal(set) var eventCount = 0

    package init(_ schedule: Schedule, damagedBy mutant: Mutant? = nil, isTold: Bool = false) {
        self.schedule = schedule
        self.mutant = mutant
        self.narrative = Narrative(isTold: isTold)
        self.random = SeededRandom(seed: schedule.seed &* 0x2545_f491_4f6c_dd1d)
        self.quietFrom = UInt64(schedule.quietFrom) * 1000
        self.inbox = Self.inbox
        rules.onHandoverTimeout = schedule.onHandoverTimeout
        rules.stopTimeout = .seconds(2)
        promised = rules
        mutant?.changeRules?(&rules)
        for (number, plan) in schedule.members.enumerated() { members.append(member(number, plan)) }
        for (number, kind) in schedule.messages.enumerated() { add(kind, number) }
        for (number, incident) in schedule.incidents.enumerated() {
            queue.insert(.incident(number), at: UInt64(incident.at) * 1000)
        }
    }

    private static let inbox: Inbox = {
        do {
            return try Inbox(StoreOnPaper())
        } catch {
            fatalError("The path and the options of the inbox are constants that are accepted: \(error)")
        }
    }()

    /// The machine's clock.
    var now: BootInstant { BootInstant(nanoseconds: clock &+ bootOffset) }
    /// Whether no more faults happen.
    var isQuiet: Bool { clock >= quietFrom }

    /// Runs to the end: until everybody has what it wants after the faults have ended, or a rule is broken.
    package mutating func run() {
        let limit = quietFrom + UInt64(Schedule.patience) * 1000
        // What the schedule still brings has to have come.
        let last = UInt64(schedule.incidents.last?.at ?? 0) * 1000
        var nextLook = max(quietFrom, last) + 1
        while narrative.violation == nil, let next = queue.next {
            if next > nextLook {
                guard let unmet = unmetWant() else { return }
                if next > limit {
                    clock = limit
                    return broke(unmet)
                }
                nextLook = next + 100_000_000
            }
            clock = max(clock, next)
            guard let event = queue.removeFirst() else { return }
            eventCount += 1
            happen(event)
        }
        // Nothing happens any more: what is wanted now never comes.
        if narrative.violation == nil, let unmet = unmetWant() { broke(unmet) }
    }

    mutating func schedule(_ event: Event, after microseconds: Int) {
        queue.insert(event, at: clock + UInt64(microseconds) * 1000)
    }

    /// How long a step of a member takes.
    mutating func stepTime(of number: Int) -> Int {
        if !isQuiet, members[number].random.once(in: schedule.weather.slowSteps) {
            count(.slowSteps)
            return members[number].random.time(5..<60)
        }
        return members[number].random.number(20..<900)
    }

    /// Whether something that goes wrong by itself does now.
    mutating func goesWrong(_ rate: Int, for number: Int, _ fault: Fault) -> Bool {
        guard rate > 0, !isQuiet, members[number].random.once(in: rate) else { return false }
        count(fault)
        return true
    }

    mutating func count(_ fault: Fault) {
        faults[fault, default: 0] += 1
    }

    mutating func disturb(for microseconds: Int) {
        disturbedUntil = max(disturbedUntil, clock + UInt64(microseconds) * 1000)
    }
}
