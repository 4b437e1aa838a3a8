internal import CoreAPI
package import Mailboxes

/// A message that a core received. Every participant may ask for it.
///
/// Source: contract C20, C21.
public struct InboxMessage: Hashable, Sendable {
    /// The identity that distinguishes it from all other messages.
    public let id: MessageID
    /// The content.
    public let content: Content

    public init(id: MessageID, content: Content) {
        self.id = id
        self.content = content
    }

    /// Makes a message with its call-id as its identity.
    public init(callID: CallID, content: Content) {
        self.init(id: MessageID(callID), content: content)
    }

    /// The identifier that its push announced.
    public var callID: CallID { id.callID }
}

extension InboxMessage {
    /// The kind of a message: one of those below, or a name of the application's own. New ones may be added.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// 1 to 64 of `a-z`, `0-9`, `-` and `.`.
        public let name: String

        /// Makes a kind of the application's own; nil when `name` breaks its rule.
        public init?(_ name: String) {
            guard Push.isType(name) else { return nil }
            self.name = name
        }

        private init(standard name: String) {
            self.name = name
        }

        public var description: String { name }

        /// A text.
        public static let text = Kind(standard: "text")
        /// An invitation to a chat room.
        public static let invitation = Kind(standard: "invitation")
        /// A message that is larger than the inbox can hold. It stays where the core found it.
        public static let tooLarge = Kind(standard: "too-large")
        /// A message with nothing to show to a user, such as a delivery report. It ends the wait for its identity, and
        /// its content is not kept.
        public static let nothing = Kind(standard: "nothing")
        /// A message that a later version stored in a form that this one cannot read. Only its sender and its text are
        /// known.
        public static let other = Kind(standard: "other")
    }

    /// The content of a message. All of it comes from outside.
    ///
    /// ```swift
    /// var content = InboxMessage.Content(kind: .text, sender: "sip:ann@example.org", recipient: "sip:bob@example.org", text: "Tea?")
    /// content.conversation = "tea-club"
    /// try await context.deliver(InboxMessage(callID: callID, content: content))
    /// ```
    ///
    /// Read ``kind`` with a `default`: a program that does not know a kind shows the sender and the text.
    ///
    /// Source: contract C20.
    public struct Content: Hashable, Sendable {
        /// The kind of the message.
        public var kind: Kind
        /// The user that sent it, or invites.
        public var sender: String
        /// The address of its recipient.
        public var recipient: String
        /// The text for a person: the subject of an invitation; for an application's own kind, a sentence to show in
        /// programs that do not know the kind.
        public var text: String
        /// The account that received the message, at most 256 bytes.
        public var account: String?
        /// The conversation that it belongs to, at most 512 bytes.
        public var conversation: String?
        /// The time that the sender stated, since the beginning of 1970. Any time within 2^53 milliseconds before or
        /// after that is accepted, and is not compared with the local clock.
        public var time: Duration?
        /// The content type (RFC 2045) of the body; without a body, the type of the source of the text. At most 256
        /// bytes.
        public var contentType: String?
        /// The application's data, beside the text.
        public var body: [UInt8]
        /// Further values that the application keeps with the message: at most 32, with names as a ``Kind`` has them,
        /// and values of at most 1,024 bytes.
        public var fields: [String: String]

        public init(
            kind: Kind, sender: String = "", recipient: String = "", text: String = "", contentType: String? = nil,
            body: [UInt8] = [], account: String? = nil, conversation: String? = nil, time: Duration? = nil,
            fields: [String: String] = [:]
        ) {
            self.kind = kind
            self.sender = sender
            self.recipient = recipient
            self.text = text
            self.contentType = contentType
            self.body = body
            self.account = account
            self.conversation = conversation
            self.time = time
            self.fields = fields
        }

        /// Makes a text message.
        public static func text(from sender: String, to recipient: String, text: String) -> Content {
            Content(kind: .text, sender: sender, recipient: recipient, text: text)
        }

        /// Makes an invitation to a chat room, from the inviting user, the subject and the address of the invited user.
        /// The call-id of its message is the conference address.
        public static func invitation(from sender: String, subject: String, localAddress: String) -> Content {
            Content(kind: .invitation, sender: sender, recipient: localAddress, text: subject)
        }

        /// Makes the notice of a message that is larger than the inbox can hold.
        public static func tooLarge(from sender: String, to recipient: String) -> Content {
            Content(kind: .tooLarge, sender: sender, recipient: recipient)
        }

        /// A message with nothing to show to a user.
        public static let nothingToShow = Content(kind: .nothing)
    }
}

