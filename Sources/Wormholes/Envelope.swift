internal import CoreAPI

/// The stored form of one message.
///
/// A byte that identifies the layout, then the codec's name, the schema, the key of the reply if one is wanted, and the
/// content. A later layout begins with another byte.
struct Envelope: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        case message([UInt8])
        /// Instead of a reply: the reason why there is none.
        case failure(String)
    }

    /// The first byte of an envelope of this layout. No text begins with it.
    static let mark: UInt8 = 0xe1

    var codec: String
    var schema: UInt32
    /// The key at which the requester expects the reply.
    var replyTo: String?
    var content: Content

    init(codec: String, schema: UInt32, replyTo: String? = nil, content: Content) {
        self.codec = codec
        self.schema = schema
        self.replyTo = replyTo
        self.content = content
    }

    var bytes: [UInt8] {
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

    /// Returns nil for bytes that are no envelope.
    init?(_ bytes: [UInt8]) {
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
        guard codec.utf8.count <= MessageCodec<[UInt8]>.maximumNameByteCount else { throw .malformed }
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

/// The encoding of the messages of one identifier: the codec, and the version of their type.
struct MessageType<Message: Sendable>: Sendable {
    let codec: MessageCodec<Message>
    let schema: UInt32

    /// Returns the envelope of a message.
    func envelope(of message: Message, replyTo: String? = nil) throws(WormholeError) -> Envelope {
        do {
            return Envelope(
                codec: codec.name, schema: schema, replyTo: replyTo, content: .message(try codec.encode(message)))
        } catch {
            throw WormholeError(.encodingFailed, "A message cannot be written as \(codec.name): \(error)")
        }
    }

    /// Returns the message in an envelope, or the reason why it cannot be read.
    func message(in bytes: [UInt8]) -> Result<Message, DecodingFailure> {
        guard let envelope = Envelope(bytes) else { return .failure(DecodingFailure(.foreign, bytes)) }
        return message(in: envelope, bytes)
    }

    func message(in envelope: Envelope, _ bytes: [UInt8]) -> Result<Message, DecodingFailure> {
        guard case .message(let payload) = envelope.content else { return .failure(DecodingFailure(.foreign, bytes)) }
        guard envelope.schema <= schema else {
            return .failure(DecodingFailure(.newer(found: envelope.schema, known: schema), bytes))
        }
        guard envelope.codec == codec.name else {
            return .failure(DecodingFailure(.otherCodec(found: envelope.codec, expected: codec.name), bytes))
        }
        do {
            return .success(try codec.decode(payload))
        } catch {
            return .failure(DecodingFailure(.malformed("\(error)"), bytes))
        }
    }
}
