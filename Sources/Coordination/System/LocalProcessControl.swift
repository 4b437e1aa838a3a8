public import CoreAPI
package import Platform

/// Kills processes of this machine through a pidfd, which cannot come to mean another process.
public struct LocalProcessControl: ProcessControl {
    public init() {}

    public func isStopped(_ process: ProcessIdentity) async -> Bool? {
        process.isStopped
    }

    public func isExiting(_ process: ProcessIdentity) async -> Bool {
        process.isExiting
    }

    public func kill(_ process: ProcessIdentity, unless doubt: @Sendable () async -> String?) async -> KillResult {
        await signal(.kill, to: process, unless: doubt)
    }

    /// Sends a signal to exactly this process, or to none, as ``kill(_:unless:)`` does.
    package func signal(
        _ signal: ProcessSignal, to process: ProcessIdentity, unless doubt: @Sendable () async -> String?
    ) async -> KillResult {
        let handle: ProcessHandle
        do throws(ProcessUnreachable) {
            handle = try ProcessHandle(process)
        } catch {
            switch error {
            case .dead: return .gone
            case .unknown(let cause): return .impossible("its process cannot be opened (\(cause))")
            }
        }
        // The pidfd is open, so the proof is about the process that the pidfd names. If that process has ended, it gets
        // no signal.
        if let reason = await doubt() {
            return handle.hasEnded || process.isExiting ? .gone : .impossible(reason)
        }
        // All participants of a group run as one user, but a damaged or forged record can name any process.
        if let user = handle.user, user != OwnProcess.user { return .impossible("its process is user \(user)'s") }
        do throws(SystemCallError) {
            return try handle.signal(signal) ? .signalled : .gone
        } catch {
            return .impossible("its process cannot be signalled (\(error))")
        }
    }
}
