internal import Coordination
internal import CoreAPI

/// A participant: the machines, and the state of its shell.
struct Member {
    let plan: MemberPlan
    let number: Int
    let name: String
    var session = SessionID(rawValue: 0)
    var process: ProcessIdentity
    var machine: OwnershipMachine
    /// The machine of a holder, which replaces the other machines.
    var hold: HolderMachine?
    /// A reason besides calls for which a holder's process wakes the Main.
    var need: Wake?
    /// When a holder that closes ends in any case.
    var endsAt: UInt64 = .max
    var demandPolicy: DemandPolicy
    var expected = OwnExpectations()
    /// The random source of the member's choices.
    var random: SeededRandom

    /// The number of the member's process, if it is reused from another one.
    var reusedNumber: Int32?
    /// True if the member has opened the group, and has neither died nor closed since.
    var isOpen = false
    var isDead = false
    /// True if the member's session was ended after its death.
    var isBuried = false
    /// The time since which the member has been able to run without interruption.
    var runsSince: UInt64 = 0
    var openedAt: UInt64 = 0
    var frozenUntil: UInt64?
    /// Events that are deferred until the member runs again.
    var deferred: [Event] = []
    var diedAt: UInt64?
    /// Until when the store refuses the member's commits.
    var troubleUntil: UInt64 = 0
    /// The time since which the member has had the goal to own without interruption.
    var wantsSince: UInt64?
    /// The commits before the one at which the member dies, and whether that one takes effect.
    var diesAtCommit: (skipping: Int, after: Bool)?
    /// The commits before the one after which the member freezes, and the duration.
    var freezesAtCommit: (skipping: Int, duration: Int)?

    /// The directive that was decided and not carried out yet.
    var pending: Directive?
    /// The view of the member when it decided to stop its core.
    var viewAtStop = OwnershipView()
    /// The number of directives the member has carried out, and since when they are counted.
    var directives = (count: 0, since: UInt64(0))
    /// When the member's alarm fires; alarms for other times are ignored.
    var alarm: UInt64 = .max
    /// True while a notification is on its way to the member.
    var isToldSoon = false
    /// When a wake-up of the member was lost; nil once it has read since.
    var missedSince: UInt64?
    /// Outdated records that the member will receive late.
    var staleSnapshots: [Snapshot] = []
    /// The last commit with which the member's core began an activity.
    var begun = Revision.zero
    /// True if one of the member's cores has given a baton: its later cores take batons, too.
    var hasGiven = false
    /// True while the member's core processes the outcome of its baton.
    var hearsOfBaton = false
    /// The position of the member's watch of the demand; nil if it has none.
    var demandPosition: Int?
    var demand: Demand?

    /// True while the member's application waits for its start as Main.
    var isStarting = false
    /// The cores that run here or are stopping, by number.
    var cores: [Int] = []
    /// The calls of the member's application that are not over.
    var calls: [Int] = []
    /// True if the member's application has finished.
    var isFinishing = false

    var isMain: Bool { plan.role == .main }
    /// True while the member takes part.
    var isAlive: Bool { isOpen && !isDead }

    func isFrozen(at clock: UInt64) -> Bool { frozenUntil.map { $0 > clock } ?? false }
}

/// A core of a member.
struct SimulatedCore {
    enum Phase {
        /// The core has not run anything yet.
        case announced
        case starting, running
        case over
    }

    let member: Int
    let epoch: Revision
    var phase = Phase.announced
    /// True if the core was told to stop, failed or was fenced: it receives nothing more.
    var isEnding = false
    var wasToldToStop = false
    /// True if the core runs, according to a witness.
    var runs = false
    var startedAt: UInt64 = 0
    /// Since when the core has been stopping.
    var endsSince: BootInstant?
    var problem: String?
    /// True while the core becomes quiet for a rest. A quiet core runs nothing but its stop.
    var isBecomingQuiet = false
    var isQuiet = false
    /// The messages that the core has stored and not acknowledged to the server.
    var unacknowledged: Set<Int> = []
    /// The activities that the core has begun, by id.
    var activities: [Activity] = []
    /// Why the core was told to stop.
    var request: StopRequest?
    /// The calls that the core has, by number.
    var dialogs: Set<Int> = []
    /// The baton that existed when the core was started, and the baton that the core has fetched and not used.
    var offered: Standing<BatonRecord>?
    var gets: Standing<BatonRecord>?
    /// True if a keeper did not answer the core's request.
    var hasAsked = false
    /// True if the core has applied a baton, though it may not know.
    var hasApplied = false
    /// True if a commit that applies the core's baton may have taken effect.
    var isApplyUnclear = false
}
