/// The header of a record in a journal: four words, little-endian.
package struct FrameHeader: Hashable, Sendable {
    package static let byteCount = 32
    /// How many bytes before the payload the chain word begins, in every version of the layout.
    package static let chainWordDistance = 8

    /// The bytes of the payload.
    let length: UInt64
    /// Which processes the record may concern, as a mask: each bit stands for a 64th of the wake channels. A process
    /// that listens to no channel of these bits has nothing to deliver from the payload.
    package let interest: UInt64
    /// The checksum of the payload alone.
    let payloadChecksum: UInt64
    /// The checksum of the words above, which continues the chain word of the preceding frame.
    let chainWord: UInt64

    /// Creates the header of the frame that follows a chain word.
    init(of payload: [UInt8], interest: UInt64, after chainWord: UInt64) {
        length = UInt64(payload.count)
        self.interest = interest
        payloadChecksum = Checksum.of(payload[...], continuing: 0)
        self.chainWord = Self.chainWord(after: chainWord, length, interest, payloadChecksum)
    }

    /// Reads the header at the front of bytes, which must be long enough.
    package init(_ bytes: ArraySlice<UInt8>) {
        (length, interest, payloadChecksum, chainWord) = bytes.withUnsafeBytes { raw in
            (Self.word(0, of: raw), Self.word(1, of: raw), Self.word(2, of: raw), Self.word(3, of: raw))
        }
    }

    /// Reads the header of a frame of layout 3.
    init(plain bytes: ArraySlice<UInt8>) {
        (length, chainWord) = bytes.withUnsafeBytes { raw in (Self.word(0, of: raw), Self.word(1, of: raw)) }
        interest = .max
        payloadChecksum = chainWord
    }

    /// Returns whether the header is the next one after a chain word.
    func follows(_ chainWord: UInt64) -> Bool {
        Self.chainWord(after: chainWord, length, interest, payloadChecksum) == self.chainWord
    }

    func write(to raw: UnsafeMutableRawBufferPointer) {
        raw.storeBytes(of: length.littleEndian, toByteOffset: 0, as: UInt64.self)
        raw.storeBytes(of: interest.littleEndian, toByteOffset: 8, as: UInt64.self)
        raw.storeBytes(of: payloadChecksum.littleEndian, toByteOffset: 16, as: UInt64.self)
        raw.storeBytes(of: chainWord.littleEndian, toByteOffset: 24, as: UInt64.self)
    }

    private static func word(_ index: Int, of raw: UnsafeRawBufferPointer) -> UInt64 {
        UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
    }

    private static func chainWord(
        after chainWord: UInt64, _ length: UInt64, _ interest: UInt64, _ payloadChecksum: UInt64
    ) -> UInt64 {
        var checksum = Checksum(continuing: chainWord)
        checksum.combine(length)
        checksum.combine(interest)
        checksum.combine(payloadChecksum)
        return checksum.value
    }
}

/// The checksum of payloads, headers and values in a journal: 64 bits, taken a word at a time.
///
/// Each step is a bijection of the running value for a given word, so a change within one word is always noticed; any
/// other change passes with a chance of 2^-64. It guards against damage, not against an adversary.
struct Checksum: Hashable, Sendable {
    private(set) var value: UInt64

    init(continuing value: UInt64) {
        self.value = value
    }

    /// Creates the checksum of bytes.
    init(of bytes: UnsafeRawBufferPointer) {
        value = 0
        combine(bytes)
    }

    /// Returns the checksum of bytes that continues another one.
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
