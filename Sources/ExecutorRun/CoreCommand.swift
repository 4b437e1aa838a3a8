internal import CommandCore
package import Coordination

/// The program that is the core, by the setting `core.command`.
package struct CoreCommand: Hashable, Sendable {
    /// The program and its arguments.
    package var words: [String]
    /// What its environment has more or otherwise than this process's.
    package var variables: [String: String]
    /// How long it may take to connect.
    package var startTimeout: Duration

    package init(_ words: [String], variables: [String: String] = [:], startTimeout: Duration = .seconds(30)) {
        self.words = words
        self.variables = variables
        self.startTimeout = startTimeout
    }

    /// Makes a core for one ownership.
    package func makeCore() -> any Core {
        CommandCore(words, variables: variables, startTimeout: startTimeout)
    }
}
