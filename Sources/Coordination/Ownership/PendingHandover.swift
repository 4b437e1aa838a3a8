package import CoreAPI

/// The request of a Main that has asked for the core of a group and does not own it yet.
///
/// Source: contract C3.
package struct PendingHandover: Hashable, Sendable {
    /// The session of the Main.
    package let session: SessionID
    /// Its name for people.
    package let name: String
    /// Its process; one with the number 0 where that is not known.
    package let process: ProcessIdentity
    /// When it asked, by the clock of the machine's run.
    package let askedAt: BootInstant
    /// Whether another Main, too, has to let go.
    package let takesOver: Bool
    /// Whether the owner's activities do not hold it up.
    package let insists: Bool

    /// The request that stands in a group; nil when there is none, or when it cannot be read.
    package static func current(in store: some SharedStore) async throws(SharedCoreError) -> PendingHandover? {
        guard let standing = try await store.get(OwnershipKey.handover).map({ Standing<HandoverRecord>($0) }),
            standing.record.askedAt.nanoseconds > 0
        else { return nil }
        let record = standing.record
        return PendingHandover(
            session: standing.session, name: record.name, process: record.process, askedAt: record.askedAt,
            takesOver: record.takesOverMain, insists: record.insists)
    }
}

/// The Main that rests, for which another process owns.
///
/// Source: contract C26.
package struct RestingMain: Hashable, Sendable {
    /// The session of the Main.
    package let session: SessionID
    /// Its name for people.
    package let name: String
    /// Its process.
    package let process: ProcessIdentity
    /// The process that owns for it.
    package let holder: ProcessIdentity
    /// The epoch of its core, which is quiet.
    package let epoch: Revision
    /// Why it was woken, while it has not resumed.
    package let wake: Wake?

    /// The Main that rests in a group; nil when none does.
    package static func current(in store: some SharedStore) async throws(SharedCoreError) -> RestingMain? {
        let entries = try await store.list(OwnershipKey.path).entries
        func entry(_ key: Key) -> Entry? { entries.first { $0.key == key } }
        guard let owner = entry(OwnershipKey.owner).map({ Standing<OwnerRecord>($0) }),
            let rest = entry(OwnershipKey.rest).map({ Standing<RestRecord>($0) }),
            rest.record.epoch == owner.claim, rest.session != owner.session
        else { return nil }
        let wake = entry(OwnershipKey.wake).map { Standing<WakeRecord>($0).record }
        return RestingMain(
            session: rest.session, name: rest.record.name, process: rest.record.process,
            holder: owner.record.process, epoch: owner.claim, wake: wake?.claim == rest.claim ? wake?.reason : nil)
    }
}
