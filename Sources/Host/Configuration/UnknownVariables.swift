internal import CommandCore
internal import Coordination
internal import Logging
internal import ProgramOutput
internal import SharedCoreConfiguration

/// Variables that look like settings and are none.
enum UnknownVariables {
    private static let prefix = EnvironmentLayer.prefix

    /// Variables with the prefix that are no settings: this program's own, its keeper's, the Python package's, those of its
    /// tests, and former ones, which are refused.
    private static let others =
        [EnvironmentLayer.fileVariable, prefix + "FAIL_POINT"] + LaunchMark.Role.allCases.map(\.variable)
        + Push.Variable.allCases.map(\.rawValue) + CoreVariables.names
        + ["KEEPER", "BACKGROUND", "LIBRARY"].map { prefix + $0 }
        + FormerNames.keys.keys.map { EnvironmentLayer.variable(of: $0) }

    /// Says which they are. They are no error of a command: another version may know them.
    static func warn(in environment: [String: String], besides settings: [AnySetting], logger: Logger) {
        for message in messages(for: environment, besides: settings) { logger.warning("\(message)") }
    }

    /// Returns a message for each.
    ///
    /// - Parameter settings: All settings, those of a plugin as well.
    static func messages(for environment: [String: String], besides settings: [AnySetting]) -> [String] {
        let known = settings.map(\.environmentName)
        return environment.keys.sorted().filter { $0.hasPrefix(prefix) && !(known + others).contains($0) }.map { name in
            "unknown variable \(name)\(Spelling.suggestion(for: name, among: known))"
        }
    }
}
