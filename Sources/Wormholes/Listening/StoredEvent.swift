internal import CoreAPI

/// What happened to a mailbox, as it stands in the store.
struct StoredEvent: Sendable {
    enum Content: Sendable {
        case message([UInt8])
        case cleared
        case lagged(UInt64)
    }

    let content: Content
    let revision: Revision
    let origin: SessionID

    init(_ content: Content, _ revision: Revision, by origin: SessionID) {
        self.content = content
        self.revision = revision
        self.origin = origin
    }

    var isClearing: Bool {
        if case .cleared = content { true } else { false }
    }

    /// A message.
    init(_ entry: Entry) {
        self.init(.message(entry.value), entry.revision, by: entry.origin)
    }
}
