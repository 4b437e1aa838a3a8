public import CoreAPI
internal import Platform

/// Kills processes of this machine through a descriptor of the kernel that cannot come to mean another process.
public struct LocalProcessControl: ProcessControl {
    public init() {}

    public func isStopped(_ process: ProcessIdentity) async -> Bool? {
        process.isStopped
    }

    public func isExiting(_ process: ProcessIdentity) async -> Bool {
        process.isExiting
    }

    public func kill(_ process: ProcessIdentity) async -> KillOutcome {
        let handle: ProcessHandle
        do throws(ProcessUnreachable) {
            handle = try ProcessHandle(process)
        } catch {
            switch error {
            case .dead: return .gone
            case .unknown(let cause): return .impossible("its process cannot be opened (\(cause))")
            }
        }
        do throws(SystemCallError) {
            return try handle.signal(.kill) ? .signalled : .gone
        } catch {
            return .impossible("its process cannot be killed (\(error))")
        }
    }
}
