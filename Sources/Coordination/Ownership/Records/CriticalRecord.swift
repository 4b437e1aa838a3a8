internal import ByteCoding
internal import CoreAPI

/// A section of an owner's work that a hand-over lets it finish. Lives with the owner's session.
struct CriticalRecord: StoredRecord {
    /// The ownership under which it was entered.
    var epoch: Revision
    /// How long it may hold up a hand-over.
    var bound: Duration

    static let unreadable = CriticalRecord(epoch: .zero, bound: .zero)
}

extension CriticalRecord {
    init(reading reader: inout ByteReader) throws(ByteCodingError) {
        epoch = try reader.revision()
        bound = try reader.duration()
    }

    func write(into writer: inout ByteWriter) {
        writer.revision(epoch)
        writer.duration(bound)
    }
}
