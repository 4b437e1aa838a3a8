internal import CoreAPI

/// How long a core waits before it looks again by itself.
struct CollectionPace: Sendable {
    /// With nothing to do. Arrivals ring a bell; looking is for those that do not, as on a network file system. Whoever
    /// waits for an Executor waits with a deadline, so there the look comes early (contract C13).
    let idle: Duration
    /// With nothing to do, where there is no bell.
    let unwatched = Duration.milliseconds(250)
    /// While messages wait in their files for a participant, or for room in the group.
    let held = Duration.milliseconds(250)

    init(role: SessionRole) {
        idle = role == .executor ? .milliseconds(250) : .seconds(10)
    }

    /// While a file is being written: its closing rings a moment before nobody has it open any more.
    func unfinished(_ round: Int) -> Duration {
        .milliseconds(5).doubled(round, upTo: .milliseconds(250))
    }

    /// After the given number of failures in a row.
    func trouble(_ round: Int) -> Duration {
        .milliseconds(50).doubled(round, upTo: .seconds(5))
    }
}
