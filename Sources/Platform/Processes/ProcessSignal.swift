internal import Glibc

/// The signals that processes of a group send each other.
package enum ProcessSignal: Sendable {
    /// Ends the process at once.
    case kill
    /// Asks the process to end.
    case terminate
    /// Stops the process where it is.
    case stop
    /// Lets a stopped process go on.
    case `continue`

    var rawValue: Int32 {
        switch self {
        case .kill: SIGKILL
        case .terminate: SIGTERM
        case .stop: SIGSTOP
        case .continue: SIGCONT
        }
    }
}
