/// The identity of one run of a machine, from its start to its stop: 16 bytes.
public struct BootID: Hashable, Sendable, CustomStringConvertible {
    /// The first eight bytes, big-endian.
    public let high: UInt64
    /// The last eight bytes, big-endian.
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    public var description: String {
        func hexadecimal(_ word: UInt64) -> String {
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        return hexadecimal(high) + hexadecimal(low)
    }
}
