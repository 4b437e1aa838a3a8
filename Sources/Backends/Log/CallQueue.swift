internal import CoreAPI
internal import Synchronization

/// Runs calls one at a time, in the order of their arrival.
final class CallQueue: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [(id: WaitID, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Mutex(State())

    /// Waits for the turn of this call, which then lasts until ``leave()``.
    ///
    /// - Throws: `cancelled`; the call then has no turn.
    func enter() async throws(SharedCoreError) {
        let id = WaitID()
        let isIn = await withCancellableContinuation(cancelled: false) { continuation in
            state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiting.append((id, continuation))
                return nil
            }
        } leave: {
            state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0).continuation }
            }
        }
        guard isIn else { throw .cancelled("commit") }
    }

    func leave() {
        let next = state.withLock { state in
            guard state.waiting.isEmpty else { return Optional(state.waiting.removeFirst().continuation) }
            state.isTaken = false
            return nil
        }
        next?.resume(returning: true)
    }
}
