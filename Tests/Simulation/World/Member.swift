internal import Coordination
internal import CoreAPI

/// One participant: the machines, and what its shell keeps beside them.
struct Member {
    let plan: MemberPlan
    let number: Int
    let name: String
    var session = SessionID(rawValue: 0)
    var process: ProcessIdentity
    var machine: OwnershipMachine
    var intentions: Intentions
    var expected = OwnExpectations()
    /// What chance decides for it.
    var random: SeededRandom

    /// The number that its process is given, where that is another's.
    var reusedNumber: Int32?
    /// Whether it has opened the group, and neither died nor closed since.
    var isOpen = false
    var isDead = false
    /// Whether the system would have buried it.
    var isBuried = false
    /// Since when it has been able to run without a break.
    var runsSince: UInt64 = 0
    var openedAt: UInt64 = 0
    var frozenUntil: UInt64?
    /// What happens to it when it runs again.
    var deferred: [Event] = []
    var diedAt: UInt64?
    /// Until when the store refuses its commits.
    var troubleUntil: UInt64 = 0
    /// Since when it has wanted to own without a break.
    var wantsSince: UInt64?
    /// After how many commits it dies, and whether that one takes effect before.
    var diesAtCommit: (skipping: Int, after: Bool)?
    /// After how many commits it freezes, and for how long.
    var freezesAtCommit: (skipping: Int, duration: Int)?

    /// The directive that is on its way.
    var pending: Directive?
    /// What it knew when it decided to stop its core.
    var viewAtStop = OwnershipView()
    /// How many directives it has carried out since when.
    var directives = (count: 0, since: UInt64(0))
    /// When its alarm rings; the alarms that were set to other times are not heard.
    var alarm: UInt64 = .max
    /// Whether news is on its way to it.
    var isToldSoon = false
    /// When a wake-up of its was lost; nil since it looked.
    var missedSince: UInt64?
    /// What it will be told late.
    var staleSnapshots: [Snapshot] = []
    /// The last commit with which its core began an activity.
    var begun = Revision.zero
    /// How far its watch of the demand has got; nil when it has none.
    var demandPosition: Int?
    var demand: Demand?

    /// Whether its application waits for its start as Main.
    var isStarting = false
    /// The core that runs here or is being stopped, by number.
    var cores: [Int] = []
    /// The calls of its application that are not over.
    var calls: [Int] = []
    /// Whether its application is done with it.
    var isFinishing = false

    var isMain: Bool { plan.role == .main }
    /// Whether it takes part now.
    var isAlive: Bool { isOpen && !isDead }

    func isFrozen(at clock: UInt64) -> Bool { frozenUntil.map { $0 > clock } ?? false }
}

/// A core that runs in a member.
struct SimulatedCore {
    enum Phase {
        /// It has not run anything yet.
        case announced
        case starting, running
        case over
    }

    let member: Int
    let epoch: Revision
    var phase = Phase.announced
    /// Whether it was told to stop, failed or was fenced: it receives nothing more.
    var isEnding = false
    var wasToldToStop = false
    /// Whether it has begun, in the eyes of a witness.
    var runs = false
    var startedAt: UInt64 = 0
    /// Since when it has been coming to its end.
    var endsSince: BootInstant?
    var problem: String?
    /// The activities that it has begun, by id.
    var activities: [Activity] = []
}
