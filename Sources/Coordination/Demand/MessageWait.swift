package import CoreAPI

/// One call's wait for the message of a call-id, as a pure value: it maps the state of the inbox to the next step.
///
/// Source: contract C7, C8, C10, C11.
package struct MessageWait: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        /// Take the message.
        case take
        /// The message was acknowledged, or has nothing to show.
        case nothingToShow
        /// The deadline has passed.
        case timeout
        /// Store an expectation, so that the group knows that this call waits.
        case expect
        /// Wait until this moment at the latest, then read the inbox again. `needsCore` is true if the call needs a
        /// running core.
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
