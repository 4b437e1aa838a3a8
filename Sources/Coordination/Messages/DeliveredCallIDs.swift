internal import Synchronization

/// The call-ids of the messages that this participant's own cores stored.
final class DeliveredCallIDs: Sendable {
    private let callIDs = Mutex<Set<CallID>>([])

    /// Gives whether it was not there before.
    func insert(_ callID: CallID) -> Bool {
        callIDs.withLock { $0.insert(callID).inserted }
    }

    func remove(_ callID: CallID) {
        callIDs.withLock { _ = $0.remove(callID) }
    }

    func contains(_ callID: CallID) -> Bool {
        callIDs.withLock { $0.contains(callID) }
    }
}
