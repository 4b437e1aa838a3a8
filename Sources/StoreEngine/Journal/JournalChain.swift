/// The framing of a journal: each payload behind a header, and a chain over the headers (decision 30).
///
/// The chain begins with the journal's own salt, so a frame of an older file in the same place, or one moved to another
/// place, is rejected.
public struct JournalChain: Hashable, Sendable {
    /// How frames are written.
    public enum Framing: Hashable, Sendable {
        /// With a `FrameHeader`.
        case headed
        /// With 8 bytes of length and 8 bytes of chain word, which covers the payload: used until layout 3. Such frames
        /// are only read.
        case plain

        fileprivate var headerByteCount: Int {
            switch self {
            case .headed: FrameHeader.byteCount
            case .plain: 16
            }
        }
    }

    /// The bytes of the header in front of a written payload.
    public static let headerByteCount = FrameHeader.byteCount
    /// The longest payload: a transaction of the largest size with space for its framing.
    public static let maximumPayloadByteCount = 16 << 20

    /// The chain word of the last frame, or the salt.
    public private(set) var value: UInt64
    private let framing: Framing

    /// Creates a chain that begins with `salt`, or continues another one from its value.
    public init(salt: UInt64, framing: Framing = .headed) {
        value = salt
        self.framing = framing
    }

    /// Returns the next frame of the chain.
    ///
    /// - Parameters:
    ///   - payload: The bytes of the record.
    ///   - interest: The processes to which the record may be relevant, as a mask.
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
        /// The bytes end within the frame; the frame has at least this many bytes.
        case incomplete(byteCount: Int)
        /// Not a frame of this chain.
        case damaged
    }

    /// Reads the frame at the front of `bytes`, and advances past it if it is whole and undamaged.
    public mutating func read(_ bytes: ArraySlice<UInt8>) -> Reading {
        let headerByteCount = framing.headerByteCount
        guard bytes.count >= headerByteCount else { return .incomplete(byteCount: headerByteCount) }
        let header =
            switch framing {
            case .headed: FrameHeader(bytes)
            case .plain: FrameHeader(plain: bytes)
            }
        guard header.length <= UInt64(Self.maximumPayloadByteCount) else { return .damaged }
        // Checked before the payload is available: the headers alone prove their order.
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

/// The header of a record in a journal: four words, little-endian.
package struct FrameHeader: Hashable, Sendable {
    package static let byteCount = 32
    /// The distance of the chain word from the payload behind it, in every version of the layout.
    package static let chainWordDistance = 8

    /// The bytes of the payload.
    let length: UInt64
    /// The processes to which the record may be relevant: a bit for each 64th of the names that processes listen to.
    /// For a process that has set none of these bits, the payload contains nothing to deliver.
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
    fileprivate init(plain bytes: ArraySlice<UInt8>) {
        (length, chainWord) = bytes.withUnsafeBytes { raw in (Self.word(0, of: raw), Self.word(1, of: raw)) }
        interest = .max
        payloadChecksum = chainWord
    }

    /// Returns whether the header is the next one after a chain word.
    func follows(_ chainWord: UInt64) -> Bool {
        Self.chainWord(after: chainWord, length, interest, payloadChecksum) == self.chainWord
    }

    fileprivate func write(to raw: UnsafeMutableRawBufferPointer) {
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
