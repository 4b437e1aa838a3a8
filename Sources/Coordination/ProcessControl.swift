public import CoreAPI

/// Inspects the process of another participant, and ends the process of an Executor that does not release its
/// ownership.
///
/// Source: contract C3, C6.
public protocol ProcessControl: Sendable {
    /// Kills exactly this process, or none: a process id that the system has given to another process since is not
    /// killed.
    ///
    /// - Parameters:
    ///   - process: The process to kill.
    ///   - doubt: Returns why the process may not be the right one; nil if it is proven to be. Called while a handle
    ///     such as a pidfd keeps the process id from meaning another process. A control that only simulates processes
    ///     need not call it.
    func kill(_ process: ProcessIdentity, unless doubt: @Sendable () async -> String?) async -> KillResult

    /// Returns true if a process is stopped, as by SIGSTOP; nil if this cannot be determined.
    func isStopped(_ process: ProcessIdentity) async -> Bool?

    /// Returns true if a process runs no code any more: it has ended, or the system is ending it. A start time of 0
    /// matches any process of that number. Returns false if the process runs or cannot be seen.
    func isExiting(_ process: ProcessIdentity) async -> Bool
}

extension ProcessControl {
    /// Returns nil: the state is not known.
    public func isStopped(_ process: ProcessIdentity) async -> Bool? { nil }

    /// Returns false: the state is not known.
    public func isExiting(_ process: ProcessIdentity) async -> Bool { false }
}

/// The outcome of an attempt to kill a process.
public enum KillResult: Hashable, Sendable {
    /// The signal was sent.
    case signalled
    /// The process had already ended.
    case gone
    /// This process cannot kill the other one, for this reason.
    case impossible(String)
}
