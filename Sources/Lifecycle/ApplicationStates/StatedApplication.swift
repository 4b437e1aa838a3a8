public import CoreAPI

/// What a process has said about its application.
public struct StatedApplication: Hashable, Sendable {
    /// Who said it; ``SharedStore/sessions()`` tells its role, its name and its process.
    public let session: SessionID
    /// What it said.
    public let state: ApplicationState
    /// When, in the group's order.
    public let revision: Revision

    /// The statement in an entry; nil for one that this version does not understand.
    init?(_ entry: Entry) {
        guard let text = String(validating: entry.value, as: UTF8.self), let state = ApplicationState(rawValue: text)
        else { return nil }
        self.session = entry.origin
        self.state = state
        self.revision = entry.revision
    }
}
