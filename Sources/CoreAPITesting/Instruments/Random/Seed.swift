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
