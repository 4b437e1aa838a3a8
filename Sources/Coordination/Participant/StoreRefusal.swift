internal import CoreAPI
internal import Synchronization

/// Why the group's store refuses the writes of a core, such as a full disk. Meanwhile no participant gets the messages
/// that the core receives.
///
/// The owner publishes the refusal in the group for as long as it lasts. So a call that reaches its deadline meanwhile,
/// here or in another process, can distinguish a message that could not be stored from one that never came.
final class StoreRefusal: Sendable {
    private struct State {
        var error: SharedCoreError?
        /// The number of writes that have no answer.
        var waitingCount = 0
        var hasTaken = false
        /// True if the refusal that is published in the group may differ from ``error``.
        var isUntold = false
    }

    private let state = Mutex(State())

    /// The error of the core's last write of content; nil if it has none.
    var current: SharedCoreError? { state.withLock(\.error) }

    /// True while the store has not answered a write of content.
    var isWaiting: Bool { state.withLock { $0.waitingCount > 0 } }

    /// True if a write of content has taken effect.
    var hasTaken: Bool { state.withLock(\.hasTaken) }

    /// Makes the next write publish the refusal again, even if it has not changed.
    func tellAgain() { state.withLock { $0.isUntold = true } }

    /// Records the beginning, the end or the result of a write of the core.
    ///
    /// - Returns: True if ``current`` must be published in the group.
    func note(_ write: CoreWrite) -> Bool {
        state.withLock { state in
            let former = state.error?.code
            switch write {
            case .begun:
                state.waitingCount += 1
                return false
            case .over:
                state.waitingCount -= 1
                return false
            case .taken:
                state.error = nil
                state.hasTaken = true
            case .refused(let error): state.error = error
            }
            defer { state.isUntold = false }
            return state.isUntold || state.error?.code != former
        }
    }

    /// Returns true if an error means that the store refuses the write. A failed guard is a normal answer, and after
    /// the other excluded errors this handle writes nothing any more.
    static func isRefusal(_ error: SharedCoreError) -> Bool {
        switch error.code {
        case .guardFailed, .cancelled, .closed, .sessionEnded, .invalidArgument: false
        default: true
        }
    }
}

/// The store's answer to a core's write of content.
enum CoreWrite {
    /// The write has begun.
    case begun
    /// The write has ended, whether or not another report came before.
    case over
    /// The write has taken effect.
    case taken
    /// The store refuses the write.
    case refused(SharedCoreError)
}

extension Participant {
    /// Publishes that the store refuses the core's writes, or removes that when it accepts them again.
    func publishRefusal(_ refusal: StoreRefusal, under epoch: Revision) async {
        guard !isPublishingRefusal else { return refusal.tellAgain() }
        isPublishingRefusal = true
        defer { isPublishingRefusal = false }
        var published = RefusalRecord.standing(under: epoch, in: machine.view)
        while end == nil, machine.holding?.epoch == epoch {
            let record = refusal.current.map { RefusalRecord($0, under: epoch) }
            guard record != published else { return }
            var transaction = Transaction()
            transaction.require(.epoch(OwnershipKey.owner, epoch))
            if let record {
                transaction.put(OwnershipKey.refusal, record.bytes, lifetime: .session)
            } else {
                transaction.delete(OwnershipKey.refusal)
            }
            do throws(SharedCoreError) {
                _ = try await store.commit(transaction)
            } catch {
                refusal.tellAgain()
                return note(error)
            }
            published = record
        }
    }

    /// Remembers the refusal that the owner has published, because the entry is removed with the owner's session.
    func noticeRefusal() {
        let view = machine.view
        guard let owner = view.owner else { return }
        if let record = RefusalRecord.standing(under: owner.claim, in: view) {
            storeRefusalOfOwner = record
        } else if storeRefusalOfOwner?.epoch == owner.claim {
            storeRefusalOfOwner = nil
        }
    }

    /// Why messages could not be stored, as far as known here; nil if no reason is known.
    var knownRefusal: SharedCoreError? {
        if let error = storeRefusal.current { return error }
        if storeRefusal.isWaiting {
            return SharedCoreError(
                .unavailable, "The group has not answered yet whether a message is stored.", at: "core")
        }
        // The refusal that a former owner published still counts until this participant's core has stored something.
        if machine.holding == nil || !storeRefusal.hasTaken, let record = storeRefusalOfOwner { return record.error }
        guard let blockingFailure, StoreRefusal.isRefusal(blockingFailure.error) else { return nil }
        return blockingFailure.error
    }
}
