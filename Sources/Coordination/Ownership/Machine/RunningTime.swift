package import CoreAPI

/// How long something was waited for, counted in the waiting one's own running time.
///
/// Whoever was stopped, or slept with its machine, has not waited meanwhile: the one that it waits for had no time
/// either. A step counts for at most ``longestStep``, and after a gap of ``longestGap`` or more the wait begins anew.
package struct RunningTime: Hashable, Sendable {
    /// How often the waiting one counts.
    package static let tick = Duration.milliseconds(100)
    package static let longestStep = Duration.milliseconds(150)
    package static let longestGap = Duration.milliseconds(500)

    package private(set) var elapsed = Duration.zero
    private var last: BootInstant

    package init(from start: BootInstant) {
        last = start
    }

    package mutating func count(to now: BootInstant) {
        let step = last.duration(to: now)
        last = max(last, now)
        elapsed = step >= Self.longestGap ? .zero : elapsed + min(step, Self.longestStep)
    }

    /// When to count next in order not to miss the end.
    package func nextCount(limit: Duration) -> BootInstant {
        last.advanced(by: min(Self.tick, max(limit - elapsed, .zero)))
    }
}
