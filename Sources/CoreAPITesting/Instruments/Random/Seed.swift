internal import Glibc

/// The seed of a randomised test. As the argument of a test it stands in the name of the case, so a failure names it:
///
/// ```swift
/// @Test(arguments: Seed.several(8))
/// func keepsItsOrder(seed: Seed) { var random = SplitMix64(seed) ... }
/// ```
///
/// The environment variable `SHAREDCORE_TEST_SEED` replays one seed (decimal) instead of all others.
package struct Seed: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package var description: String { "seed \(rawValue)" }

    /// The seeds 1 to `count` - 1, and one that nobody has tried before.
    package static func several(_ count: Int) -> [Seed] {
        if let text = getenv("SHAREDCORE_TEST_SEED"), let seed = UInt64(String(cString: text)) {
            return [Seed(rawValue: seed)]
        }
        return (1..<UInt64(max(count, 1))).map(Seed.init) + [Seed(rawValue: UInt64.random(in: 1...UInt64.max))]
    }
}

/// A random generator whose whole sequence follows from its seed.
///
/// Source: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package init(_ seed: Seed) {
        self.init(seed: seed.rawValue)
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A generator of its own for a part of the work, such as one of several tasks.
    package mutating func split() -> SplitMix64 {
        SplitMix64(seed: next())
    }

    /// True once in `count` times.
    package mutating func once(in count: Int) -> Bool {
        Int.random(in: 0..<count, using: &self) == 0
    }

    /// Random bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for _ in 0..<count { bytes.append(UInt8(truncatingIfNeeded: next())) }
        return bytes
    }
}
