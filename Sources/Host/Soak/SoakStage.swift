internal import Coordination
internal import CoreAPI

/// What the participants of a soak run in: processes, or one process where the backend lives in one.
protocol SoakStage: Sendable {
    /// The soak's own handle, which only looks.
    var group: any SharedGroup { get }

    /// Runs one Executor from its push to its end.
    ///
    /// - Parameters:
    ///   - fate: What it does to itself, where this build can.
    ///   - body: Given the Executor while it lives.
    func push(
        _ callID: CallID, fate: SoakFate, as name: String,
        living body: @escaping @Sendable (any SoakVictim) async -> Void
    ) async throws -> SoakPushEnd

    /// Runs one Main until `body` returns, and asks it to stop then.
    ///
    /// - Parameter body: Given the Main while it lives.
    /// - Returns: What was wrong with its end, if anything was.
    func main(
        as name: String, living body: @escaping @Sendable (any SoakVictim) async -> Void
    ) async throws -> String?
}

/// What became of an Executor.
struct SoakPushEnd: Sendable {
    /// What it printed.
    var line: ExecutorLine?
    /// Whether it was killed, by the soak, by itself or by a Main.
    var wasKilled = false
    /// What else was wrong with its end.
    var problem: String?
}

/// A participant that can be killed and frozen.
protocol SoakVictim: Sendable {
    /// Whether an ownership is its own.
    func isHolder(_ owner: GroupOwner) -> Bool
    /// Kills it as SIGKILL does. Nothing happens to one that has ended.
    func kill() async
    /// Stops it as SIGSTOP does; returns when it has stopped or ended.
    func freeze() async
    /// Lets it go on.
    func thaw() async
}
