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

    /// Says which they are. They are no error: another version may know them.
    static func warn(in environment: [String: String], logger: Logger) {
        let known = Settings.all.map(\.environmentName)
        for name in environment.keys.sorted() where name.hasPrefix(prefix) && !(known + others).contains(name) {
            logger.warning("unknown variable \(name)\(Spelling.suggestion(for: name, among: known))")
        }
    }
}
