package import Coordination
package import CoreAPI

/// What happens to a group from outside, as a list that follows from a seed and can be made shorter.
///
/// Everything else, such as how long a step takes or which wake-up is lost, follows from the seed and from who it
/// happens to, so that leaving out one member changes little for the others.
package struct Schedule: Hashable, Sendable {
    package let seed: UInt64
    package var members: [MemberPlan] = []
    /// What each message is, by its number.
    package var messages: [MessageKind] = []
    /// What happens, in the order of time.
    package var incidents: [Incident] = []
    package var weather = Weather()
    /// When the faults end, in microseconds.
    package var quietFrom = 0
    package var onHandoverTimeout = HandoverTimeoutAction.kill
    /// How long an Executor's core may run.
    package var budget = Duration.seconds(30)

    package enum MessageKind: CaseIterable, Hashable, Sendable {
        case text, invitation, nothingToShow
    }

    /// How long after the beginning of the quiet everybody must have what it wants.
    package static let patience = 45_000_000
}

/// A participant of a schedule.
package struct MemberPlan: Hashable, Sendable {
    package let role: SessionRole
    /// Which process it lives in; several may share one.
    package let process: Int
}

/// What goes wrong by itself, everywhere and all the time until the quiet begins: how often, as once in so many times;
/// zero is never.
package struct Weather: Hashable, Sendable {
    /// Wake-ups that are lost.
    package var lostWakeUps = 0
    /// Wake-ups that come twice.
    package var doubledWakeUps = 0
    /// Wake-ups that bring what stood some commits ago, and come late.
    package var staleWakeUps = 0
    /// Steps that take tens of milliseconds, so that others overtake them.
    package var slowSteps = 0
    /// Commits that take effect and whose answer is lost.
    package var lostAnswers = 0
    /// Deaths that the system tells nobody of.
    package var silentDeaths = 0
    /// Deliveries that the network repeats.
    package var doubledDeliveries = 0
    /// Cores that take longer to stop than they may.
    package var stubbornCores = 0
    /// Cores that fail, at their start or later.
    package var failingCores = 0
    /// Cores that enter critical sections.
    package var criticalSections = 0
    /// Cores that begin activities.
    package var activities = 0
    /// Kills that the system forbids.
    package var forbiddenKills = 0
    /// Frozen holders that run again at the very moment at which they are to be superseded.
    package var lastMoments = 0
    /// Processes that die at the very moment at which they are to be killed, and whose number goes to the next.
    package var reusedNumbers = 0
    /// Messages that are not shown by whoever takes them, but given back.
    package var returnedMessages = 0
    /// Whether processes can be looked at. Where they cannot, as in another namespace, one that does not answer counts
    /// as stopped.
    package var showsProcesses = true

    package init() {}

    /// The names of what can go wrong, each with its rate.
    package static let rates: [(name: String, rate: any WritableKeyPath<Weather, Int> & Sendable)] = [
        ("lost wake-ups", \.lostWakeUps), ("doubled wake-ups", \.doubledWakeUps),
        ("stale wake-ups", \.staleWakeUps), ("slow steps", \.slowSteps), ("lost answers", \.lostAnswers),
        ("silent deaths", \.silentDeaths), ("doubled deliveries", \.doubledDeliveries),
        ("stubborn cores", \.stubbornCores), ("failing cores", \.failingCores),
        ("critical sections", \.criticalSections), ("forbidden kills", \.forbiddenKills),
        ("last moments", \.lastMoments), ("reused numbers", \.reusedNumbers),
        ("returned messages", \.returnedMessages), ("activities", \.activities),
    ]
}
