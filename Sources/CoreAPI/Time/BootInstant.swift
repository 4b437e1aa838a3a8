/// A moment of one run of a machine: nanoseconds since it started, suspension counted.
///
/// All processes of a run share this clock, and no change of the wall clock moves it.
public struct BootInstant: Hashable, Comparable, Sendable {
    /// Nanoseconds since the machine started.
    public let nanoseconds: UInt64

    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// The instant after `duration`; a sum that cannot be represented ends at the last instant.
    public func advanced(by duration: Duration) -> BootInstant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
        return BootInstant(nanoseconds: overflow ? .max : sum)
    }

    /// The time from this instant to a later one; zero when `other` is not later.
    public func duration(to other: BootInstant) -> Duration {
        guard other.nanoseconds > nanoseconds else { return .zero }
        return .nanoseconds(Int64(clamping: other.nanoseconds - nanoseconds))
    }

    public static func < (left: BootInstant, right: BootInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
