package import CoreAPI

/// One call's wait for the message of a call-id: what the inbox says goes in, what to do next comes out.
///
/// Source: contract C7, C8, C10, C11.
package struct MessageWait: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        /// Take it.
        case take
        /// It is known already, or has nothing to show.
        case nothingToShow
        /// The deadline has passed.
        case timeout
        /// Let it be known that this call waits.
        case expect
        /// Wait until this moment at the latest, then look. With `needsCore`, a core would help.
        case wait(until: BootInstant, needsCore: Bool)
    }

    /// When the wait ends.
    package let deadline: BootInstant
    /// The interval at which the wait reads the inbox by itself. Source: contract C13.
    package let lookInterval: Duration
    /// True if the call's expectation is in the store.
    package var isExpected = false

    package init(deadline: BootInstant, lookInterval: Duration) {
        self.deadline = deadline
        self.lookInterval = lookInterval
    }

    /// Returns the next step for the state of the inbox. A message that is present at the deadline is still taken.
    package func step(_ state: InboxState, at now: BootInstant) -> Step {
        switch state {
        case .stored: return .take
        case .acknowledged, .nothingToShow: return .nothingToShow
        case .absent, .taken: break
        }
        guard now < deadline else { return .timeout }
        guard isExpected else { return .expect }
        return .wait(until: min(deadline, now.advanced(by: lookInterval)), needsCore: state == .absent)
    }
}
