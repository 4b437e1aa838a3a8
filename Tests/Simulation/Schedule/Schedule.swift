package import Coordination

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
    package var onDeadline = HandoverEnforcement.kill
    /// How long an Executor's core may run.
    package var budget = Duration.seconds(30)

    package enum MessageKind: CaseIterable, Hashable, Sendable {
        case text, invitation, nothingToShow
    }

    /// How long after the beginning of the quiet everybody must have what it wants.
    package static let patience = 45_000_000
}
