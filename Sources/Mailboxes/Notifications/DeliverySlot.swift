internal import CoreAPI
internal import Synchronization

/// The pending delivery of one observer: at most one, which represents all posts since the last one taken.
///
/// Source: contract N3, N6.
final class DeliverySlot: Sendable {
    private struct State {
        var pending: NotificationDelivery?
        var suspensions = 0
        /// The last post that was delivered.
        var revision: Revision
        /// The last post that was made before a suspension ended. All posts up to it are merged into one delivery.
        var held: Revision?
        /// True after a suspension has ended, until it is known which post was the last one during it.
        var isBehind = false
        var isEnded = false
        var failure: SharedCoreError?
    }

    private let state: Mutex<State>
    private let event = AsyncEvent()

    /// Makes a slot without a pending delivery.
    ///
    /// - Parameter revision: The last post that is not delivered.
    init(after revision: Revision = .zero) {
        state = Mutex(State(revision: revision))
    }

    /// Merges a delivery into the pending one.
    func add(_ delivery: NotificationDelivery) {
        put(delivery)
        signal()
    }

    /// Adds a delivery, and leaves it to ``signal()`` to wake the observer: for a caller that holds a lock.
    func put(_ delivery: NotificationDelivery) {
        state.withLock { state in
            guard !state.isEnded else { return }
            state.pending = state.pending?.followed(by: delivery) ?? delivery
            state.revision = max(state.revision, delivery.revision)
        }
    }

    func signal() {
        event.signal()
    }

    /// Ends the deliveries; a pending one can still be taken.
    func end(_ failure: SharedCoreError? = nil) {
        state.withLock { state in
            if !state.isEnded { state.failure = failure }
            state.isEnded = true
        }
        event.signal()
    }

    /// Ends the observation, and drops pending deliveries.
    func cancel() {
        state.withLock { state in
            state.isEnded = true
            state.pending = nil
            state.failure = nil
            state.suspensions = 0
        }
        event.signal()
    }

    func suspend() {
        state.withLock { $0.suspensions += 1 }
    }

    /// Ends one suspension; deliveries continue after the last.
    ///
    /// - Returns: False when it was not suspended.
    func resume() -> Bool {
        let (isKnown, isLast) = state.withLock { state in
            guard state.suspensions > 0 else { return (false, false) }
            state.suspensions -= 1
            if state.suspensions == 0 { state.isBehind = true }
            return (true, state.suspensions == 0)
        }
        if isLast { event.signal() }
        return isKnown
    }

    private enum Sight {
        case delivery(NotificationDelivery)
        case failure(SharedCoreError)
        case end
        case nothing
        case behind
    }

    private func look() -> Sight {
        state.withLock { state in
            if !state.isEnded {
                guard state.suspensions == 0 else { return .nothing }
                if state.isBehind { return .behind }
                if let held = state.held, state.revision < held { return .nothing }
            } else if state.suspensions > 0, state.pending != nil {
                return .nothing
            }
            state.held = nil
            if let delivery = state.pending.take() { return .delivery(delivery) }
            if let failure = state.failure.take() { return .failure(failure) }
            return state.isEnded ? .end : .nothing
        }
    }

    /// Holds deliveries back until they reach the last post at the end of the suspension.
    private func catchUp(to revision: Revision) {
        state.withLock { state in
            state.held = revision
            state.isBehind = false
        }
    }

    /// Waits for a delivery; nil after the end, and when the task is cancelled.
    ///
    /// - Parameter lastPost: Returns the last post, whether or not it was delivered yet.
    nonisolated(nonsending) func next(
        lastPost: () async throws(SharedCoreError) -> Revision = { () async throws(SharedCoreError) in .zero }
    ) async throws(SharedCoreError) -> NotificationDelivery? {
        while true {
            switch look() {
            case .delivery(let delivery): return delivery
            case .failure(let error): throw error
            case .end: return nil
            case .nothing: break
            case .behind:
                catchUp(to: try await lastPost())
                continue
            }
            if Task.isCancelled { return nil }
            await event.wait()
        }
    }
}

extension NotificationDelivery {
    /// Returns one delivery that represents this one and all later ones up to `later`.
    func followed(by later: NotificationDelivery) -> NotificationDelivery {
        NotificationDelivery(
            name: later.name, state: later.state, count: count + later.count, revision: later.revision,
            origin: later.origin)
    }
}
