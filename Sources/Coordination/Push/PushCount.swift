package import CoreAPI
internal import Mailboxes

/// The number of pushes in a group.
///
/// Source: contract P13.
package struct PushCount: Hashable, Sendable {
    /// The path of the queue of pushes for Executors.
    package static let pendingPath = ".sharedcore/pushes"
    /// The path of the queue of pushes that were given up.
    package static let failedPath = ".sharedcore/push-failures"

    /// The pushes that wait for an Executor.
    package var waiting: Int
    /// The pushes that a host has in hand.
    package var taken: Int
    /// The pushes that were given up and are kept.
    package var givenUp: Int
    /// The pushes that wait for a Main or that a Main has in hand.
    package var forMain: Int

    package init(waiting: Int = 0, taken: Int = 0, givenUp: Int = 0, forMain: Int = 0) {
        self.waiting = waiting
        self.taken = taken
        self.givenUp = givenUp
        self.forMain = forMain
    }

    /// Counts the pushes of a group. Each queue is counted at its own revision.
    package static func current(in store: any SharedStore) async throws(SharedCoreError) -> PushCount {
        let pending = try await QueueMailbox(store, path: pendingPath).count()
        let failed = try await QueueMailbox(store, path: failedPath).count()
        let forMain = try await QueueMailbox(store, path: MainPushQueue.path).count()
        return PushCount(
            waiting: pending.waiting, taken: pending.taken, givenUp: failed.total, forMain: forMain.total)
    }
}
