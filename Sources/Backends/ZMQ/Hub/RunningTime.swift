internal import CoreAPI

/// The time that the hub was running, in which leases are counted: a hub that was stopped, or a machine that slept, has
/// heard nobody meanwhile, which proves nothing.
struct RunningTime {
    /// How often leases are counted down.
    static let interval = Duration.milliseconds(250)
    /// The most that one look counts: what is beyond is a stop.
    static let longestInterval = Duration.milliseconds(500)

    private var last: BootInstant

    init(from start: BootInstant) {
        last = start
    }

    /// What has passed since the last time that something was counted; nil when it is too early to count again.
    mutating func count(at now: BootInstant) -> Duration? {
        let passed = last.duration(to: now)
        guard passed >= Self.interval else { return nil }
        last = now
        return min(passed, Self.longestInterval)
    }
}
