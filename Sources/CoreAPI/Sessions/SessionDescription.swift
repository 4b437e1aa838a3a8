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

    /// Returns as many characters of a text as a name may have.
    package static func cut(_ text: String) -> String {
        guard text.utf8.count > maximumNameByteCount else { return text }
        // From the front: a text from outside may be longer by far than what is kept of it.
        var end = text.startIndex
        while end < text.endIndex {
            let next = text.index(after: end)
            if text.utf8.distance(from: text.startIndex, to: next) > maximumNameByteCount { break }
            end = next
        }
        return String(text[..<end])
    }
}
