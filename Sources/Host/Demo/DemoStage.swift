internal import Coordination
internal import CoreAPI

/// What the demo's participants run in: processes, or one process where the backend lives in one.
protocol DemoStage: Sendable {
    /// The demo's own handle, which only looks.
    var group: any SharedGroup { get }

    /// Runs one Executor from its push to its end.
    ///
    /// - Parameters:
    ///   - callID: What the push announces.
    ///   - name: The Executor's name for people.
    ///   - hear: Told each line that the Executor prints, as it comes.
    /// - Returns: What was wrong with its end, if anything was.
    func push(
        _ callID: CallID, as name: String, hear: @escaping @Sendable (ExecutorLine) async throws -> Void
    ) async throws -> String?

    /// Starts a Main, and calls `body` when it says that it owns. A Main that is still there afterwards is stopped.
    func withMain<Value: Sendable>(_ body: (any DemoMain) async throws -> Value) async throws -> Value
}

/// A Main of the demo that runs.
protocol DemoMain: Sendable {
    /// Kills it as SIGKILL does. Returns the moment just before.
    func kill() async throws -> BootInstant
}
