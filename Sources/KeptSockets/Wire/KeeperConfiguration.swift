internal import CoreAPI
package import Lifecycle

/// The Main of a keeper, and the way in which it is supervised: the arguments of a new keeper, and the message for a
/// running one.
package struct KeeperConfiguration: Hashable, Sendable {
    /// The program of Main, which is searched as the shell does, and its arguments.
    package var command: [String]
    /// The delays, the limits and the watchdog of the supervision.
    package var options: SupervisionOptions

    package init(command: [String], options: SupervisionOptions = SupervisionOptions()) {
        self.command = command
        self.options = options
    }

    private static var durations: [(String, WritableKeyPath<SupervisionOptions, Duration>)] {
        [
            ("--first-delay-ms", \.restart.firstDelay), ("--longest-delay-ms", \.restart.longestDelay),
            ("--window-ms", \.restart.window), ("--steady-after-ms", \.restart.steadyAfter),
            ("--wake-budget-ms", \.wakeBudget), ("--wake-warning-ms", \.wakeWarning),
            ("--stop-grace-ms", \.stopGrace),
        ]
    }
    private static let limit = "--restart-limit"
    private static let watchdog = "--watchdog-ms"

    /// The configuration as arguments of the program.
    package var arguments: [String] {
        var words = Self.durations.flatMap { [$0.0, String(options[keyPath: $0.1].wholeMilliseconds)] }
        words += [Self.limit, String(options.restart.limit)]
        if let watchdog = options.watchdog { words += [Self.watchdog, String(watchdog.wholeMilliseconds)] }
        return words + ["--"] + command
    }

    /// Reads the arguments of `sharedcore-keeper`.
    ///
    /// - Throws: The fault of the arguments.
    package init(_ arguments: [String]) throws(KeeperProblem) {
        var rest = arguments[...]
        var options = SupervisionOptions()
        while let word = rest.popFirst(), word != "--" {
            guard let value = rest.popFirst().flatMap({ UInt32($0) }), value > 0 else {
                throw KeeperProblem(.malformed, "\(word) takes a whole number above zero")
            }
            if let option = Self.durations.first(where: { $0.0 == word }) {
                options[keyPath: option.1] = .milliseconds(value)
            } else if word == Self.limit {
                options.restart.limit = Int(value)
            } else if word == Self.watchdog {
                options.watchdog = .milliseconds(value)
            } else {
                throw KeeperProblem(.malformed, "“\(word)” is not an option")
            }
        }
        guard let program = rest.first, !program.isEmpty else {
            throw KeeperProblem(.malformed, "-- and the command of Main are missing")
        }
        self.init(command: Array(rest), options: options)
    }
}

/// The directory of a keeper's files, which belongs to its user alone.
package struct KeeperPlace: Hashable, Sendable {
    /// The directory's absolute path.
    package let directory: String

    package init(directory: String) {
        self.directory = directory
    }

    /// The variable that tells a Main the path of its keeper's socket.
    package static let socketVariable = "SHAREDCORE_KEEPER"
    /// The variable that tells a Main, by 1, that it is in the background and must not build a user interface (contract
    /// P8).
    package static let backgroundVariable = "SHAREDCORE_BACKGROUND"

    /// The lock that a keeper holds while it runs.
    package static let lockName = "keeper.lock"
    package static let socketName = "keeper.socket"
    /// The lock that a Main holds from before its own program runs until its process ends.
    package static let mainLockName = "main.lock"
    /// The file with the note about Main that is valid until the next restart of the machine.
    package static let memoryName = "main.state"
    package static let logName = "keeper.log"

    /// The path of the keeper's socket.
    package var socket: String { directory + "/" + Self.socketName }
    package var mainLock: String { directory + "/" + Self.mainLockName }
}
