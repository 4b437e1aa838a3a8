internal import CoreAPI

/// A hub's answer as received: the reply, and the records behind it, which stay in the frame until they are read.
struct Answer {
    let reply: Reply
    let records: Records

    /// The maximum size of a reply that has records behind it, in bytes.
    private static let headByteCount = 64 << 10

    /// Reads the reply. The bytes are untrusted.
    init(_ frame: ReceivedFrame) throws(SharedCoreError) {
        guard frame.isWholeMessage else { throw Wire.malformed("it is not one frame") }
        let tag = frame.bytes(in: 1..<2).first
        let count = tag.map(Reply.hasRecords) == true ? min(frame.byteCount, Self.headByteCount) : frame.byteCount
        var offset: Int?
        reply = try Reply(frame.bytes(in: 0..<count), recordsOffset: &offset)
        records = Records(frame: frame, offset: offset ?? frame.byteCount)
    }

    /// The records of a state, of its history or of a view of it.
    struct Records {
        fileprivate let frame: ReceivedFrame
        fileprivate let offset: Int

        /// Reads the records one after the other; only the current one is copied.
        ///
        /// - Throws: ``SharedCoreError/Code/corrupt`` where the frame does not consist of records, and what `body` throws.
        func forEach(_ body: ([UInt8]) throws(SharedCoreError) -> Void) throws(SharedCoreError) {
            var offset = offset
            while offset < frame.byteCount {
                // A count has ten bytes at most.
                var reader = ByteReader(frame.bytes(in: offset..<min(offset + 10, frame.byteCount)))
                guard let count = (try? reader.integer()).flatMap({ Int(exactly: $0) }) else {
                    throw Wire.malformed("the boundaries of its records are invalid")
                }
                offset += reader.position
                guard count <= frame.byteCount - offset else {
                    throw Wire.malformed("a record exceeds its bytes")
                }
                try body(frame.bytes(in: offset..<offset + count))
                offset += count
            }
        }
    }
}
