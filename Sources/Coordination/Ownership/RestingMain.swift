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
    /// Why the Main was woken; nil if it was not woken.
    package let wake: Wake?

    /// Returns the Main that rests in a group; nil if none does.
    package static func current(in store: some SharedStore) async throws(SharedCoreError) -> RestingMain? {
        var view = OwnershipView()
        view.apply(try await store.list(OwnershipKey.path), at: BootInstant(nanoseconds: .max))
        return RestingMain(view)
    }

    /// Returns nil when no Main rests.
    init?(_ view: OwnershipView) {
        guard let owner = view.owner, let rest = view.rest, rest.record.epoch == owner.claim,
            rest.session != owner.session
        else { return nil }
        session = rest.session
        name = rest.record.name
        process = rest.record.process
        holder = owner.record.process
        epoch = owner.claim
        wake = view.wake?.record.claim == rest.claim ? view.wake?.record.reason : nil
    }
}
