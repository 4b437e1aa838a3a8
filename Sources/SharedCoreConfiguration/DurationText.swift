internal import CoreAPI

/// Durations as people write them: a number with `ms`, `s`, `m` or `h`; a bare number means seconds.
package enum DurationText {
    package static let expectation = "a duration such as 250ms, 1.5s, 2m or 1h (a bare number means seconds)"

    /// The longest duration, about a hundred years: no sum of two of them leaves 64 bits of nanoseconds.
    package static let maximumMilliseconds: UInt64 = 3_153_600_000_000

    package static func parse(_ text: String) -> Duration? {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let millisecondsPerUnit: Double
        switch text.dropFirst(number.count) {
        case "ms": millisecondsPerUnit = 1
        case "s", "": millisecondsPerUnit = 1000
        case "m": millisecondsPerUnit = 60_000
        case "h": millisecondsPerUnit = 3_600_000
        default: return nil
        }
        guard let first = number.first, let last = number.last, first != ".", last != ".",
            let count = Double(number)
        else { return nil }
        let milliseconds = count * millisecondsPerUnit
        guard milliseconds <= Double(maximumMilliseconds) else { return nil }
        return .nanoseconds(Int64((milliseconds * 1_000_000).rounded()))
    }

    package static let positiveExpectation = expectation + ", longer than zero"

    /// Returns the shortest way to write a duration that ``parse(_:)`` reads back as the same, to the millisecond.
    package static func write(_ duration: Duration) -> String {
        // A duration of more than 64 bits of nanoseconds is cut there, because a duration from outside must not trap.
        let milliseconds = duration.wholeMilliseconds
        for (unit, size) in [("h", 3_600_000), ("m", 60_000), ("s", 1000)] as [(String, UInt64)]
        where milliseconds > 0 && milliseconds % size == 0 {
            return "\(milliseconds / size)\(unit)"
        }
        return "\(milliseconds)ms"
    }
}
