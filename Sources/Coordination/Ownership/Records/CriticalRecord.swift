package import CoreAPI

/// A section of an owner's work that a hand-over lets it finish. Lives with the owner's session.
package struct CriticalRecord: StoredRecord {
    /// The ownership under which it was entered.
    package var epoch: Revision
    /// How long it may hold up a hand-over.
    package var bound: Duration

    package init(epoch: Revision, bound: Duration) {
        self.epoch = epoch
        self.bound = bound
    }

    package static let unreadable = CriticalRecord(epoch: .zero, bound: .zero)
}

extension CriticalRecord {
    package init(reading reader: inout ByteReader) throws(ByteCodingError) {
        epoch = try reader.revision()
        bound = try reader.duration()
    }

    package func write(into writer: inout ByteWriter) {
        writer.revision(epoch)
        writer.duration(bound)
    }
}
