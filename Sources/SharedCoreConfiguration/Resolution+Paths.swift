internal import Platform
internal import ProgramOutput

extension Resolution {
    /// Returns the absolute path of the directory that contains the groups.
    package func stateDirectory() throws(ConfigurationFailure) -> String {
        if let path = try absolutePath(Settings.stateDirectory) { return path }
        guard let state = UserDirectory.state.path(in: environment) else {
            throw ConfigurationFailure(
                "stateDirectory has no default, because neither XDG_STATE_HOME nor HOME is set to an absolute path; "
                    + "give --state-directory, SHAREDCORE_STATE_DIRECTORY or the key “stateDirectory”.")
        }
        return state + "/sharedcore"
    }

    /// Returns the absolute path of the group's directory.
    package func groupDirectory() throws(ConfigurationFailure) -> String {
        let parent = try stateDirectory()
        return (parent == "/" ? "" : parent) + "/" + (try value(Settings.group))
    }

    /// Returns the absolute path of the core's Maildir.
    package func maildir() throws(ConfigurationFailure) -> String {
        if let path = try absolutePath(Settings.coreMaildir) { return path }
        return try groupDirectory() + "/Maildir"
    }

    /// Returns the program that runs as the core, and its arguments; nil for the core with a Maildir. A relative path
    /// of the program is resolved as paths of settings are; a name is searched in `PATH`.
    package func coreCommand() throws(ConfigurationFailure) -> [String]? {
        guard var words = try value(Settings.coreCommand) else { return nil }
        if words[0].utf8.contains(UInt8(ascii: "/")) {
            words[0] = try absolutePath(words[0], of: Settings.coreCommand.erased)
        }
        return words
    }

    /// Returns a setting's path, made absolute. A path in a file is relative to the file's directory, any other to the
    /// working directory; `~/` is the user's home.
    package func absolutePath(_ setting: Setting<String>) throws(ConfigurationFailure) -> String? {
        guard let path = try optional(setting) else { return nil }
        return try absolutePath(path, of: setting.erased)
    }

    /// Returns the value of a setting as an absolute path.
    package func absolutePath(_ path: String, of setting: AnySetting) throws(ConfigurationFailure) -> String {
        if path.isAbsolutePath { return path.normalizedPath }
        if path == "~" || path.startsWithBytes(of: "~/"), let home = environment["HOME"], home.isAbsolutePath {
            return (home + path.dropFirst()).normalizedPath
        }
        // The directory of a shell's pipe, `<(...)`, is no useful base for a path.
        if case .file(let file, _, _) = find(setting)?.origin, !file.startsWithBytes(of: "/dev/") {
            return (try absolutePath(file) + "/../" + path).normalizedPath
        }
        return try absolutePath(path)
    }

    /// Returns a path from the command line as an absolute path.
    package func absolutePath(_ path: String) throws(ConfigurationFailure) -> String {
        path.isAbsolutePath ? path.normalizedPath : (try workingDirectory.path(for: path) + "/" + path).normalizedPath
    }
}

/// The directory that the program was called in.
package enum WorkingDirectory: Hashable, Sendable, ExpressibleByStringLiteral {
    case path(String)
    /// The path of the directory is not UTF-8. The value is its escaped form, for messages.
    case notText(String)
    /// The directory was removed, or this process cannot reach it.
    case gone

    package init(_ bytes: [UInt8]) {
        do throws(ProgramText.NotText) {
            self = .path(try ProgramText.text(bytes))
        } catch {
            self = .notText(error.shown)
        }
    }

    package init(stringLiteral path: String) { self = .path(path) }

    /// Returns its path, which a relative one starts from.
    package func path(for relative: String) throws(ConfigurationFailure) -> String {
        let problem: String
        switch self {
        case .path(let path): return path
        case .notText(let shown): problem = "“\(shown)”, which is not UTF-8"
        case .gone: problem = "gone"
        }
        throw ConfigurationFailure(
            "“\(relative)” is relative to the working directory, which is \(problem); give an absolute path.")
    }
}

extension String {
    /// The path without `.`, `..` and doubled separators, by its text alone. The path must be absolute.
    package var normalizedPath: String {
        var parts: [String] = []
        for part in pathParts {
            switch part {
            case ".": continue
            case "..": _ = parts.popLast()
            default: parts.append(part)
            }
        }
        return "/" + parts.joined(separator: "/")
    }
}

extension Resolution {
    /// Returns the absolute path of the directory for the group's sockets: a separate one in the user's runtime
    /// directory, else the group's directory.
    package func runtimeDirectory() throws(ConfigurationFailure) -> String {
        RuntimeDirectory.path(
            ofGroup: try groupDirectory(), runtimeDirectory: UserDirectory.runtime.path(in: environment))
    }

    /// Returns the path of the socket at which the host takes pushes; nil for none.
    package func pushSocket() throws(ConfigurationFailure) -> String? {
        if try optional(Settings.pushSocket) == "none" { return nil }
        if let path = try absolutePath(Settings.pushSocket) { return path }
        return try runtimeDirectory() + "/push"
    }

    /// Returns the address at which the host serves its metrics; nil for none.
    package func metricsPlace() throws(ConfigurationFailure) -> MetricsPlace? {
        guard let given = try optional(Settings.metricsListen) else {
            return .path(try runtimeDirectory() + "/metrics")
        }
        guard case .path(let path) = given else { return given }
        return .path(try absolutePath(path, of: Settings.metricsListen.erased))
    }
}

/// The standard directories of a user's files.
///
/// Source: XDG Base Directory Specification 0.8. A variable that is empty or contains a relative path counts as unset.
package enum UserDirectory: CaseIterable {
    case configuration, state, runtime

    /// The variables of the environment that name these directories.
    package static let variables = allCases.map(\.variable) + ["HOME"]

    private var variable: String {
        switch self {
        case .configuration: "XDG_CONFIG_HOME"
        case .state: "XDG_STATE_HOME"
        case .runtime: "XDG_RUNTIME_DIR"
        }
    }

    /// The place in the home directory if the variable is not set; nil if only a directory made by the system is right.
    private var placeInHome: String? {
        switch self {
        case .configuration: "/.config"
        case .state: "/.local/state"
        case .runtime: nil
        }
    }

    /// Returns the directory's path; nil if the environment names neither it nor its parent.
    package func path(in environment: [String: String]) -> String? {
        if let path = environment[variable], path.isAbsolutePath { return path }
        guard let placeInHome, let home = environment["HOME"], home.isAbsolutePath else { return nil }
        return (home == "/" ? "" : home) + placeInHome
    }
}
