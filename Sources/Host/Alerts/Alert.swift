/// Something that a user is to be told while nobody looks at the application.
struct Alert: Hashable, Sendable {
    /// One line.
    let title: String
    let text: String

    /// - Returns: What came for a call-id, as the user is told it.
    init(title: String, text: String) {
        self.title = title
        self.text = text
    }
}
