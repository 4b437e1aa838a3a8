package import CoreAPI

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
