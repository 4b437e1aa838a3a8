internal import Platform
internal import Synchronization
internal import TestInstruments

/// Where everything runs that the processes of a simulated group do, one job after another. It knows when nothing runs
/// any more: whoever is suspended then waits for the clock, for the test, or for the world outside.
final class SimulationThread: Sendable {
    private struct State {
        /// The jobs that were given and have not ended.
        var jobCount = 0
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
        var lastNumber = 0
    }

    private let thread = SerialThread(name: "simulation")
    private let state = Mutex(State())

    /// Runs a job after all that were given before.
    func submit(_ job: @escaping @Sendable () -> Void) {
        state.withLock { $0.jobCount += 1 }
        thread.submit { [self] in
            job()
            jobEnded()
        }
    }

    private func jobEnded() {
        let waiting = state.withLock { state -> [Int: CheckedContinuation<Bool, Never>] in
            state.jobCount -= 1
            guard state.jobCount == 0 else { return [:] }
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume(returning: true) }
    }

    /// Returns when nothing runs.
    ///
    /// - Throws: ``ConditionNotMet`` when something runs on for longer than the limit, in the time of the real world.
    func untilIdle(within limit: Duration = Patience.usual) async throws {
        try Task.checkCancellation()
        let number = state.withLock { state -> Int? in
            guard state.jobCount > 0 else { return nil }
            state.lastNumber += 1
            return state.lastNumber
        }
        guard let number else { return }
        let timer = Task {
            try await ContinuousClock().sleep(for: limit)
            giveUp(number)
        }
        defer { timer.cancel() }
        let isIdle = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isIdle = state.withLock { state in
                    if state.jobCount > 0, !Task.isCancelled {
                        state.waiting[number] = continuation
                        return false
                    }
                    return true
                }
                if isIdle { continuation.resume(returning: true) }
            }
        } onCancel: {
            giveUp(number)
        }
        try Task.checkCancellation()
        if !isIdle {
            throw ConditionNotMet(expectation: "no process of the group runs: a core or a run blocks", limit: limit)
        }
    }

    private func giveUp(_ number: Int) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: false)
    }
}
