package import CoreAPI

/// The duration of a wait, counted only while the waiting process runs.
///
/// While a process is stopped or its machine sleeps, the time does not count, because the process that it waits for may
/// not have run either. A step counts for at most ``longestStep``. A gap of ``longestGap`` or more does not count. It
/// also takes back time that was counted before, ``allowance`` at most, so that the other process gets that time again.
///
/// A process on an overloaded machine has such gaps all the time, and cannot distinguish them from a sleep. So the
/// allowance is for the whole wait. When it is used up, a gap counts as ``longestStep``, and the wait ends.
package struct RunningTime: Hashable, Sendable {
    /// The interval at which the waiting process counts.
    package static let tick = Duration.milliseconds(100)
    package static let longestStep = Duration.milliseconds(150)
    package static let longestGap = Duration.milliseconds(500)

    /// The total time that the gaps of one wait take back. Each gap uses up at least one step of it.
    package static let allowance = Duration.milliseconds(500)

    package private(set) var elapsed = Duration.zero
    package private(set) var allowance = Self.allowance
    package private(set) var last: BootInstant

    package init(from start: BootInstant) {
        last = start
    }

    package mutating func count(to now: BootInstant) {
        let step = last.duration(to: now)
        last = max(last, now)
        guard step >= Self.longestGap, allowance > .zero else {
            elapsed += min(step, Self.longestStep)
            return
        }
        let takenBack = min(elapsed, allowance)
        elapsed -= takenBack
        allowance -= max(takenBack, Self.longestStep)
    }

    /// Returns when to count next in order not to miss the end.
    package func nextCount(limit: Duration) -> BootInstant {
        last.advanced(by: min(Self.tick, max(limit - elapsed, .zero)))
    }
}
