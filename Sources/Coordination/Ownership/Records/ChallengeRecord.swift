internal import ByteCoding
internal import CoreAPI

/// The question whether a holder can still run.
struct ChallengeRecord: StoredRecord {
    /// The creation revision of what it holds: of the owner entry, or of a request for hand-over.
    var claim: Revision
    /// Where this repeats a challenge, in case its wake-up was lost: the commit of the first. An answer to it counts.
    var first: Revision?

    static let unreadable = ChallengeRecord(claim: .zero)
}

extension ChallengeRecord {
    init(reading reader: inout ByteReader) throws(ByteCodingError) {
        claim = try reader.revision()
        first = try reader.optional { reader throws(ByteCodingError) in try reader.revision() }
    }

    func write(into writer: inout ByteWriter) {
        writer.revision(claim)
        writer.optional(first) { $0.revision($1) }
    }
}
