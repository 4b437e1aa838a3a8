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
        ("returned messages", \.returnedMessages),
    ]
}
