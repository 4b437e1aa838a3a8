internal import CoreAPI

/// A hub's message to all subscribers: one frame. Its first byte is the topic.
enum StreamMessage: Hashable {
    /// Recorded effects.
    case news(News, incarnation: UInt64)
    /// The current revision, so that a loss is noticed even if no update follows it.
    case beacon(Revision, incarnation: UInt64)
    /// The echo of a subscription: the subscriber receives everything published from now on.
    case armed([UInt8])

    /// The topic of updates and beacons. It sorts before that of echoes, so that the library renews it first when it
    /// reconnects.
    static let newsTopic = UInt8(ascii: "E")
    /// The topic of echoes, before the client's own bytes.
    static let armedTopic = UInt8(ascii: "J")
    /// The client's own bytes of an echo.
    static let armedByteCount = 16

    var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 64)
        switch self {
        case .news(let news, let incarnation):
            writer.byte(Self.newsTopic)
            writer.byte(Wire.version)
            writer.byte(1)
            writer.word(incarnation)
            news.write(to: &writer)
        case .beacon(let revision, let incarnation):
            writer.byte(Self.newsTopic)
            writer.byte(Wire.version)
            writer.byte(2)
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
        guard bytes.first == Self.newsTopic else { throw Wire.malformed("its topic is unknown") }
        self = try Wire.read(Array(bytes.dropFirst())) { reader in
            let tag = try reader.byte()
            let incarnation = try reader.word()
            switch tag {
            case 1: return .news(try News(from: &reader), incarnation: incarnation)
            case 2: return .beacon(Revision(rawValue: try reader.integer()), incarnation: incarnation)
            default: throw ByteCodingError.malformed
            }
        }
    }
}
