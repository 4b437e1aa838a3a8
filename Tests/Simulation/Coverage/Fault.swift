/// The kinds of faults that are injected.
package enum Fault: String, CaseIterable, Sendable {
    case kills, killsBeforeCommit = "kills before a commit", killsAfterCommit = "kills after a commit"
    case freezes, freezesAfterCommit = "freezes after a commit"
    case coreFailures = "failures of connected cores", failingCores = "failures of young cores"
    case trouble = "stores in trouble", sleeps = "sleeps of the machine", reboots
    case lostWakeUps = "lost wake-ups", doubledWakeUps = "doubled wake-ups", staleWakeUps = "stale wake-ups"
    case slowSteps = "slow steps", lostAnswers = "lost answers", silentDeaths = "silent deaths"
    case doubledDeliveries = "doubled deliveries", stubbornCores = "stubborn cores"
    case criticalSections = "critical sections", forbiddenKills = "forbidden kills"
    case lastMoments = "answers at the last moment", reusedNumbers = "reused numbers of processes"
    case returnedMessages = "returned messages"
}
