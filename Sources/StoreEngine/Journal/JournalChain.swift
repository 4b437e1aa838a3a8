/// The framing of a journal: each payload behind a header, and a chain over the headers (decision 30).
///
/// The chain begins with a salt of the journal's own, so a frame that was left by an older file in the same place, or
/// that stands at another place than where it was written, does not pass.
public struct JournalChain: Hashable, Sendable {
    /// How frames are written.
    public enum Framing: Hashable, Sendable {
        /// With a `FrameHeader`.
        case headed
        /// With 8 bytes of length and 8 bytes of chain word, which covers the payload: until layout 3. Such frames are
        /// only read.
        case plain

        fileprivate var headerByteCount: Int {
            switch self {
            case .headed: FrameHeader.byteCount
            case .plain: 16
            }
        }
    }

    /// The bytes in front of a payload that is written.
    public static let headerByteCount = FrameHeader.byteCount
    /// The longest payload: a transaction of the largest size with space for its framing.
    public static let maximumPayloadByteCount = 16 << 20

    /// The chain word of the last frame, or the salt.
    public private(set) var value: UInt64
    private let framing: Framing

    /// A chain that begins with `salt`, or goes on from the value of another.
    public init(salt: UInt64, framing: Framing = .headed) {
        value = salt
        self.framing = framing
    }

    /// Returns the next frame of the chain.
    ///
    /// - Parameters:
    ///   - payload: The bytes of the record.
    ///   - interest: Which processes the record can interest.
    public mutating func frame(_ payload: [UInt8], interest: UInt64) -> [UInt8] {
        let header = FrameHeader(of: payload, interest: interest, after: value)
        value = header.chainWord
        return [UInt8](unsafeUninitializedCapacity: FrameHeader.byteCount + payload.count) { buffer, count in
            let raw = UnsafeMutableRawBufferPointer(buffer)
            header.write(to: raw)
            UnsafeMutableRawBufferPointer(rebasing: raw[FrameHeader.byteCount...]).copyBytes(from: payload)
            count = FrameHeader.byteCount + payload.count
        }
    }

    /// The content at an offset of a journal.
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
        let headerByteCount = framing.headerByteCount
        guard bytes.count >= headerByteCount else { return .incomplete(byteCount: headerByteCount) }
        let header =
            switch framing {
            case .headed: FrameHeader(bytes)
            case .plain: FrameHeader(plain: bytes)
            }
        guard header.length <= UInt64(Self.maximumPayloadByteCount) else { return .damaged }
        // Before the payload is there: the headers alone prove their order.
        if framing == .headed, !header.follows(value) { return .damaged }
        let frameByteCount = headerByteCount + Int(header.length)
        guard bytes.count >= frameByteCount else { return .incomplete(byteCount: frameByteCount) }
        let payload = bytes.startIndex + headerByteCount..<bytes.startIndex + frameByteCount
        // Of a plain frame the one word is both.
        let start = framing == .headed ? 0 : value
        guard Checksum.of(bytes[payload], continuing: start) == header.payloadChecksum else { return .damaged }
        value = header.chainWord
        return .frame(payload)
    }

    /// Goes on to the frame at the front of `bytes` by its header alone, whose payload is damaged.
    ///
    /// - Returns: The range of its payload, of which the bytes need not be there; nil where the header is not one of
    ///   this chain, and always where frames have none.
    package mutating func passHeader(_ bytes: ArraySlice<UInt8>) -> Range<Int>? {
        guard framing == .headed, bytes.count >= FrameHeader.byteCount else { return nil }
        let header = FrameHeader(bytes)
        guard header.length <= UInt64(Self.maximumPayloadByteCount), header.follows(value) else { return nil }
        value = header.chainWord
        let start = bytes.startIndex + FrameHeader.byteCount
        return start..<start + Int(header.length)
    }
}
