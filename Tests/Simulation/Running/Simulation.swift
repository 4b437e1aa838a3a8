internal import Coordination
internal import CoreAPI
internal import Mailboxes
internal import StoreEngine

/// A group of participants over one store, in simulated time.
///
/// The machines, the rules of the inbox and the store's state are the real ones; only the shell around them, the cores,
/// the server and the system are simulated. No code waits, sleeps or runs in parallel, so a schedule replays exactly.
package struct Simulation {
    package let schedule: Schedule
    let mutant: Mutant?
    /// The transitions taken.
    package var coverage = Coverage()
    /// The events as sentences.
    let narrative: Narrative

    var state = StoreState(historyByteCount: 1 << 10)
    var queue = EventQueue()
    /// How long the machine has been awake since the beginning, in nanoseconds.
    var clock: UInt64 = 0
    /// The offset of the machine's own clock from that.
    var bootOffset: UInt64 = 1_000_000_000
    var bootID = BootID(high: 1, low: 1)
    /// When the faults end.
    let quietFrom: UInt64
    /// The random source for choices that belong to no member.
    var random: SeededRandom

    /// The rules of the machines, and those by which they are validated.
    var rules = OwnershipRules()
    let promised: OwnershipRules
    let inbox: Inbox
    var members: [Member] = []
    var calls: [Call] = []
    var cores: [SimulatedCore] = []
    /// The calls of the cores with their networks.
    var dialogs: [Dialog] = []
    var dialogNumbers: [Key: Int] = [:]
    var orders: [Order] = []
    var orderNumbers: [Key: Int] = [:]
    var messages: [ServerMessage] = []
    var messageNumbers: [ItemName: Int] = [:]

    /// The entries of the ownership keys.
    var present = OwnershipView()
    /// The changes that watches of the demand deliver.
    var demandLog: [ChangeSet] = []

    var ledger = OwnershipLedger()
    var lastEpoch = Revision.zero
    var tenure: PreviousOwnership?
    /// The superseded or abandoned epochs: their cores may still run.
    var superseded: Set<Revision> = []
    /// The time granted to the owner for each request for hand-over, with the bound of its critical section.
    var granted: [Revision: Duration] = [:]
    /// When the activities of the owner last changed, and when they ended.
    var activitiesChangedAt: UInt64 = 0
    var idleSince: [Revision: UInt64] = [:]
    /// When a call of an epoch last began or ceased to move, while a request waited for another activity.
    var heldUpAnew: [Revision: UInt64] = [:]
    /// The epochs of the batons that were applied.
    var appliedBatons: Set<Revision> = []
    /// When an ownership was last released.
    var ownerGoneAt: UInt64 = 0
    /// When a request for hand-over last ended.
    var requestOverAt: UInt64 = 0
    /// Until when promises for runs without faults do not apply.
    var disturbedUntil: UInt64 = 0
    /// A hash of all members' history.
    package internal(set) var history: UInt64 = 0xcbf2_9ce4_8422_2325
    /// The number of faults of each kind.
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
        // A Main at rest reads before the time to reach all goals is over.
        rules.restInterval = .seconds(20)
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
    /// True once the faults have ended.
    var isQuiet: Bool { clock >= quietFrom }

    /// Runs to the end: until all goals are reached after the faults have ended, or a rule is broken.
    package mutating func run() {
        let limit = quietFrom + UInt64(Schedule.waitingTime) * 1000
        // All incidents of the schedule must have happened.
        let last = UInt64(schedule.incidents.last?.at ?? 0) * 1000
        var nextLook = max(quietFrom, last) + 1
        while narrative.violation == nil, let next = queue.next {
            if next > nextLook {
                expire()
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
        // No events are left: an unmet goal is never reached.
        if narrative.violation == nil, let unmet = unmetWant() { broke(unmet) }
    }

    mutating func schedule(_ event: Event, after microseconds: Int) {
        queue.insert(event, at: clock + UInt64(microseconds) * 1000)
    }

    /// Returns the duration of a member's step.
    mutating func stepTime(of number: Int) -> Int {
        if !isQuiet, members[number].random.once(in: schedule.faultProfile.slowSteps) {
            count(.slowSteps)
            return members[number].random.time(5..<60)
        }
        return members[number].random.number(20..<900)
    }

    /// Returns whether a random fault happens now.
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
