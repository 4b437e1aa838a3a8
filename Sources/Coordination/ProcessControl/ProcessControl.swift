public import CoreAPI

/// How a Main ends the process of an Executor that does not let go.
///
/// Source: contract C3.
public protocol ProcessControl: Sendable {
    /// Kills exactly this process, or nothing: a process id that was given to another process meanwhile is left alone.
    func kill(_ process: ProcessIdentity) async -> KillOutcome
}
