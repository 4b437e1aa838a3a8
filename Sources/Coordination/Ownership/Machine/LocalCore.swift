package import CoreAPI

/// A time for which a participant starts no core, because the last one failed.
package struct CoreRest: Hashable, Sendable {
    package let until: BootInstant
    package let length: Duration
    /// Why the core failed.
    package let problem: String
}

/// The core that runs in this participant, as far as the machine has to know.
package struct LocalCore: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        case starting
        case running
        /// Told to stop at this moment.
        case stopping(since: BootInstant)
        case ended
    }

    /// The ownership that it was started under.
    package let epoch: Revision
    package var phase: Phase
    /// Why it stops or has ended.
    package var reason = ""

    package var mayRun: Bool {
        switch phase {
        case .starting, .running: true
        case .stopping, .ended: false
        }
    }
}
