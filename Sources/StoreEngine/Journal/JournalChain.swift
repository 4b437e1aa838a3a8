/// The framing of a journal: each payload with its length and a checksum that continues the one before.
///
/// A frame is 4 bytes of length, 4 bytes that are zero, 8 bytes of checksum, all little-endian, then the payload. The
/// chain begins with a salt of the journal's own, so a frame that was left by an older file in the same place, or that
/// stands at another place than where it was written, does not pass.
public struct JournalChain: Hashable, Sendable {
    /// The bytes in front of a payload.
    public static let headerByteCount = 16
    /// The longest payload: a transaction of the largest size with room for what is around it.
    public static let maximumPayloadByteCount = 16 << 20

    /// The checksum of the last frame, or the salt.
    public private(set) var value: UInt64

    /// A chain that begins with `salt`, or goes on from the value of another.
    public init(salt: UInt64) {
        value = salt
    }

    /// The next frame of the chain.
    public mutating func frame(_ payload: [UInt8]) -> [UInt8] {
        payload.withUnsafeBytes { value = Self.checksum($0, after: value) }
        return [UInt8](unsafeUninitializedCapacity: Self.headerByteCount + payload.count) { buffer, count in
            let raw = UnsafeMutableRawBufferPointer(buffer)
            raw.storeBytes(of: UInt64(payload.count).littleEndian, toByteOffset: 0, as: UInt64.self)
            raw.storeBytes(of: value.littleEndian, toByteOffset: 8, as: UInt64.self)
            UnsafeMutableRawBufferPointer(rebasing: raw[Self.headerByteCount...]).copyBytes(from: payload)
            count = Self.headerByteCount + payload.count
        }
    }

    /// What stands at a place of a journal.
    public enum Reading: Hashable, Sendable {
        /// A whole frame: the range of its payload. The next frame begins at the range's end.
        case frame(Range<Int>)
        /// The bytes end before the frame does; it has this many bytes in all, or at least as many.
        case incomplete(byteCount: Int)
        /// Not a frame of this chain.
        case damaged
    }

    /// Reads the frame at the front of `bytes`, and goes on to it when it is whole and unharmed.
    public mutating func read(_ bytes: ArraySlice<UInt8>) -> Reading {
        guard bytes.count >= Self.headerByteCount else { return .incomplete(byteCount: Self.headerByteCount) }
        let (length, stored) = bytes.withUnsafeBytes { raw in
            (
                UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        guard length <= UInt64(Self.maximumPayloadByteCount) else { return .damaged }
        let frameByteCount = Self.headerByteCount + Int(length)
        guard bytes.count >= frameByteCount else { return .incomplete(byteCount: frameByteCount) }
        let payload = bytes.startIndex + Self.headerByteCount..<bytes.startIndex + frameByteCount
        let computed = bytes[payload].withUnsafeBytes { Self.checksum($0, after: value) }
        guard computed == stored else { return .damaged }
        value = computed
        return .frame(payload)
    }

    private static func checksum(_ payload: UnsafeRawBufferPointer, after value: UInt64) -> UInt64 {
        var checksum = Checksum(continuing: value)
        checksum.combine(payload)
        return checksum.value
    }
}
