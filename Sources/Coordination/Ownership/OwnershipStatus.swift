package import CoreAPI

/// The ownership of a group at one revision: the owner with its open activities, the Main that has asked for the core,
/// and the Main that rests.
///
/// Source: contract C1, C3, C17, C26.
package struct OwnershipStatus: Hashable, Sendable {
    package let revision: Revision
    /// The owner; nil when there is none.
    package let owner: GroupOwner?
    /// The Main that has asked for the core and does not own it yet.
    package let request: PendingHandover?
    /// The Main that rests and for which the owner owns.
    package let resting: RestingMain?
    /// The activities of the owner. Their bounds may have passed.
    package let activities: [Activity]

    /// Reads the status of a group in one call. Call `sessions()` first: if the backend can detect dead processes, a
    /// dead owner is then not reported.
    package static func current(in store: some SharedStore) async throws(SharedCoreError) -> OwnershipStatus {
        var view = OwnershipView()
        // The view includes activities past their bound, because this reader has no clock of the group.
        view.apply(try await store.list(OwnershipKey.path), at: BootInstant(nanoseconds: .max))
        return OwnershipStatus(
            revision: view.revision, owner: view.owner.map { GroupOwner($0) },
            request: view.handover.flatMap { PendingHandover($0) }, resting: RestingMain(view),
            activities: view.owner.map { OpenWork(view).open(under: $0.claim) } ?? [])
    }
}
