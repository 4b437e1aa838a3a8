internal import WormholeFormat

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
