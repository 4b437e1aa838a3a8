/// Where the value of a setting was written.
enum SettingOrigin: Hashable, Sendable, CustomStringConvertible {
    /// On the command line, by this flag.
    case flag(String)
    /// In this environment variable.
    case environment(String)
    /// In a file, at a line and a column counted from 1.
    case file(path: String, line: Int, column: Int)
    /// Nowhere: it is the default.
    case fallback

    /// The place as messages name it.
    var description: String {
        switch self {
        case .flag(let name): name
        case .environment(let name): name
        case .file(let path, let line, let column): "\(path):\(line):\(column)"
        case .fallback: "default"
        }
    }

    /// The kind of place, for scripts.
    var kind: String {
        switch self {
        case .flag: "flag"
        case .environment: "environment"
        case .file: "file"
        case .fallback: "default"
        }
    }
}
