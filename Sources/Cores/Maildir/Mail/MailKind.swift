/// What a message is for.
enum MailKind: Hashable, Sendable {
    case text
    case invitation
    case nothingToShow

    /// What a message says itself, in the header `X-SharedCore-Kind`: `text`, `invitation` or `nothing`.
    init?(headerValue: String) {
        switch headerValue.lowercased() {
        case "text": self = .text
        case "invitation": self = .invitation
        case "nothing": self = .nothingToShow
        default: return nil
        }
    }

    /// What the content type of a whole message says.
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
