/// How the messages of one identifier are written: with which codec, and in which version of their type.
struct MessageType<Message: Sendable>: Sendable {
    let codec: MessageCodec<Message>
    let schema: UInt32

    /// The envelope of a message.
    func envelope(of message: Message, replyTo: String? = nil) throws(WormholeError) -> Envelope {
        do {
            return Envelope(
                codec: codec.name, schema: schema, replyTo: replyTo, content: .message(try codec.encode(message)))
        } catch {
            throw WormholeError(.encodingFailed, "A message cannot be written as \(codec.name): \(error)")
        }
    }

    /// The message in an envelope, or why it cannot be read.
    func message(in bytes: [UInt8]) -> Result<Message, Undecodable> {
        guard let envelope = Envelope(bytes) else { return .failure(Undecodable(.foreign, bytes)) }
        return message(in: envelope, bytes)
    }

    func message(in envelope: Envelope, _ bytes: [UInt8]) -> Result<Message, Undecodable> {
        guard case .message(let payload) = envelope.content else { return .failure(Undecodable(.foreign, bytes)) }
        guard envelope.schema <= schema else {
            return .failure(Undecodable(.newer(found: envelope.schema, known: schema), bytes))
        }
        guard envelope.codec == codec.name else {
            return .failure(Undecodable(.otherCodec(found: envelope.codec, expected: codec.name), bytes))
        }
        do {
            return .success(try codec.decode(payload))
        } catch {
            return .failure(Undecodable(.malformed("\(error)"), bytes))
        }
    }
}
