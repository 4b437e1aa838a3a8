package import CoreAPI

/// The request of a Main that has asked for the core of a group and does not own it yet.
///
/// Source: contract C3.
package struct PendingHandover: Hashable, Sendable {
    /// The session of the Main.
    package let session: SessionID
    /// Its name for people.
    package let name: String
    /// The process of the Main; process id 0 if it is not known.
    package let process: ProcessIdentity
    /// The time of the request, by the machine's boot clock.
    package let askedAt: BootInstant
    /// True if the request also applies to an owner that is a Main.
    package let takesOver: Bool
    /// True if it does not wait for the owner's activities.
    package let insists: Bool

    /// Returns the pending request of a group; nil if there is none, or if it cannot be read.
    package static func current(in store: some SharedStore) async throws(SharedCoreError) -> PendingHandover? {
        try await store.get(OwnershipKey.handover).flatMap { PendingHandover(Standing($0)) }
    }

    /// Returns nil for a record that cannot be read.
    init?(_ standing: Standing<HandoverRecord>) {
        let record = standing.record
        guard record.askedAt.nanoseconds > 0 else { return nil }
        self.init(
            session: standing.session, name: record.name, process: record.process, askedAt: record.askedAt,
            takesOver: record.takesOverMain, insists: record.insists)
    }

    private init(
        session: SessionID, name: String, process: ProcessIdentity, askedAt: BootInstant, takesOver: Bool, insists: Bool
    ) {
        self.session = session
        self.name = name
        self.process = process
        self.askedAt = askedAt
        self.takesOver = takesOver
        self.insists = insists
    }
}
