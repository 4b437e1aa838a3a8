public import CoreAPI

/// A mailbox that keeps the last message of one type: a new one replaces the one before.
///
/// Two identifiers with equal names are one mailbox, so all who use it declare the same type and codec.
///
/// ```swift
/// extension MailboxID where Message == Position {
///     static let position = MailboxID("car/position")
/// }
/// ```
///
/// Source: contract M1.
public struct MailboxID<Message: Sendable>: Sendable {
    /// Any text. Names may look like paths; they are never taken for any.
    public let name: String
    /// How long a message is kept.
    public let lifetime: Lifetime
    let type: MessageType<Message>

    /// Names a mailbox.
    ///
    /// - Parameters:
    ///   - name: Any text.
    ///   - codec: How messages become bytes.
    ///   - schema: The version of the message's type. A reader that knows a lower one does not try to read the message.
    ///   - lifetime: How long a message is kept when nobody clears it.
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
