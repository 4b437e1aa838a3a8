package import CoreAPI

/// The intervals of a handler: equal windows of time, one after the other, in each of which it runs once.
///
/// Source: contract P4.
package struct KeepAliveWindow: Hashable, Sendable {
    /// The start of the first window; may be before the boot if the first window was shortened.
    package var origin: Int64
    /// The length of each.
    package var interval: Duration

    private var length: Int64 { max(1, Int64(clamping: interval.clampedNanoseconds)) }

    /// Returns the number of the window that contains an instant.
    package func number(at instant: BootInstant) -> Int64 {
        let passed = Int64(clamping: instant.nanoseconds).subtractingReportingOverflow(origin)
        return passed.overflow ? Int64.max / length : Self.floor(passed.partialValue, length)
    }

    /// Returns the end of a window, which is the start of the next one.
    package func end(of number: Int64) -> BootInstant {
        let next = number.addingReportingOverflow(1)
        let offset = next.partialValue.multipliedReportingOverflow(by: length)
        let end = offset.partialValue.addingReportingOverflow(origin)
        guard !next.overflow, !offset.overflow, !end.overflow else { return BootInstant(nanoseconds: .max) }
        return BootInstant(nanoseconds: UInt64(clamping: end.partialValue))
    }

    /// Creates the windows of an interval, one of which ends at an instant.
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

/// The machine's state of a keep-alive handler.
package struct KeepAliveHandlerState: Hashable, Sendable {
    package var window: KeepAliveWindow
    /// The last window in which it ran; the one before the first if it has not run.
    package var ranIn: Int64
    /// True if the handler exists. After a restart it does not exist until it was added again.
    package var isPresent = true
    /// The running call.
    package var run: KeepAliveRun?
    /// True after the running call was warned that its time is nearly over.
    package var isWarned = false

    /// The latest time at which it must run.
    package var latest: BootInstant { window.end(of: ranIn + 1) }

    /// Returns the time from which a call counts for a window.
    package func slackBegins(of number: Int64, share: Int) -> BootInstant {
        let slack = (window.interval / share).clampedNanoseconds
        let end = window.end(of: number).nanoseconds
        return BootInstant(nanoseconds: end > slack ? end - slack : 0)
    }
}
