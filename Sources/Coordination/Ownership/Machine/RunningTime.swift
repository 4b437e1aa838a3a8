package import CoreAPI

/// The duration of a wait, counted only while the waiting process runs.
///
/// A process that was stopped, or slept with its machine, has not waited meanwhile: the process that it waits for had no
/// time either. A step counts for at most ``longestStep``. A gap of ``longestGap`` or more counts for nothing and takes back
/// what was counted, ``allowance`` at most: the other process gets its time anew.
///
/// An overloaded process has such gaps in every step, and cannot distinguish them from a sleep. So the allowance is for
/// the whole wait: when it is used up, a gap counts as a late step does, and the wait ends.
package struct RunningTime: Hashable, Sendable {
    /// How often the waiting one counts.
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

    /// When to count next in order not to miss the end.
    package func nextCount(limit: Duration) -> BootInstant {
        last.advanced(by: min(Self.tick, max(limit - elapsed, .zero)))
    }
}
