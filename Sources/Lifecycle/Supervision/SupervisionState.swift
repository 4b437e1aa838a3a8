package import CoreAPI

/// Where the supervision of a Main stands.
package enum SupervisionState: Hashable, Sendable {
    /// Nothing has happened yet.
    case unbegun
    /// Main is down and stays so until somebody wants it.
    case down
    /// Main has failed and is started at the instant.
    case waiting(until: BootInstant, since: BootInstant, hastened: Bool)
    /// Main runs.
    case running(since: BootInstant)
    /// Main was asked to end, and is killed at the instant.
    case ending(killAt: BootInstant?, then: Next)

    /// What comes after the end of a Main that was asked to.
    package enum Next: Hashable, Sendable {
        case stayDown
        case start(inForeground: Bool)
        case finish
    }

    /// Whether a process of Main is there.
    package var hasMain: Bool {
        switch self {
        case .running, .ending: true
        case .unbegun, .down, .waiting: false
        }
    }
}
