internal import CoreAPI

/// A core that runs in a member.
struct SimulatedCore {
    enum Phase {
        /// It has not run anything yet.
        case announced
        case starting, running
        case over
    }

    let member: Int
    let epoch: Revision
    var phase = Phase.announced
    /// Whether it was told to stop, failed or was fenced: it receives nothing more.
    var isEnding = false
    var wasToldToStop = false
    /// Whether it has begun, in the eyes of a witness.
    var runs = false
    var startedAt: UInt64 = 0
    var problem: String?
}
