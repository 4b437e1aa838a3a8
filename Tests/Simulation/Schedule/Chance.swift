package import CoreAPI

/// Draws from seeded chance.
extension SeededRandom {
    /// True once in `count` times; never when `count` is zero.
    package mutating func once(in count: Int) -> Bool {
        count > 0 && next() % UInt64(count) == 0
    }

    /// A number from the range.
    package mutating func number(_ range: Range<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    /// A time from the range, in milliseconds to the microsecond.
    package mutating func time(_ milliseconds: Range<Int>) -> Int {
        number(milliseconds.lowerBound * 1000..<milliseconds.upperBound * 1000)
    }
}
