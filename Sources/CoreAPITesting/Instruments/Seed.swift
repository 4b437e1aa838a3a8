package import CoreAPI

/// The seed of a randomised test. As the argument of a test it is part of the case's name, so a failure names it:
///
/// ```swift
/// @Test(arguments: Seed.several(8))
/// func keepsItsOrder(seed: Seed) { var random = SeededRandom(seed) ... }
/// ```
package struct Seed: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package var description: String { "seed \(rawValue)" }
}

extension SeededRandom {
    package init(_ seed: Seed) {
        self.init(seed: seed.rawValue)
    }

    /// Returns a generator of its own for a part of the work, such as one of several tasks.
    package mutating func split() -> SeededRandom {
        SeededRandom(seed: next())
    }

    /// Returns true with a probability of 1 in `count`.
    package mutating func once(in count: Int) -> Bool {
        Int.random(in: 0..<count, using: &self) == 0
    }

    /// Returns random bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for _ in 0..<count { bytes.append(UInt8(truncatingIfNeeded: next())) }
        return bytes
    }
}
