/// The framing of a journal: each payload behind a header, and a chain over the headers (decision 30).
///
/// The chain begins with the journal's own salt, so a frame of an older file in the same place, or one moved to another
/// place, is rejected.
package struct JournalChain: Hashable, Sendable {
    /// How frames are written.
    package enum Framing: Hashable, Sendable {
        /// With a `FrameHeader`.
        case headed
        /// A header of 8 bytes of length and 8 bytes of chain word, which covers the payload. Layouts up to 3 use it;
        /// it is read, but no longer written.
        case plain

        fileprivate var headerByteCount: Int {
            switch self {
            case .headed: FrameHeader.byteCount
            case .plain: 16
            }
        }
    }

    /// The bytes of the header in front of a written payload.
    package static let headerByteCount = FrameHeader.byteCount
    /// The longest payload: a transaction of the largest size with space for its framing.
    package static let maximumPayloadByteCount = 16 << 20

    /// The chain word of the last frame, or the salt.
    package private(set) var value: UInt64
    private let framing: Framing

    /// Creates a chain that begins with `salt`, or continues another one from its value.
    package init(salt: UInt64, framing: Framing = .headed) {
        value = salt
        self.framing = framing
    }

    /// Returns the next frame of the chain.
    ///
    /// - Parameters:
    ///   - payload: The bytes of the record.
    ///   - interest: The processes to which the record may be relevant, as a mask.
    package mutating func frame(_ payload: [UInt8], interest: UInt64) -> [UInt8] {
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
    package enum Reading: Hashable, Sendable {
        /// A whole frame: the range of its payload. The next frame begins at the range's end.
        case frame(Range<Int>)
        /// The bytes end within the frame; the frame has at least this many bytes.
        case incomplete(byteCount: Int)
        /// Not a frame of this chain.
        case damaged
    }

    /// Reads the frame at the front of `bytes`, and advances past it if it is whole and undamaged.
    package mutating func read(_ bytes: ArraySlice<UInt8>) -> Reading {
        let headerByteCount = framing.headerByteCount
        guard bytes.count >= headerByteCount else { return .incomplete(byteCount: headerByteCount) }
        let header =
            switch framing {
            case .headed: FrameHeader(bytes)
            case .plain: FrameHeader(plain: bytes)
            }
        guard header.length <= UInt64(Self.maximumPayloadByteCount) else { return .damaged }
        // Check the header before the payload is complete: the headers alone prove their order.
        if framing == .headed, !header.follows(value) { return .damaged }
        let frameByteCount = headerByteCount + Int(header.length)
        guard bytes.count >= frameByteCount else { return .incomplete(byteCount: frameByteCount) }
        let payload = bytes.startIndex + headerByteCount..<bytes.startIndex + frameByteCount
        // In a plain frame, one word is both the payload checksum and the chain word.
        let start = framing == .headed ? 0 : value
        guard Checksum.of(bytes[payload], continuing: start) == header.payloadChecksum else { return .damaged }
        value = header.chainWord
        return .frame(payload)
    }

    /// Advances past the frame at the front of `bytes`, which has a damaged payload, using only its header.
    ///
    /// - Returns: The range of its payload, which may extend beyond `bytes`; nil if the header is not of this chain,
    ///   and always for plain frames.
    package mutating func passHeader(_ bytes: ArraySlice<UInt8>) -> Range<Int>? {
        guard framing == .headed, bytes.count >= FrameHeader.byteCount else { return nil }
        let header = FrameHeader(bytes)
        guard header.length <= UInt64(Self.maximumPayloadByteCount), header.follows(value) else { return nil }
        value = header.chainWord
        let start = bytes.startIndex + FrameHeader.byteCount
        return start..<start + Int(header.length)
    }
}
