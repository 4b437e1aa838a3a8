public import CoreAPI
internal import Platform

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

/// Kills processes of this machine through a descriptor of the kernel that cannot come to mean another process.
public struct LocalProcessControl: ProcessControl {
    public init() {}

    public func isStopped(_ process: ProcessIdentity) async -> Bool? {
        process.isStopped
    }

    public func isExiting(_ process: ProcessIdentity) async -> Bool {
        process.isExiting
    }

    public func kill(_ process: ProcessIdentity, unless doubt: @Sendable () async -> String?) async -> KillResult {
        let handle: ProcessHandle
        do throws(ProcessUnreachable) {
            handle = try ProcessHandle(process)
        } catch {
            switch error {
            case .dead: return .gone
            case .unknown(let cause): return .impossible("its process cannot be opened (\(cause))")
            }
        }
        // What is proven now is proven of the process that the handle has, or that one has ended and gets no signal.
        if let reason = await doubt() {
            return handle.hasEnded || process.isExiting ? .gone : .impossible(reason)
        }
        // A record can name any process, and no participant of a group is another user's.
        if let user = handle.user, user != OwnProcess.user { return .impossible("its process is user \(user)'s") }
        do throws(SystemCallError) {
            return try handle.signal(.kill) ? .signalled : .gone
        } catch {
            return .impossible("its process cannot be killed (\(error))")
        }
    }
}
