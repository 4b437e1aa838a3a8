internal import Testing

/// A message as it arrives, and the text of it that a person reads.
struct MailSample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    let callID: String
    let from: String
    let to: String
    let text: String

    init(
        _ description: String, _ bytes: [UInt8], callID: String = "a@b", from: String = "ann@example.org",
        to: String = "bob@example.org", text: String
    ) {
        self.testDescription = description
        self.bytes = bytes
        self.callID = callID
        self.from = from
        self.to = to
        self.text = text
    }

    /// A message with headers that follow those of every message, and a body.
    init(_ description: String, rest: String, text: String) {
        self.init(description, latin1(Self.head + rest), text: text)
    }

    static let head = "From: ann@example.org\nTo: bob@example.org\nMessage-ID: <a@b>\n"
}
