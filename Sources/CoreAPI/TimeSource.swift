/// The clock of a group: a parameter, so that tests set the time.
public protocol TimeSource: Sendable {
    /// The boot of the machine since which ``now()`` counts.
    var bootID: BootID { get }

    /// Returns the present instant. Never goes back within a boot.
    func now() -> BootInstant

    /// Waits until `instant`. Returns at that time or soon after it, never before.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(until instant: BootInstant) async throws(CancellationError)
}

/// A point in time on the boot clock: nanoseconds since the machine started, including suspension.
///
/// All processes of the machine share this clock until it restarts. Changes of the wall clock do not affect it.
public struct BootInstant: Hashable, Comparable, Sendable {
    /// Nanoseconds since the machine started.
    public let nanoseconds: UInt64

    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// Returns the instant after `duration`; a sum that cannot be represented ends at the last instant.
    public func advanced(by duration: Duration) -> BootInstant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
        return BootInstant(nanoseconds: overflow ? .max : sum)
    }

    /// Returns the time from this instant to a later one; zero when `other` is not later.
    public func duration(to other: BootInstant) -> Duration {
        guard other.nanoseconds > nanoseconds else { return .zero }
        return .nanoseconds(Int64(clamping: other.nanoseconds - nanoseconds))
    }

    public static func < (left: BootInstant, right: BootInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// The duration in whole nanoseconds, from zero to the largest that 64 bits hold.
    public var clampedNanoseconds: UInt64 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        let (scaled, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return .max }
        let (sum, carried) = scaled.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
        return carried ? .max : sum
    }

    /// The whole milliseconds, from zero on.
    package var wholeMilliseconds: UInt64 { clampedNanoseconds / 1_000_000 }

    /// The milliseconds, rounded up, so that a positive duration never becomes zero.
    package var millisecondsRoundedUp: UInt64 {
        wholeMilliseconds + (clampedNanoseconds % 1_000_000 == 0 ? 0 : 1)
    }

    /// Returns the duration doubled `count` times, but at most `limit`. A count below one returns the duration itself.
    package func doubled(_ count: Int, upTo limit: Duration) -> Duration {
        var result = self
        var left = count
        while left > 0, result < limit {
            result *= 2
            left -= 1
        }
        return min(result, limit)
    }
}
