internal import CoreAPI
internal import Synchronization

/// What waits for one observer: one delivery at most, which stands for all posts since the last one that was taken.
///
/// Source: contract N3, N6.
final class DeliverySlot: Sendable {
    private struct State {
        var pending: NotificationDelivery?
        var suspensions = 0
        var isEnded = false
        var failure: SharedCoreError?
    }

    private let state = Mutex(State())
    private let bell = Bell()

    /// Adds a delivery to the one that waits.
    func add(_ delivery: NotificationDelivery) {
        put(delivery)
        ring()
    }

    /// Adds a delivery, and leaves it to ``ring()`` to wake the observer: for a caller that holds a lock.
    func put(_ delivery: NotificationDelivery) {
        state.withLock { state in
            guard !state.isEnded else { return }
            state.pending = state.pending?.followed(by: delivery) ?? delivery
        }
    }

    func ring() {
        bell.ring()
    }

    /// Nothing comes any more; what waits can still be taken.
    func end(_ failure: SharedCoreError? = nil) {
        state.withLock { state in
            if !state.isEnded { state.failure = failure }
            state.isEnded = true
        }
        bell.ring()
    }

    /// Ends the observation: what waits is dropped.
    func cancel() {
        state.withLock { state in
            state.isEnded = true
            state.pending = nil
            state.failure = nil
            state.suspensions = 0
        }
        bell.ring()
    }

    func suspend() {
        state.withLock { $0.suspensions += 1 }
    }

    /// - Returns: False when it was not suspended.
    func resume() -> Bool {
        let (isKnown, isLast) = state.withLock { state in
            guard state.suspensions > 0 else { return (false, false) }
            state.suspensions -= 1
            return (true, state.suspensions == 0)
        }
        if isLast { bell.ring() }
        return isKnown
    }

    private enum Sight {
        case delivery(NotificationDelivery)
        case failure(SharedCoreError)
        case end
        case nothing
    }

    private func look() -> Sight {
        state.withLock { state in
            if state.pending != nil, state.suspensions > 0 { return .nothing }
            if let delivery = state.pending.take() { return .delivery(delivery) }
            if let failure = state.failure.take() { return .failure(failure) }
            return state.isEnded ? .end : .nothing
        }
    }

    /// Waits for a delivery; nil after the end, and when the task is cancelled.
    nonisolated(nonsending) func next() async throws(SharedCoreError) -> NotificationDelivery? {
        while true {
            switch look() {
            case .delivery(let delivery): return delivery
            case .failure(let error): throw error
            case .end: return nil
            case .nothing: break
            }
            if Task.isCancelled { return nil }
            await bell.wait()
        }
    }
}
