internal import CoreAPI

/// A hub's message to all subscribers: one frame. Its first bytes are the topic.
enum StreamMessage: Hashable {
    /// Recorded effects.
    case updates(Updates, incarnation: UInt64)
    /// The current revision, so that a loss is noticed even if no update follows it.
    case beacon(Revision, incarnation: UInt64)
    /// The echo of a subscription: the subscriber receives everything published from now on.
    case armed([UInt8])

    /// The topics of updates and of beacons. They sort before that of echoes, so that the library renews them first
    /// when it reconnects.
    static let updatesTopic = topic(of: .updates)
    static let beaconTopic = topic(of: .beacon)
    /// The topic of echoes, before the client's own bytes.
    static let armedTopic = UInt8(ascii: "J")
    /// The client's own bytes of an echo.
    static let armedByteCount = 16

    private enum Tag: UInt8 { case updates = 1, beacon }

    /// The first byte of updates and beacons.
    private static let changeTopic = UInt8(ascii: "E")

    private static func topic(of tag: Tag) -> [UInt8] { [changeTopic, Wire.version, tag.rawValue] }

    var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 64)
        switch self {
        case .updates(let updates, let incarnation):
            Self.updatesTopic.forEach { writer.byte($0) }
            writer.word(incarnation)
            updates.write(to: &writer)
        case .beacon(let revision, let incarnation):
            Self.beaconTopic.forEach { writer.byte($0) }
            writer.word(incarnation)
            writer.integer(revision.rawValue)
        case .armed(let mark):
            return [Self.armedTopic] + mark
        }
        return writer.bytes
    }

    /// Reads a message. The bytes are untrusted.
    init(_ bytes: [UInt8]) throws(SharedCoreError) {
        if bytes.first == Self.armedTopic {
            self = .armed(Array(bytes.dropFirst()))
            return
        }
        guard bytes.first == Self.changeTopic else { throw Wire.malformed("its topic is unknown") }
        self = try Wire.read(Array(bytes.dropFirst())) { reader in
            let tag = Tag(rawValue: try reader.byte())
            let incarnation = try reader.word()
            switch tag {
            case .updates: return .updates(try Updates(from: &reader), incarnation: incarnation)
            case .beacon: return .beacon(Revision(rawValue: try reader.integer()), incarnation: incarnation)
            case nil: throw ByteCodingError.malformed
            }
        }
    }
}
