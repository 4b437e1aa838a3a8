/// Something that can be asked for: a queue of requests, each of which gets one reply.
public struct RequestID<Request: Sendable, Reply: Sendable>: Sendable {
    /// Any text.
    public let name: String
    let request: MessageType<Request>
    let reply: MessageType<Reply>

    /// Names what can be asked for.
    ///
    /// - Parameters:
    ///   - name: Any text.
    ///   - codec: How requests become bytes.
    ///   - replyCodec: How replies do.
    ///   - schema: The version of both types.
    public init(
        _ name: String, codec: MessageCodec<Request>, replyCodec: MessageCodec<Reply>, schema: UInt32 = 1
    ) {
        self.name = name
        self.request = MessageType(codec: codec, schema: schema)
        self.reply = MessageType(codec: replyCodec, schema: schema)
    }
}

extension RequestID where Request: Codable, Reply: Codable {
    /// Names what can be asked for in JSON.
    public init(_ name: String, schema: UInt32 = 1) {
        self.init(name, codec: .json, replyCodec: .json, schema: schema)
    }
}
