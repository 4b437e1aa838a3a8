internal import Synchronization

/// Code that runs in a simulated process.
public final class SimulatedRun<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var task: Task<Void, Never>?
    }

    private let name: String
    private let simulation: SimulatedGroup
    private let state = Mutex(State())

    init(of name: String, in simulation: SimulatedGroup) {
        self.name = name
        self.simulation = simulation
    }

    /// The result; nil while it runs.
    public var result: Result<Value, any Error>? { state.withLock(\.result) }

    /// True after the run has ended.
    public var isOver: Bool { result != nil }

    /// The result of the code. Lets time pass until the code returns, and then waits until all processes wait.
    ///
    /// - Throws: The error of the code; ``ProcessKilled`` if its process was killed; ``SimulationStalled`` if it does
    ///   not end within ten minutes of the group's time.
    public var value: Value {
        get async throws { try await value(timeout: .seconds(600)) }
    }

    /// Returns the value of the run, and lets the group's time pass for as long as it takes.
    ///
    /// - Parameter timeout: The longest time, by the group's clock.
    /// - Throws: The errors of ``value``; ``SimulationStalled`` at the limit.
    public func value(timeout: Duration) async throws -> Value {
        try await simulation.advance(until: "what “\(name)” runs ends", timeout: timeout) { isOver }
        guard let result else { throw CancellationError() }
        return try result.get()
    }

    /// Cancels its task.
    public func cancel() {
        state.withLock(\.task)?.cancel()
    }

    func canBeCancelled(by task: Task<Void, Never>) {
        state.withLock { $0.task = task }
    }

    /// Sets the result, unless there is one.
    func end(with result: Result<Value, any Error>) {
        state.withLock { state in
            if state.result == nil { state.result = result }
            state.task = nil
        }
    }
}

/// The error of code in a process that was killed.
public struct ProcessKilled: Error, Hashable, CustomStringConvertible {
    /// The name of the process.
    public let name: String

    public var description: String { "The process “\(name)” was killed." }
}
