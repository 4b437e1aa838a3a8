/// The purpose of a message.
enum MailKind: Hashable, Sendable {
    case text
    case invitation
    case nothingToShow

    /// Reads the kind in the header `X-SharedCore-Kind` of a message: `text`, `invitation` or `nothing`.
    init?(headerValue: String) {
        switch headerValue.lowercased() {
        case "text": self = .text
        case "invitation": self = .invitation
        case "nothing": self = .nothingToShow
        default: return nil
        }
    }

    /// Returns the kind for the content type of a whole message.
    init(contentType: String) {
        switch contentType {
        case ConferenceInformation.contentType:
            self = .invitation
        // Reports of delivery and display, and "is typing": RFC 6522, 3464, 8098, 5438, 3994.
        case "multipart/report", "message/delivery-status", "message/disposition-notification", "message/imdn+xml",
            "application/im-iscomposing+xml":
            self = .nothingToShow
        default:
            self = .text
        }
    }
}
