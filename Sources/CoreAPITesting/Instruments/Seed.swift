package import CoreAPI
internal import Platform

/// The seed of a randomised test. As the argument of a test it stands in the name of the case, so a failure names it:
///
/// ```swift
/// @Test(arguments: Seed.several(8))
/// func keepsItsOrder(seed: Seed) { var random = SeededRandom(seed) ... }
/// ```
///
/// The environment variable `SHAREDCORE_TEST_SEED` replays one seed (decimal) instead of all others.
package struct Seed: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package var description: String { "seed \(rawValue)" }

    /// Returns the seeds 1 to `count` - 1, and a random one.
    package static func several(_ count: Int) -> [Seed] {
        if let text = OwnProcess.text("SHAREDCORE_TEST_SEED"), let seed = UInt64(text) {
            return [Seed(rawValue: seed)]
        }
        return (1..<UInt64(max(count, 1))).map(Seed.init) + [Seed(rawValue: UInt64.random(in: 1...UInt64.max))]
    }
}

extension SeededRandom {
    package init(_ seed: Seed) {
        self.init(seed: seed.rawValue)
    }

    /// Returns a generator of its own for a part of the work, such as one of several tasks.
    package mutating func split() -> SeededRandom {
        SeededRandom(seed: next())
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
