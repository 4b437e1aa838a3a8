internal import CommandCore
internal import CoreAPI
internal import Platform

/// What the Executors of hosts that were killed have left running.
enum ExecutorLeftovers {
    /// Ends the processes, and waits for their end. The kernel ends an Executor with its host, and not what a command has
    /// started in turn. One that has left the process group, as a daemon does, is left alone, and so is one of another user:
    /// any process can have any environment.
    ///
    /// - Parameter timeout: How long to go on: a process that the kernel holds ends when it lets it.
    static func end(timeout: Duration = .seconds(10)) -> MarkedProcesses.Ending {
        MarkedProcesses.end(timeout: timeout) {
            MarkedProcesses.kill(as: .executor) { process, mark in
                let leadsGroup = process.processGroup.map { mark.number == UInt64(clamping: $0) } == true
                return leadsGroup && mark.parent.liveness == .dead
            }
        }
    }
}
