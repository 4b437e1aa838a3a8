internal import CoreAPI

/// Values that say whether they are whole: a checksum, then random bytes.
enum Checksummed {
    /// A value that holds the bytes of two others.
    struct Torn: Error, CustomStringConvertible {
        let key: Key
        let byteCount: Int

        var description: String { "a torn value of \(byteCount) bytes under \(key)" }
    }

    static func value(of count: Int, from random: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for _ in 0..<max(count - 8, 0) { bytes.append(UInt8(truncatingIfNeeded: random.next())) }
        return withUnsafeBytes(of: checksum(bytes[...]).littleEndian) { Array($0) } + bytes
    }

    static func verify(_ entry: Entry) throws(Torn) {
        guard entry.value.count >= 8 else { throw Torn(key: entry.key, byteCount: entry.value.count) }
        let expected = withUnsafeBytes(of: checksum(entry.value[8...]).littleEndian) { Array($0) }
        guard entry.value.prefix(8).elementsEqual(expected) else {
            throw Torn(key: entry.key, byteCount: entry.value.count)
        }
    }

    /// FNV-1a, over the count as well.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(bytes.count)
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }
}
