internal import Configuration
internal import Coordination
internal import Logging
internal import Platform
internal import ProgramOutput

/// The settings that the environment gives: variables that begin with `SHAREDCORE_`.
enum EnvironmentLayer {
    static let prefix = "SHAREDCORE_"

    /// The file to read, when `--config` does not name one.
    static let fileVariable = prefix + "CONFIG"

    /// Variables that are no settings and decide where files are.
    private static let places = UserDirectory.variables + ["TMPDIR", "NOTIFY_SOCKET"]

    /// Reads the environment of this process. A variable that is not UTF-8 is left out where this program does not read it.
    ///
    /// - Throws: With status 78, for one that this program reads.
    static func ofProcess() throws(CommandFailure) -> [String: String] {
        var environment: [String: String] = [:]
        for variable in OwnProcess.environment {
            guard let name = String(validating: variable.name, as: UTF8.self) else { continue }
            do throws(ProgramText.NotText) {
                environment[name] = try ProgramText.text(variable.value)
            } catch {
                guard name.hasPrefix(prefix) || places.contains(name) else { continue }
                throw .configuration("\(name): \(error); it must be text.")
            }
        }
        return environment
    }

    /// The provider of the variables' values, under the settings' own keys. An empty variable counts as unset.
    static func provider(of environment: [String: String]) -> EnvironmentVariablesProvider {
        var variables: [String: String] = [:]
        for (name, value) in environment where name.hasPrefix(prefix) && !value.isEmpty {
            variables[String(name.dropFirst(prefix.count))] = value
        }
        return EnvironmentVariablesProvider(environmentVariables: variables)
    }

    /// Variables with the prefix that are no settings: this program's own, its keeper's, and those of its tests.
    private static let others =
        [fileVariable, prefix + "FAIL_POINT"] + LaunchMark.Role.allCases.map(\.variable)
        + Push.Variable.allCases.map(\.rawValue)
        + ["KEEPER", "BACKGROUND"].map { prefix + $0 }

    /// Says which variables look like settings and are none. They are no error: another version may know them.
    static func warnOfUnknown(in environment: [String: String], logger: Logger) {
        let known = Settings.all.map(\.environmentName)
        for name in environment.keys.sorted() where name.hasPrefix(prefix) && !(known + others).contains(name) {
            logger.warning("unknown variable \(name)\(Spelling.suggestion(for: name, among: known))")
        }
    }

    /// The variable that gives the setting of a key.
    static func variable(of key: String) -> String { prefix + name(of: key) }

    /// The variable's name without the prefix, as the provider builds it from a key: `maximumTimeout` is
    /// `MAXIMUM_TIMEOUT`.
    static func name(of key: String) -> String {
        var name = ""
        var previous: Character?
        for character in key {
            if let previous, previous.isLowercase, character.isUppercase { name += "_" }
            name += character == "." ? "_" : character.uppercased()
            previous = character
        }
        return name
    }
}
