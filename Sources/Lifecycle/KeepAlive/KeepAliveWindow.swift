package import CoreAPI

/// The intervals of a handler: equal windows of time, one after the other, in each of which it runs once.
///
/// Source: contract P4.
package struct KeepAliveWindow: Hashable, Sendable {
    /// Where the first window begins; may lie before the boot, when the first one was cut short.
    package var origin: Int64
    /// The length of each.
    package var interval: Duration

    private var length: Int64 { max(1, Int64(clamping: interval.clampedNanoseconds)) }

    /// The number of the window that an instant lies in.
    package func number(at instant: BootInstant) -> Int64 {
        let passed = Int64(clamping: instant.nanoseconds).subtractingReportingOverflow(origin)
        return passed.overflow ? Int64.max / length : Self.floor(passed.partialValue, length)
    }

    /// Where a window ends, which is where the next one begins.
    package func end(of number: Int64) -> BootInstant {
        let next = number.addingReportingOverflow(1)
        let offset = next.partialValue.multipliedReportingOverflow(by: length)
        let end = offset.partialValue.addingReportingOverflow(origin)
        guard !next.overflow, !offset.overflow, !end.overflow else { return BootInstant(nanoseconds: .max) }
        return BootInstant(nanoseconds: UInt64(clamping: end.partialValue))
    }

    /// The windows of an interval, one of which ends at an instant.
    package init(endingAt end: BootInstant, interval: Duration) {
        self.interval = interval
        let length = Int64(clamping: interval.clampedNanoseconds)
        self.origin = Int64(clamping: end.nanoseconds).subtractingReportingOverflow(length).partialValue
    }

    package init(origin: Int64, interval: Duration) {
        self.origin = origin
        self.interval = interval
    }

    private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}
