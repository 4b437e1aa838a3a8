extension Duration {
    /// The duration in whole nanoseconds, from zero to what 64 bits hold.
    public var clampedNanoseconds: UInt64 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        let (scaled, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return .max }
        let (sum, carried) = scaled.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
        return carried ? .max : sum
    }
}
