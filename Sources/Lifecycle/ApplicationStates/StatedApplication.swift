public import CoreAPI

/// What a process has said about its application.
public struct StatedApplication: Hashable, Sendable {
    /// Whose application it is; ``SharedStore/sessions()`` tells its role, its name and its process.
    public let session: SessionID
    /// What it said.
    public let state: ApplicationState
    /// When it was said, in the group's order.
    public let revision: Revision
    /// Whether it said so itself, or somebody else for it.
    public let isOwn: Bool

    /// The statement in an entry; nil for one that this version does not understand.
    init?(_ entry: Entry) {
        guard let text = String(validating: entry.value, as: UTF8.self), let state = ApplicationState(rawValue: text),
            let session = UInt64(entry.key.text.dropFirst(ApplicationStates.path.path.count))
        else { return nil }
        self.session = SessionID(rawValue: session)
        self.isOwn = self.session == entry.origin
        self.state = state
        self.revision = entry.revision
    }
}
