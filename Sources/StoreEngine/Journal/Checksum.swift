/// The checksum of payloads, headers and values in a journal: 64 bits, taken a word at a time.
///
/// Each step is a bijection of the running value for a given word, so a change within one word is always noticed; any
/// other change passes with a chance of 2^-64. It guards against damage, not against an adversary.
struct Checksum: Hashable, Sendable {
    private(set) var value: UInt64

    init(continuing value: UInt64) {
        self.value = value
    }

    /// The checksum of bytes alone.
    init(of bytes: UnsafeRawBufferPointer) {
        value = 0
        combine(bytes)
    }

    /// The checksum of bytes that continues another one.
    static func of(_ bytes: ArraySlice<UInt8>, continuing value: UInt64) -> UInt64 {
        var checksum = Checksum(continuing: value)
        bytes.withUnsafeBytes { checksum.combine($0) }
        return checksum.value
    }

    mutating func combine(_ word: UInt64) {
        value = (value ^ word) &* 0x9e37_79b9_7f4a_7c15
        value ^= value >> 32
    }

    mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        combine(UInt64(bytes.count))
        var offset = 0
        while bytes.count - offset >= 8 {
            combine(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        guard offset < bytes.count else { return }
        var last: UInt64 = 0
        for (position, byte) in bytes[offset...].enumerated() { last |= UInt64(byte) << UInt64(position * 8) }
        combine(last)
    }
}
