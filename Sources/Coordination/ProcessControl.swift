public import CoreAPI

/// Inspects the process of another participant, and ends the process of an Executor that does not release its
/// ownership.
///
/// Source: contract C3, C6.
public protocol ProcessControl: Sendable {
    /// Kills exactly this process, or nothing: a process id that was given to another process meanwhile is left alone.
    ///
    /// - Parameters:
    ///   - process: The process to kill.
    ///   - doubt: Says why the process may not be the meant one; nil when it is proven to be. It is asked while the
    ///     process is held in a way that its number cannot come to mean another process. A control that only simulates
    ///     processes need not ask.
    func kill(_ process: ProcessIdentity, unless doubt: @Sendable () async -> String?) async -> KillResult

    /// Returns true if a process is stopped, as by SIGSTOP; nil if this cannot be determined.
    func isStopped(_ process: ProcessIdentity) async -> Bool?

    /// Returns true if a process runs nothing any more: it is gone, or the system is taking it down. A start time of 0
    /// matches any process of that number. Returns false if the process runs or cannot be seen.
    func isExiting(_ process: ProcessIdentity) async -> Bool
}

extension ProcessControl {
    /// Returns nil: nothing can be seen.
    public func isStopped(_ process: ProcessIdentity) async -> Bool? { nil }

    /// Returns false: nothing can be seen.
    public func isExiting(_ process: ProcessIdentity) async -> Bool { false }
}

/// The outcome of an attempt to kill a process.
public enum KillResult: Hashable, Sendable {
    /// The signal was sent.
    case signalled
    /// The process had ended before.
    case gone
    /// It could not be done from here, for this reason.
    case impossible(String)
}
