/// A folder beside the inbox, in the manner of Maildir++, for files that were not delivered.
enum SideFolder: String, Hashable, Sendable {
    /// What cannot be read as a message.
    case malformed = ".Malformed"
    /// What is too large for the inbox.
    case oversized = ".Oversized"
}
