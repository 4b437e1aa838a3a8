internal import Synchronization

/// Limits how many Executors run at once. Each start waits for a slot, in the order of the requests.
final class ExecutorSlots: Sendable {
    private struct State {
        var limit: Int
        var taken = 0
        var isClosed = false
        var isPaused = false
        var waiting: [CheckedContinuation<Bool, Never>] = []

        /// Takes slots for the next requests, and returns these requests.
        mutating func next() -> [CheckedContinuation<Bool, Never>] {
            let count = isPaused ? 0 : min(waiting.count, max(0, limit - taken))
            defer { waiting.removeFirst(count) }
            taken += count
            return Array(waiting.prefix(count))
        }
    }

    private let state: Mutex<State>

    init(limit: Int) {
        state = Mutex(State(limit: limit))
    }

    /// True after the slots were closed: no request gets a slot any more.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Waits for a slot.
    ///
    /// - Returns: True if a slot was taken; false if the slots were closed.
    func take() async -> Bool {
        await withCheckedContinuation { continuation in
            let (ready, isClosed) = state.withLock { state in
                if state.isClosed { return ([continuation], true) }
                state.waiting.append(continuation)
                return (state.next(), false)
            }
            for continuation in ready { continuation.resume(returning: !isClosed) }
        }
    }

    func giveBack() {
        let ready = state.withLock { state in
            state.taken -= 1
            return state.next()
        }
        for continuation in ready { continuation.resume(returning: true) }
    }

    /// Takes a slot without waiting, even if that exceeds the limit.
    func takeAnyway() {
        state.withLock { $0.taken += 1 }
    }

    /// Changes the number of slots. Slots in use stay in use.
    func setLimit(_ limit: Int) {
        let ready = state.withLock { state in
            state.limit = limit
            return state.next()
        }
        for continuation in ready { continuation.resume(returning: true) }
    }

    /// Gives out no slots while paused. Slots in use stay in use.
    func setPaused(_ isPaused: Bool) {
        let ready = state.withLock { state in
            state.isPaused = isPaused
            return state.next()
        }
        for continuation in ready { continuation.resume(returning: true) }
    }

    /// Gives out no more slots.
    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: false) }
    }
}
