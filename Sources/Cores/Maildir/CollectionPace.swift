internal import CoreAPI

/// The time that a core waits before it polls.
struct CollectionPace: Sendable {
    /// The wait when there is nothing to do. An arrival wakes the core; polling is for folders without reports, as on a
    /// network file system. A participant that waits for an Executor waits with a deadline, so an Executor's core polls
    /// early (contract C13).
    let idle: Duration
    /// The wait when there is nothing to do and arrivals are not reported.
    let unwatched = Duration.milliseconds(250)
    /// The wait while messages stay in their files until a participant waits for them or the group has space.
    let held = Duration.milliseconds(250)

    init(role: SessionRole) {
        idle = role == .executor ? .milliseconds(250) : .seconds(10)
    }

    /// Returns the wait while a file is being written: its close is reported shortly before the last process has closed
    /// it.
    func unfinished(_ round: Int) -> Duration {
        .milliseconds(5).doubled(round, upTo: .milliseconds(250))
    }

    /// Returns the wait after the given number of failures in a row.
    func trouble(_ round: Int) -> Duration {
        .milliseconds(50).doubled(round, upTo: .seconds(5))
    }
}
