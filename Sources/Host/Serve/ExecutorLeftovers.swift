internal import CommandCore
internal import CoreAPI
internal import Platform

/// The processes that the Executors of killed hosts have left running.
enum ExecutorLeftovers {
    /// Ends the processes, and waits for their end. The kernel ends an Executor with its host, but not the processes
    /// that the Executor has started. Processes that have left the process group, such as daemons, and processes of
    /// other users are not ended: any process can have any environment.
    ///
    /// - Parameter timeout: The time limit. A process in an uninterruptible system call does not end before the call.
    static func end(timeout: Duration = .seconds(10)) -> MarkedProcesses.Ending {
        MarkedProcesses.end(timeout: timeout) {
            MarkedProcesses.kill(as: .executor) { process, mark in
                let leadsGroup = process.processGroup.map { mark.number == UInt64(clamping: $0) } == true
                return leadsGroup && mark.parent.liveness == .dead
            }
        }
    }
}
