/// The session of one participant of a group. It begins when a handle is opened.
///
/// An entry that lives with a session (``Lifetime/session``) is removed when the session ends: when the handle is
/// closed, when its process dies, or, over a network, when its lease ends.
///
/// Source: contract L1, L2.
public struct Session: Hashable, Sendable {
    /// The identity of the session in the group.
    public let id: SessionID
    /// The process that it belongs to.
    public let process: ProcessIdentity
    /// The role of the session.
    public let role: SessionRole
    /// The name of the session for people, at most 128 bytes.
    public let name: String
    /// The time at which it began, on the boot clock of its process.
    public let openedAt: BootInstant

    public init(id: SessionID, process: ProcessIdentity, role: SessionRole, name: String, openedAt: BootInstant) {
        self.id = id
        self.process = process
        self.role = role
        self.name = name
        self.openedAt = openedAt
    }
}

/// The lease of a session. The session ends if the group receives nothing from its participant for the lease's
/// duration.
///
/// Source: contract L5.
public struct SessionLease: Hashable, Sendable {
    /// How long the session lasts without a message of its participant.
    public var duration: Duration
    /// The time at which the latest answered request was sent, on the boot clock of this process (`SystemClock`).
    public var confirmedAt: BootInstant

    public init(duration: Duration, confirmedAt: BootInstant) {
        self.duration = duration
        self.confirmedAt = confirmedAt
    }

    /// The earliest time at which the session can end.
    public var end: BootInstant { confirmedAt.advanced(by: duration) }
}

/// The identity of one participation in a group, never used twice in it: the revision at which the session began.
public struct SessionID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public var description: String { String(rawValue) }

    public static func < (left: SessionID, right: SessionID) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The role of a participant in its application, for people and for the rules of ownership: one word. A hub refuses one
/// with spaces, control characters or format characters.
public struct SessionRole: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The long-lived process of the application.
    public static let main = SessionRole(rawValue: "main")
    /// A short-lived process that a push woke.
    public static let executor = SessionRole(rawValue: "executor")
    /// Any participant that only reads or writes: a command, a monitor.
    public static let tool = SessionRole(rawValue: "tool")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public var description: String { rawValue }

    /// True if the text has no space, no control character and no format character. Such characters are invisible, such
    /// as U+200B, or change the direction of the text around them.
    package var isWord: Bool {
        rawValue.unicodeScalars.allSatisfy { scalar in
            !scalar.properties.isWhitespace && ![.control, .format].contains(scalar.properties.generalCategory)
        }
    }
}

/// A participant's description of itself, given when it opens a group.
public struct SessionDescription: Hashable, Sendable {
    /// The longest name and the longest role, in bytes of UTF-8. A longer one is cut at a character.
    public static let maximumNameByteCount = 128

    /// The role of the session.
    public var role: SessionRole {
        didSet { role = SessionRole(rawValue: Self.cut(role.rawValue)) }
    }
    /// The name of the session for people.
    public var name: String {
        didSet { name = Self.cut(name) }
    }

    public init(role: SessionRole = .tool, name: String = "") {
        self.role = SessionRole(rawValue: Self.cut(role.rawValue))
        self.name = Self.cut(name)
    }

    /// Returns as many characters of a text as a name may have.
    package static func cut(_ text: String) -> String { text.cut(toByteCount: maximumNameByteCount) }
}
