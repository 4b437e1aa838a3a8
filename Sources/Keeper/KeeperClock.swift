internal import CoreAPI
internal import Platform

/// The time in which this process ran. What a stopped process or a sleeping machine has missed is not held against a
/// Main, which has missed it too.
struct KeeperClock {
    private let system = SystemClock()
    private var missed = Duration.zero

    /// How much later than asked for a wait may end and still count.
    private static let tolerance = Duration.seconds(1)

    func now() -> BootInstant {
        let now = system.now()
        return BootInstant(nanoseconds: now.nanoseconds - min(missed.clampedNanoseconds, now.nanoseconds))
    }

    /// Runs a wait of at most so long. One that took much longer was no waiting: it does not count.
    mutating func wait<Value>(_ longest: Duration, _ body: () -> Value) -> Value {
        let start = system.now()
        let value = body()
        let passed = start.duration(to: system.now())
        if passed > longest + Self.tolerance { missed += passed }
        return value
    }
}
