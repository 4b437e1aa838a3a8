internal import CoreAPI

/// How often something may be: so many times at once, and then once in each interval.
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

    /// Returns whether it may be now, and counts it.
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
