internal import CoreAPI
internal import Synchronization

/// Lets one call in at a time, in the order in which they come.
final class CallLine: Sendable {
    private final class Ticket: Sendable {
        let isCancelled = Atomic(false)
    }

    private struct State {
        var isTaken = false
        var waiting: [(ticket: Ticket, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Mutex(State())

    /// Waits for the turn of this call, which then lasts until ``leave()``.
    ///
    /// - Throws: `cancelled`; then it has no turn.
    func enter() async throws(SharedCoreError) {
        let ticket = Ticket()
        let isIn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if ticket.isCancelled.load(ordering: .relaxed) { return false }
                    guard state.isTaken else {
                        state.isTaken = true
                        return true
                    }
                    state.waiting.append((ticket, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            ticket.isCancelled.store(true, ordering: .relaxed)
            let waiting = state.withLock { state in
                state.waiting.firstIndex { $0.ticket === ticket }.map { state.waiting.remove(at: $0).continuation }
            }
            waiting?.resume(returning: false)
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
