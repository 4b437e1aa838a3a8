/// A folder beside the inbox, in the manner of Maildir++, for files that were not delivered.
package enum SideFolder: String, CaseIterable, Hashable, Sendable {
    /// What cannot be read as a message.
    case malformed = ".Malformed"
    /// What is too large for the inbox.
    case oversized = ".Oversized"
    /// What has ended the processes that read it.
    case poison = ".Poison"

    /// The folder as an operator names it.
    package var word: String {
        switch self {
        case .malformed: "malformed"
        case .oversized: "oversized"
        case .poison: "poison"
        }
    }
}
