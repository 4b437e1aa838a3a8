/// What a participant says of itself when it opens a group.
public struct SessionDescription: Hashable, Sendable {
    /// The longest name, in bytes of UTF-8. A longer one is cut at a character.
    public static let maximumNameByteCount = 128

    /// What it is.
    public var role: SessionRole
    /// Its name for people.
    public var name: String

    public init(role: SessionRole = .tool, name: String = "") {
        self.role = role
        var name = name
        while name.utf8.count > Self.maximumNameByteCount { name.removeLast() }
        self.name = name
    }
}
