package import CoreAPI

/// The payload of one frame: an effect, or a part of a snapshot.
package enum JournalRecord: Sendable {
    case effect(Effect)
    case snapshot(SnapshotPart)

    /// Reads a payload.
    ///
    /// - Parameters:
    ///   - payload: The bytes of a frame with a valid checksum. They are untrusted nevertheless.
    ///   - external: The source of the payload, if large values are to stay there.
    /// - Throws: ``SharedCoreError/Code/corrupt``.
    package init(_ payload: ArraySlice<UInt8>, external: ExternalValues? = nil) throws(SharedCoreError) {
        self = try RecordReader.read(payload, external: external, as: "journal record") {
            reader throws(ByteCodingError) in
            let tag = try reader.bytes.byte()
            return tag == RecordTag.effect ? .effect(try reader.effect()) : .snapshot(try reader.snapshotPart(tag))
        }
    }
}

extension Effect {
    /// Returns the payload of the effect's frame. External values are fetched.
    package func payload() throws(SharedCoreError) -> [UInt8] {
        var writer = RecordWriter()
        try writer.effect(self)
        return writer.bytes.bytes
    }
}

/// The first byte of a payload.
enum RecordTag {
    static let effect: UInt8 = 1
    static let snapshotBegin: UInt8 = 2
    static let snapshotEntries: UInt8 = 3
    static let snapshotSessions: UInt8 = 4
    static let snapshotTopics: UInt8 = 5
    static let snapshotEnd: UInt8 = 6
    static let snapshotDeliveries: UInt8 = 7
    static let snapshotHistory: UInt8 = 8
    static let snapshotForgottenNames: UInt8 = 9
    /// Names with a count that began above zero. The first count follows the other fields.
    static let snapshotLaterTopics: UInt8 = 10
}

/// One record of a snapshot. A snapshot is a begin, any number of the others, and an end.
package enum SnapshotPart: Sendable {
    /// The snapshot's revision.
    case begin(Revision)
    case entries([(key: Key, entry: StoredEntry)])
    case sessions([SessionState])
    case topics([(name: NotificationName, topic: TopicState)])
    /// The summary of the forgotten notification names.
    case forgottenNames(ForgottenNames)
    /// The outcomes of the last requests that a hub delivered for a session.
    case deliveries(SessionID, [SessionState.Delivery])
    /// The latest changes, in a snapshot for a remote replica.
    case history([CommittedChanges])
    case end
}
