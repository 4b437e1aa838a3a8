public import CoreAPI
public import Mailboxes

/// A mailbox that keeps the last message of one type: a new one replaces the one before.
///
/// Two identifiers with equal names are one mailbox, so all its users declare the same type and codec.
///
/// ```swift
/// extension MailboxID where Message == Position {
///     static let position = MailboxID("car/position")
/// }
/// ```
///
/// Source: contract M1.
public struct MailboxID<Message: Sendable>: Sendable {
    /// Any text. Names may look like paths, but are never used as paths.
    public let name: String
    /// The time that a message is kept.
    public let lifetime: Lifetime
    let type: MessageType<Message>

    /// Names a mailbox.
    ///
    /// - Parameters:
    ///   - name: Any text.
    ///   - codec: How messages become bytes.
    ///   - schema: The version of the message's type. A reader that knows a lower one does not try to read the message.
    ///   - lifetime: The time that a message is kept when it is not cleared.
    public init(
        _ name: String, codec: MessageCodec<Message>, schema: UInt32 = 1, lifetime: Lifetime = .persistent
    ) {
        self.name = name
        self.lifetime = lifetime
        self.type = MessageType(codec: codec, schema: schema)
    }
}

extension MailboxID where Message: Codable {
    /// Names a mailbox of messages that are written as JSON.
    public init(_ name: String, schema: UInt32 = 1, lifetime: Lifetime = .persistent) {
        self.init(name, codec: .json, schema: schema, lifetime: lifetime)
    }
}

/// A mailbox that keeps all messages of one type, in order, until each is acknowledged.
///
/// Two identifiers with equal names are one queue, so all its users declare the same type, codec and options.
///
/// Source: contract M1, M6.
public struct QueueID<Message: Sendable>: Sendable {
    /// Any text. Names may look like paths, but are never used as paths.
    public let name: String
    /// The retention of messages: how many, how long, and the reaction to a send to a full queue.
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

/// A kind of request: a queue of requests, each of which gets one reply.
public struct RequestID<Request: Sendable, Reply: Sendable>: Sendable {
    /// Any text.
    public let name: String
    let request: MessageType<Request>
    let reply: MessageType<Reply>

    /// Names a kind of request.
    ///
    /// - Parameters:
    ///   - name: Any text.
    ///   - codec: The codec of requests.
    ///   - replyCodec: The codec of replies.
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
    /// Names a kind of request in JSON.
    public init(_ name: String, schema: UInt32 = 1) {
        self.init(name, codec: .json, replyCodec: .json, schema: schema)
    }
}
