/// Random numbers that follow from a seed: the same seed gives the same schedule.
///
/// SplitMix64, after Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
package struct SeededRandom: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Returns a duration from zero up to but not including `limit`.
    package mutating func duration(below limit: Duration) -> Duration {
        let nanoseconds = limit.clampedNanoseconds
        return nanoseconds == 0 ? .zero : .nanoseconds(Int64(clamping: next(upperBound: nanoseconds)))
    }
}
