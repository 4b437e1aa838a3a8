internal import CoreAPI

/// Those who only want to know that the order has gone on. Guarded by its owner's lock.
struct FollowerTable {
    private struct Slot {
        var seen: Revision
        let notify: @Sendable () -> Void
    }

    private var slots: [WaiterID: Slot] = [:]
    private var lastID: WaiterID = 0

    mutating func add(after revision: Revision, _ notify: @escaping @Sendable () -> Void) -> WaiterID {
        lastID += 1
        slots[lastID] = Slot(seen: revision, notify: notify)
        return lastID
    }

    mutating func remove(_ id: WaiterID) {
        slots[id] = nil
    }

    /// Finds whom the order has something to tell at a revision.
    mutating func takeReady(at revision: Revision, into notified: inout [@Sendable () -> Void]) {
        guard !slots.isEmpty else { return }
        for (id, slot) in slots where slot.seen < revision {
            slots[id]?.seen = revision
            notified.append(slot.notify)
        }
    }
}

/// Is told that an order has gone on. Letting go of it ends it.
package final class Follower: Sendable {
    private let stop: @Sendable () -> Void

    init(stop: @escaping @Sendable () -> Void) {
        self.stop = stop
    }

    deinit {
        stop()
    }
}
