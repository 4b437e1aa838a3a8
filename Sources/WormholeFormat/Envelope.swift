internal import CoreAPI

/// The stored form of one message.
///
/// A byte that identifies the layout, then the codec's name, the schema, the key of the reply if one is wanted, and the
/// content. A later layout begins with another byte.
package struct Envelope: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case message([UInt8])
        /// Instead of a reply: the reason why there is none.
        case failure(String)
    }

    /// The first byte of an envelope of this layout. No JSON begins with it, because it is not ASCII.
    package static let mark: UInt8 = 0xe1

    /// The longest name of a codec, in bytes of UTF-8.
    package static let maximumCodecByteCount = 64

    /// The name of the codec of the content.
    package var codec: String
    /// The version of the type of the content.
    package var schema: UInt32
    /// The key at which the requester expects the reply.
    package var replyTo: String?
    package var content: Content

    package init(codec: String, schema: UInt32, replyTo: String? = nil, content: Content) {
        self.codec = codec
        self.schema = schema
        self.replyTo = replyTo
        self.content = content
    }

    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.byte(Self.mark)
        writer.text(codec)
        writer.halfWord(schema)
        writer.optional(replyTo) { writer, place in writer.text(place) }
        switch content {
        case .message(let payload):
            writer.byte(0)
            writer.data(payload)
        case .failure(let reason):
            writer.byte(1)
            writer.text(reason)
        }
        return writer.bytes
    }

    /// Reads an envelope; nil for bytes that are none of this layout.
    package init?(_ bytes: [UInt8]) {
        do throws(ByteCodingError) {
            try self.init(reading: bytes)
        } catch {
            return nil
        }
    }

    private init(reading bytes: [UInt8]) throws(ByteCodingError) {
        var reader = ByteReader(bytes)
        guard try reader.byte() == Self.mark else { throw .malformed }
        codec = try reader.text()
        guard codec.utf8.count <= Self.maximumCodecByteCount else { throw .malformed }
        schema = try reader.halfWord()
        replyTo = try reader.optional { reader throws(ByteCodingError) in try reader.text() }
        switch try reader.byte() {
        case 0: content = .message(try reader.data())
        case 1: content = .failure(try reader.text())
        default: throw .malformed
        }
        try reader.finish()
    }
}
