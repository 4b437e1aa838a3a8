internal import BackendRegistry
internal import CommandCore
internal import Coordination
internal import Logging
internal import ProgramOutput
internal import SharedCoreConfiguration

/// Variables that look like settings but are not.
enum UnknownVariables {
    private static let prefix = EnvironmentLayer.prefix

    /// Variables with the prefix that are not settings: those of this program, its keeper, the Python package and the
    /// tests, and former ones, which are refused.
    private static let others =
        [EnvironmentLayer.fileVariable, prefix + "FAIL_POINT"] + LaunchMark.Role.allCases.map(\.variable)
        + Push.Variable.allCases.map(\.rawValue) + CoreVariables.names
        + ["KEEPER", "BACKGROUND", "LIBRARY"].map { prefix + $0 }
        + FormerNames.keys.keys.map { EnvironmentLayer.variable(of: $0) }

    /// Logs a warning for each of them. They are no error, because another version may know them.
    static func warn(of resolution: Resolution, logger: Logger) {
        for message in messages(of: resolution) { logger.warning("\(message)") }
    }

    /// Returns a message for each. Variables of an installed plugin or an added backend that is not in use are left out,
    /// because only it knows them.
    static func messages(of resolution: Resolution) -> [String] {
        let known = resolution.settings.map(\.environmentName)
        let unknown = resolution.environment.keys.filter { $0.hasPrefix(prefix) && !(known + others).contains($0) }
        let backends = unknown.isEmpty ? [] : resolution.pluginNames + resolution.added.map(\.name)
        let unused = backends.filter { $0 != resolution.factory?.name }
        let prefixes = unused.map { EnvironmentLayer.variable(of: $0) + "_" }
        return unknown.sorted().filter { name in !prefixes.contains { name.hasPrefix($0) } }.map { name in
            "unknown variable \(name)\(Spelling.suggestion(for: name, among: known))"
        }
    }
}
