internal import CoreAPI
internal import Synchronization

/// The notifications that stay in this process: names that begin with `self.`, as in notify(3).
final class ProcessNotifier: CrossProcessNotifier {
    /// The notifier of this process.
    static let shared = ProcessNotifier()

    /// Returns true for a name if its notifications stay in this process.
    static func owns(_ name: NotificationName) -> Bool {
        name.text.utf8.starts(with: "self.".utf8)
    }

    private struct Topic {
        var state = NotificationState.never
        var slots: [UInt64: DeliverySlot] = [:]
    }

    private struct State {
        var topics: [NotificationName: Topic] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The origin of all posts. They come from this process, and belong to no session.
    private static let origin = SessionID(rawValue: 0)

    func post(_ name: NotificationName, state word: UInt64?) async throws(SharedCoreError) -> Revision {
        let (revision, slots) = state.withLock { state in
            state.lastNumber += 1
            let revision = Revision(rawValue: state.lastNumber)
            var topic = state.topics[name] ?? Topic()
            topic.state = NotificationState(
                state: word ?? topic.state.state, count: topic.state.count + 1, revision: revision, origin: Self.origin)
            state.topics[name] = topic
            let delivery = NotificationDelivery(
                name: name, state: topic.state.state, count: 1, revision: revision, origin: Self.origin)
            // Under the lock, so that every observer gets them in order.
            for slot in topic.slots.values { slot.put(delivery) }
            return (revision, Array(topic.slots.values))
        }
        for slot in slots { slot.signal() }
        return revision
    }

    func observe(_ name: NotificationName) async throws(SharedCoreError) -> Observation {
        let slot = DeliverySlot()
        let number = state.withLock { state in
            state.lastNumber += 1
            state.topics[name, default: Topic()].slots[state.lastNumber] = slot
            return state.lastNumber
        }
        return Observation { () async throws(SharedCoreError) in
            try await slot.next()
        } cancel: {
            slot.cancel()
            self.remove(number, from: name)
        }
    }

    func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState {
        state.withLock { $0.topics[name]?.state ?? .never }
    }

    private func remove(_ number: UInt64, from name: NotificationName) {
        state.withLock { state in
            state.topics[name]?.slots[number] = nil
            if let topic = state.topics[name], topic.slots.isEmpty, topic.state.count == 0 { state.topics[name] = nil }
        }
    }
}
