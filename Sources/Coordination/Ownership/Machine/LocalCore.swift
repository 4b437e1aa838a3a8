internal import CoreAPI

/// The core that runs in this participant, as far as the machine has to know.
struct LocalCore: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
        case starting
        case running
        /// Told to stop at this moment.
        case stopping(since: BootInstant)
        case ended
    }

    /// The ownership that it was started under.
    let epoch: Revision
    var phase: Phase
    /// Why it stops or has ended.
    var reason = ""

    var mayRun: Bool {
        switch phase {
        case .starting, .running: true
        case .stopping, .ended: false
        }
    }
}
