/// What a participant says of itself when it opens a group.
public struct SessionDescription: Hashable, Sendable {
    /// The longest name and the longest role, in bytes of UTF-8. A longer one is cut at a character.
    public static let maximumNameByteCount = 128

    /// What it is.
    public var role: SessionRole {
        didSet { role = SessionRole(rawValue: Self.cut(role.rawValue)) }
    }
    /// Its name for people.
    public var name: String {
        didSet { name = Self.cut(name) }
    }

    public init(role: SessionRole = .tool, name: String = "") {
        self.role = SessionRole(rawValue: Self.cut(role.rawValue))
        self.name = Self.cut(name)
    }

    private static func cut(_ text: String) -> String {
        var text = text
        while text.utf8.count > maximumNameByteCount { text.removeLast() }
        return text
    }
}
