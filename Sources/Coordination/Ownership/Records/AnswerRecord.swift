internal import ByteCoding
internal import CoreAPI

/// A holder's proof that it runs. Lives with its session.
struct AnswerRecord: StoredRecord {
    /// What it holds.
    var claim: Revision
    /// The commit of the challenge that it answers.
    var challenge: Revision

    static let unreadable = AnswerRecord(claim: .zero, challenge: .zero)
}

extension AnswerRecord {
    init(reading reader: inout ByteReader) throws(ByteCodingError) {
        claim = try reader.revision()
        challenge = try reader.revision()
    }

    func write(into writer: inout ByteWriter) {
        writer.revision(claim)
        writer.revision(challenge)
    }
}
