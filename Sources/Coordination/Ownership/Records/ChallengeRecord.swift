package import CoreAPI

/// The question whether a holder can still run.
package struct ChallengeRecord: StoredRecord {
    /// The creation revision of what it holds: of the owner entry, or of a request for hand-over.
    package var claim: Revision
    /// Where this repeats a challenge, in case its wake-up was lost: the commit of the first. An answer to it counts.
    package var first: Revision?

    package static let unreadable = ChallengeRecord(claim: .zero)
}

extension ChallengeRecord {
    package init(reading reader: inout ByteReader) throws(ByteCodingError) {
        claim = try reader.revision()
        first = try reader.optional { reader throws(ByteCodingError) in try reader.revision() }
    }

    package func write(into writer: inout ByteWriter) {
        writer.revision(claim)
        writer.optional(first) { $0.revision($1) }
    }
}
