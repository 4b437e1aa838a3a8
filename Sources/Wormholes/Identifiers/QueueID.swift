public import Mailboxes

/// A mailbox that keeps all messages of one type, in their order, until each is acknowledged.
///
/// Two identifiers with equal names are one queue, so all who use it declare the same type, codec and options.
///
/// Source: contract M1, M6.
public struct QueueID<Message: Sendable>: Sendable {
    /// Any text. Names may look like paths; they are never taken for any.
    public let name: String
    /// How messages are kept: how many, how long, and what a send does when there is no room.
    public let options: QueueOptions
    let type: MessageType<Message>

    /// Names a queue.
    ///
    /// - Parameters:
    ///   - name: Any text.
    ///   - codec: How messages become bytes.
    ///   - schema: The version of the message's type. A reader that knows a lower one does not try to read the message.
    ///   - options: How messages are kept.
    public init(
        _ name: String, codec: MessageCodec<Message>, schema: UInt32 = 1, options: QueueOptions = QueueOptions()
    ) {
        self.name = name
        self.options = options
        self.type = MessageType(codec: codec, schema: schema)
    }
}

extension QueueID where Message: Codable {
    /// Names a queue of messages that are written as JSON.
    public init(_ name: String, schema: UInt32 = 1, options: QueueOptions = QueueOptions()) {
        self.init(name, codec: .json, schema: schema, options: options)
    }
}
