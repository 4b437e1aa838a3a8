public import CoreAPI

/// How the process of another participant is looked at, and how a Main ends that of an Executor that does not let go.
///
/// Source: contract C3, C6.
public protocol ProcessControl: Sendable {
    /// Kills exactly this process, or nothing: a process id that was given to another process meanwhile is left alone.
    ///
    /// - Parameters:
    ///   - process: The process that is to be killed.
    ///   - doubt: Says why the process may not be the one that is meant, and nil when it is proven to be. It is
    ///     asked when the process is held in a way that its number cannot come to mean another one. What only plays processes
    ///     need not ask.
    func kill(_ process: ProcessIdentity, unless doubt: @Sendable () async -> String?) async -> KillResult

    /// Whether a process is stopped, as by SIGSTOP; nil when that cannot be seen.
    func isStopped(_ process: ProcessIdentity) async -> Bool?

    /// Whether a process runs nothing any more: it is gone, or the system is taking it down. Its start time may be 0,
    /// for any. False when it runs or cannot be seen.
    func isExiting(_ process: ProcessIdentity) async -> Bool
}

extension ProcessControl {
    /// Nothing can be seen.
    public func isStopped(_ process: ProcessIdentity) async -> Bool? { nil }

    /// Nothing can be seen.
    public func isExiting(_ process: ProcessIdentity) async -> Bool { false }
}

/// What became of an attempt to kill a process.
public enum KillResult: Hashable, Sendable {
    /// The signal was sent.
    case signalled
    /// The process had ended before.
    case gone
    /// It could not be done from here, for this reason.
    case impossible(String)
}
