package import CoreAPI

/// How long an Executor's core runs: while any call waits for a message that is not there, and a little longer, within
/// the process's budget.
///
/// Source: contract C9.
package struct CoreRunPolicy: Hashable, Sendable {
    package enum Decision: Hashable, Sendable {
        /// The core goes on; the question is due again at this moment.
        case run(until: BootInstant)
        /// All calls have been served.
        case done
        /// The process's time is up; the next one that waits takes over.
        case spent
    }

    /// How long the core may run.
    package let budget: Duration
    /// How long it goes on when no call waits, so that the next push of a burst finds it running.
    package let linger: Duration
    private let start: BootInstant
    private var quietSince: BootInstant?
    private var lastChange = Revision.zero

    package init(budget: Duration, linger: Duration, from start: BootInstant) {
        self.budget = budget
        self.linger = linger
        self.start = start
    }

    /// - Parameters:
    ///   - openUntil: The latest deadline of the calls that wait; nil when none does.
    ///   - change: The last commit with which a message or an expectation came or went. While they come and go, it is
    ///     not quiet.
    package mutating func decide(openUntil: BootInstant?, lastChange change: Revision = .zero, at now: BootInstant)
        -> Decision
    {
        let end = start.advanced(by: budget)
        if change > lastChange {
            lastChange = change
            quietSince = nil
        }
        guard now < end else { return .spent }
        if let openUntil {
            quietSince = nil
            return .run(until: min(end, openUntil))
        }
        let quiet = quietSince ?? now
        quietSince = quiet
        let limit = quiet.advanced(by: linger)
        return now < limit ? .run(until: min(end, limit)) : .done
    }
}
