internal import Synchronization

/// A request to stop, for all tasks that wait meanwhile.
final class StopSignal: Sendable {
    private struct State {
        var isRaised = false
        var sleepers: [UInt64: Task<Void, Never>] = [:]
        var count: UInt64 = 0
    }

    private let state = Mutex(State())

    var isRaised: Bool { state.withLock { $0.isRaised } }

    /// Ends every present and later wait.
    ///
    /// - Returns: True for the first call.
    @discardableResult
    func raise() -> Bool {
        let (sleepers, isFirst) = state.withLock { state in
            defer {
                state.isRaised = true
                state.sleepers = [:]
            }
            return (state.sleepers.values, !state.isRaised)
        }
        for sleeper in sleepers { sleeper.cancel() }
        return isFirst
    }

    /// Waits for the duration, or until the stop or the cancellation of the task.
    func pause(_ duration: Duration) async {
        let sleeper = Task { _ = try? await Task.sleep(for: duration) }
        let key = state.withLock { state -> UInt64? in
            guard !state.isRaised else { return nil }
            state.count += 1
            state.sleepers[state.count] = sleeper
            return state.count
        }
        guard let key else {
            sleeper.cancel()
            return
        }
        await withTaskCancellationHandler {
            await sleeper.value
        } onCancel: {
            sleeper.cancel()
        }
        state.withLock { $0.sleepers[key] = nil }
    }

    /// Waits until the stop or the cancellation of the task.
    func wait() async {
        while !isRaised, !Task.isCancelled { await pause(.seconds(3600)) }
    }
}
