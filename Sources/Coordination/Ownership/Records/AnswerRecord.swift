package import CoreAPI

/// A holder's proof that it runs. Lives with its session.
package struct AnswerRecord: StoredRecord {
    /// What it holds.
    package var claim: Revision
    /// The commit of the challenge that it answers.
    package var challenge: Revision

    package static let unreadable = AnswerRecord(claim: .zero, challenge: .zero)
}

extension AnswerRecord {
    package init(reading reader: inout ByteReader) throws(ByteCodingError) {
        claim = try reader.revision()
        challenge = try reader.revision()
    }

    package func write(into writer: inout ByteWriter) {
        writer.revision(claim)
        writer.revision(challenge)
    }
}
