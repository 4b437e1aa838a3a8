package import Coordination
package import CoreAPI

/// The external events of a group, as a list that is generated from a seed and can be shortened.
///
/// Everything else, such as the duration of a step or which wake-up is lost, follows from the seed and the member
/// concerned. So leaving out one member changes little for the others.
package struct Schedule: Hashable, Sendable {
    package let seed: UInt64
    package var members: [MemberPlan] = []
    /// The kind of each message, by its number.
    package var messages: [MessageKind] = []
    /// The external events, by time.
    package var incidents: [Incident] = []
    package var faultProfile = FaultProfile()
    /// When the faults end, in microseconds.
    package var quietFrom = 0
    package var onHandoverTimeout = HandoverTimeoutAction.kill
    /// How long an Executor's core may run.
    package var budget = Duration.seconds(30)
    /// How long a baton is kept.
    package var batonLifetime = Duration.seconds(10)

    package enum MessageKind: CaseIterable, Hashable, Sendable {
        case text, invitation, nothingToShow
    }

    /// The time after the end of the faults in which all goals must be reached.
    package static let waitingTime = 45_000_000
}

/// A participant of a schedule.
package struct MemberPlan: Hashable, Sendable {
    package let role: SessionRole
    /// The member's process; several members may share one.
    package let process: Int
    /// True if its cores take batons.
    package var takesBatons = false
}

/// The faults that happen at random until the quiet begins. A rate of n means once in n times; zero means never.
package struct FaultProfile: Hashable, Sendable {
    /// Lost wake-ups.
    package var lostWakeUps = 0
    /// Wake-ups that arrive twice.
    package var doubledWakeUps = 0
    /// Wake-ups that deliver outdated records, and arrive late.
    package var staleWakeUps = 0
    /// Steps that take tens of milliseconds, so that others overtake them.
    package var slowSteps = 0
    /// Commits that take effect without an answer.
    package var lostAnswers = 0
    /// Deaths that the system does not report.
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
    /// Frozen holders that resume at the very moment at which they are superseded.
    package var lastMoments = 0
    /// Processes that die at the very moment at which they are killed. The next process gets their number.
    package var reusedNumbers = 0
    /// Messages that the taking call gives back instead of showing.
    package var returnedMessages = 0
    /// Cores that begin calls; in schedules of calls only.
    package var calls = 0
    /// Cores that refuse the batons that they get, or start without applying them.
    package var refusedBatons = 0
    /// True if the host keeps batons as well.
    package var keepsAtHost = false
    /// True if processes are visible. If not, as in another namespace, a process that does not answer counts as
    /// stopped.
    package var showsProcesses = true

    package init() {}

    /// The rates of schedules with calls.
    package static let ratesOfCalls: [(name: String, rate: any WritableKeyPath<FaultProfile, Int> & Sendable)] = [
        ("calls", \.calls), ("refused batons", \.refusedBatons),
    ]

    /// The names of the faults, each with its rate.
    package static let rates: [(name: String, rate: any WritableKeyPath<FaultProfile, Int> & Sendable)] = [
        ("lost wake-ups", \.lostWakeUps), ("doubled wake-ups", \.doubledWakeUps),
        ("stale wake-ups", \.staleWakeUps), ("slow steps", \.slowSteps), ("lost answers", \.lostAnswers),
        ("silent deaths", \.silentDeaths), ("doubled deliveries", \.doubledDeliveries),
        ("stubborn cores", \.stubbornCores), ("failing cores", \.failingCores),
        ("critical sections", \.criticalSections), ("forbidden kills", \.forbiddenKills),
        ("last moments", \.lastMoments), ("reused numbers", \.reusedNumbers),
        ("returned messages", \.returnedMessages), ("activities", \.activities),
    ]
}
