internal import Coordination

/// The rule for the call-ids that a push can have: they travel in a line and in the arguments of a program.
enum PushID {
    /// As long as an identifier can be that stands in a message.
    static let maximumByteCount = 998

    static let expectation = "1 to \(maximumByteCount) bytes of UTF-8 without control characters or spaces at its ends"

    /// The call-id; nil when a text cannot be one.
    static func callID(_ text: some StringProtocol) -> CallID? {
        let scalars = text.unicodeScalars
        guard text.utf8.count <= maximumByteCount, scalars.first != " ", scalars.last != " ",
            !scalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        return CallID(String(text))
    }
}
