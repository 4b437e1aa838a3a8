public import CoreAPI

/// What everybody in the group has said about the state of their application, at one revision.
public struct ApplicationOverview: Hashable, Sendable {
    /// Everything up to this revision is in it.
    public let revision: Revision
    /// The statements in the order of their sessions. What this version does not understand is not among them.
    public let applications: [StatedApplication]

    /// Whether a user looks at any of them, so that no alert is needed.
    public var isAnyInForeground: Bool { applications.contains { $0.state == .foreground } }

    /// What a session has said; nil when it has said nothing.
    public subscript(session: SessionID) -> ApplicationState? {
        applications.first { $0.session == session }?.state
    }

    /// What others have said for a session does not end with it: that is left out here.
    init(
        revision: Revision, entries: some Sequence<Entry>, in store: any SharedStore
    ) async throws(SharedCoreError) {
        let statements = entries.compactMap(StatedApplication.init)
        var applications = statements.filter { $0.isOwn }
        if applications.count < statements.count {
            let sessions = Set(try await store.sessions().map(\.id))
            applications = statements.filter { $0.isOwn || sessions.contains($0.session) }
        }
        self.revision = revision
        self.applications = applications.sorted { $0.session < $1.session }
    }
}
