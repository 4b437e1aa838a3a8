internal import Glibc
internal import Synchronization

/// Keeps code of others, such as a plugin, from ending the process with a status that says that its work was done.
package enum ExitGuard {
    private static let ending = Mutex<(status: Int32, line: String)?>(nil)

    /// Gives each `exit(3)` of the process another status until ``end()``, with a line on standard error. Call it once, before
    /// foreign code runs: handlers that were registered earlier do not run then.
    package static func begin(_ status: Int32, saying line: String) {
        ending.withLock { $0 = (status, line) }
        atexit {
            if let (status, line) = ExitGuard.ending.withLock({ $0 }) { OwnProcess.end(status, saying: line) }
        }
    }

    /// Lets the process end by itself.
    package static func end() {
        ending.withLock { $0 = nil }
    }
}
