/// What a command's end tells the shell.
enum ExitStatus: Int32, Hashable, Sendable {
    /// Yes, or done.
    case success = 0
    /// No: absent, timed out, refused, a check failed.
    case no = 1
    /// The command line is wrong (`EX_USAGE`).
    case usage = 64
    /// The backend cannot be used now (`EX_UNAVAILABLE`).
    case unavailable = 69
    /// The configuration is wrong (`EX_CONFIG`).
    case configuration = 78
}