extension InboxMessage.Content {
    /// The maximum size of an account and of a content type, in bytes.
    package static let maximumLineByteCount = 256
    static let maximumConversationByteCount = 512
    static let maximumFieldCount = 32
    static let maximumFieldByteCount = 1_024
    /// The range of times, in milliseconds, that every JSON parser represents exactly: 53 bits.
    static let times = Duration.milliseconds(-(1 << 53))...Duration.milliseconds(1 << 53)

    /// The rule that a value breaks, as a sentence; nil when none does.
    package var problem: String? {
        let lines = [
            ("An account", account, Self.maximumLineByteCount),
            ("A content type", contentType, Self.maximumLineByteCount),
            ("A conversation", conversation, Self.maximumConversationByteCount),
        ]
        for case (let name, let line?, let maximum) in lines where !Self.isLine(line, upTo: maximum) {
            return "\(name) is at most \(maximum) bytes without control characters."
        }
        if let time, !Self.times.contains(time) {
            return "A time is at most 2^53 milliseconds before or after the beginning of 1970."
        }
        guard fields.count <= Self.maximumFieldCount else {
            return "A message has at most \(Self.maximumFieldCount) fields."
        }
        guard fields.keys.allSatisfy({ Push.isType($0) }) else {
            return "The name of a field is 1 to \(Push.maximumTypeByteCount) of a-z, 0-9, “-” and “.”."
        }
        guard fields.values.allSatisfy({ $0.utf8.count <= Self.maximumFieldByteCount }) else {
            return "The value of a field is at most \(Self.maximumFieldByteCount) bytes."
        }
        return nil
    }

    /// Returns true if `text` may be an account, a conversation or a content type.
    package static func isLine(_ text: String, upTo maximum: Int) -> Bool {
        text.utf8.count <= maximum && !UTF8Bytes.hasControl(text)
    }
}

/// The identity of a message: the call-id that its push announces, and a sequence that distinguishes messages of one
/// call-id.
///
/// Source: contract C21.
public struct MessageID: Hashable, Sendable, CustomStringConvertible {
    /// The identifier that its push announced.
    public let callID: CallID
    /// The part that distinguishes messages of one call-id, such as the number of a SIP request's CSeq; nil if the
    /// call-id is unique.
    public let sequence: String?

    /// Makes an identity from a call-id alone.
    public init(_ callID: CallID) {
        self.callID = callID
        sequence = nil
    }

    /// Returns nil when `sequence` is not 1 to 64 of `A-Z`, `a-z`, `0-9`, `-`, `.` and `_`.
    public init?(_ callID: CallID, sequence: String) {
        guard (1...64).contains(sequence.utf8.count), sequence.utf8.allSatisfy(Self.isOfSequence) else { return nil }
        self.callID = callID
        self.sequence = sequence
    }

    /// Returns true if a wait for one of two identities is a wait for the other: the call-ids are equal, and the
    /// sequences are equal or one has none.
    public func matches(_ other: MessageID) -> Bool {
        callID == other.callID && Self.matches(sequence, other.sequence)
    }

    public var description: String { sequence.map { "\(callID) \($0)" } ?? callID.text }

    static func matches(_ sequence: String?, _ other: String?) -> Bool {
        sequence == nil || other == nil || sequence == other
    }

    private static func isOfSequence(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension MessageID {
    /// The item of the inbox. The item of an identity with a sequence is below the item of its call-id.
    package var item: ItemName {
        let call = ItemName(callID.text)
        return sequence.map { ItemName(part: call.text + "/" + $0) } ?? call
    }
}

extension ItemName {
    /// The item of the call-id alone, and the sequence below it.
    package var parts: (call: ItemName, sequence: String?) {
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else { return (self, nil) }
        return (ItemName(part: text[..<slash]), String(text[text.index(after: slash)...]))
    }
}

/// The name under which a push announces a message and the core delivers it: a Call-ID, a Message-ID, or the address of
/// a conference. Any text but the empty one.
///
/// Two call-ids are equal only if their bytes are equal, as with a ``Key``.
public struct CallID: Hashable, Sendable, CustomStringConvertible {
    /// The identifier as text.
    public let text: String

    /// Returns nil when `text` is empty.
    public init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        self.text = text
    }

    public var description: String { text }

    public static func == (left: CallID, right: CallID) -> Bool {
        UTF8Bytes.equal(left.text, right.text)
    }

    public func hash(into hasher: inout Hasher) {
        UTF8Bytes.hash(text, into: &hasher)
    }
}
