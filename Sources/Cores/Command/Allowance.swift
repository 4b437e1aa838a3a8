internal import CoreAPI

/// A limit on the rate of an event: up to a capacity at once, and then once in each interval.
struct Allowance {
    private let capacity: Int
    private let interval: Duration
    private var left: Int
    private var counted: BootInstant

    init(_ capacity: Int, then interval: Duration, at now: BootInstant) {
        self.capacity = capacity
        self.interval = interval
        left = capacity
        counted = now
    }

    /// Returns true if the event is allowed now, and counts it.
    mutating func take(at now: BootInstant) -> Bool {
        let step = max(1, interval.clampedNanoseconds)
        let gained = counted.duration(to: now).clampedNanoseconds / step
        if gained > 0 {
            left = Int(clamping: min(UInt64(capacity), UInt64(left) &+ min(gained, UInt64(capacity))))
            counted = left == capacity ? now : BootInstant(nanoseconds: counted.nanoseconds &+ gained &* step)
        }
        guard left > 0 else { return false }
        left -= 1
        return true
    }
}

/// Determines when to report, once, that a program has been sending too many requests.
struct Overload {
    /// How long an overload must last before it is reported. Messages that have waited at a server come all at once,
    /// but are handled within this time.
    static let time = Duration.seconds(10)
    /// How long the number of requests may be below the limit without ending the overload.
    static let gap = Duration.seconds(1)
    static let problem =
        "the core's program has asked for more than was done for \(time.components.seconds) s, and is read as fast as it is served"

    private var began: BootInstant?
    private var latest: BootInstant?
    private var isTold = false
    private var isDue = false

    /// Records that the maximum number of requests is unanswered.
    mutating func note(at now: BootInstant) {
        let isSame = latest.map { $0.duration(to: now) <= Self.gap } ?? false
        let first = isSame ? began ?? now : now
        (began, latest) = (first, now)
        guard !isTold, first.duration(to: now) >= Self.time else { return }
        (isTold, isDue) = (true, true)
    }

    /// Returns true once, when the overload is due to be reported.
    mutating func take() -> Bool {
        defer { isDue = false }
        return isDue
    }
}
