internal import ProgramOutput

extension Resolution {
    /// The absolute path of the directory in which groups lie.
    func parentDirectory() throws(CommandFailure) -> String {
        if let path = try absolutePath(Settings.directory) { return path }
        guard let state = UserDirectory.state.path(in: environment) else {
            throw .configuration(
                "dir has no default, because neither XDG_STATE_HOME nor HOME is set to an absolute path; "
                    + "give --dir, SHAREDCORE_DIR or the key “dir”.")
        }
        return state + "/sharedcore"
    }

    /// The absolute path of the group's directory.
    func groupDirectory() throws(CommandFailure) -> String {
        let parent = try parentDirectory()
        return (parent == "/" ? "" : parent) + "/" + (try value(Settings.group))
    }

    /// The absolute path of the core's Maildir.
    func maildir() throws(CommandFailure) -> String {
        if let path = try absolutePath(Settings.coreMaildir) { return path }
        return try groupDirectory() + "/Maildir"
    }

    /// A setting's path, made absolute: what stands in a file starts from the file's directory, anything else from where
    /// the command was called; `~/` is the user's home.
    func absolutePath(_ setting: Setting<String>) throws(CommandFailure) -> String? {
        guard let path = try optional(setting) else { return nil }
        return try absolutePath(path, of: setting.erased)
    }

    /// What a setting says, as an absolute path.
    func absolutePath(_ path: String, of setting: AnySetting) throws(CommandFailure) -> String {
        if path.hasPrefix("/") { return path.normalizedPath }
        if path == "~" || path.hasPrefix("~/"), let home = environment["HOME"], home.hasPrefix("/") {
            return (home + path.dropFirst()).normalizedPath
        }
        // A pipe of the shell, `<(...)`, stands in no folder that anybody means.
        if case .file(let file, _, _) = try find(setting)?.origin, !file.hasPrefix("/dev/") {
            return (try absolutePath(file) + "/../" + path).normalizedPath
        }
        return try absolutePath(path)
    }

    /// What was given at the command line, as an absolute path.
    func absolutePath(_ path: String) throws(CommandFailure) -> String {
        path.hasPrefix("/") ? path.normalizedPath : (try workingDirectory.path(for: path) + "/" + path).normalizedPath
    }
}

/// The directory that the program was called in.
enum WorkingDirectory: Hashable, Sendable, ExpressibleByStringLiteral {
    case path(String)
    /// Its path is not UTF-8; this is how it is shown.
    case notText(String)
    /// It was removed, or cannot be reached.
    case gone

    init(_ bytes: [UInt8]) {
        do throws(ProgramText.NotText) {
            self = .path(try ProgramText.text(bytes))
        } catch {
            self = .notText(error.shown)
        }
    }

    init(stringLiteral path: String) { self = .path(path) }

    /// Returns its path, which a relative one starts from.
    func path(for relative: String) throws(CommandFailure) -> String {
        let problem: String
        switch self {
        case .path(let path): return path
        case .notText(let shown): problem = "“\(shown)”, which is not UTF-8"
        case .gone: problem = "gone"
        }
        throw .configuration(
            "“\(relative)” starts from the working directory, and that is \(problem); give an absolute path.")
    }
}

extension String {
    /// The path without `.`, `..` and doubled separators, by its text alone. The path must be absolute.
    var normalizedPath: String {
        var parts: [Substring] = []
        for part in split(separator: "/") {
            switch part {
            case ".": continue
            case "..": _ = parts.popLast()
            default: parts.append(part)
            }
        }
        return "/" + parts.joined(separator: "/")
    }
}
