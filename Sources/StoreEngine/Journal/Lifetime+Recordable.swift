package import CoreAPI

extension Lifetime {
    /// The lifetime as the journal keeps it: in whole nanoseconds, rounded up so that nothing goes early, and at most
    /// what 63 bits hold, which is 292 years. The writer keeps it in the same form as whoever reads it.
    package var recordable: Lifetime {
        guard case .expiring(let duration) = self else { return self }
        let whole = Duration.nanoseconds(Int64(clamping: duration.clampedNanoseconds))
        guard whole < duration, whole < .nanoseconds(Int64.max) else { return .expiring(after: whole) }
        return .expiring(after: whole + .nanoseconds(1))
    }
}
