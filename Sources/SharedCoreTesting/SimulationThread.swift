internal import CoreAPI
internal import Platform
internal import Synchronization
internal import TestInstruments

/// The thread that runs all code of a simulated group's processes, one job after another. It knows when nothing runs
/// any more: each suspended task then waits for the clock, for the test, or for something outside of the simulation,
/// such as a socket.
final class SimulationThread: Sendable {
    private struct State {
        /// The number of jobs that were submitted and have not ended.
        var jobCount = 0
        /// The thread that runs a job; nil if none runs.
        var current: ThreadIdentity?
        var waiting: [WaitID: CheckedContinuation<Bool, Never>] = [:]
    }

    private let thread = SerialThread(name: "simulation")
    private let state = Mutex(State())

    /// Runs a job after all jobs that were submitted before.
    func submit(_ job: @escaping @Sendable () -> Void) {
        state.withLock { $0.jobCount += 1 }
        thread.submit { [self] in
            state.withLock { $0.current = .current }
            job()
            jobEnded()
        }
    }

    /// True if the caller is one of the thread's jobs.
    var isCurrent: Bool {
        state.withLock { $0.current == .current }
    }

    private func jobEnded() {
        let waiting = state.withLock { state -> [WaitID: CheckedContinuation<Bool, Never>] in
            state.jobCount -= 1
            state.current = nil
            guard state.jobCount == 0 else { return [:] }
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume(returning: true) }
    }

    /// Runs a body when nothing else runs, and returns when nothing runs again. All tasks that it wakes are queued
    /// before the first of them runs, so their order is reproducible.
    func whenIdle<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async throws -> Value {
        while true {
            try await untilIdle()
            let result = Box<Value?>(nil)
            submit { [self] in
                // Another thread may have submitted a job since.
                guard state.withLock({ $0.jobCount == 1 }) else { return }
                let value = body()
                result.update { $0 = value }
            }
            try await untilIdle()
            if let value = result.value { return value }
        }
    }

    /// Returns when nothing runs.
    ///
    /// - Throws: ``ConditionNotMet`` if something still runs at the limit, in real time.
    func untilIdle(timeout: Duration = TestTimeout.usual) async throws {
        try Task.checkCancellation()
        if state.withLock({ $0.jobCount == 0 }) { return }
        let id = WaitID()
        let timer = Task {
            try await ContinuousClock().sleep(for: timeout)
            leave(id)?.resume(returning: false)
        }
        defer { timer.cancel() }
        let isIdle = await withCancellableContinuation(cancelled: false) { continuation in
            state.withLock { state in
                if state.jobCount == 0 { return true }
                state.waiting[id] = continuation
                return nil
            }
        } leave: {
            leave(id)
        }
        try Task.checkCancellation()
        if !isIdle {
            throw ConditionNotMet(
                expectation: "all processes of the group became idle: a core or a run blocks", timeout: timeout)
        }
    }

    private func leave(_ id: WaitID) -> CheckedContinuation<Bool, Never>? {
        state.withLock { $0.waiting.removeValue(forKey: id) }
    }
}
