/// The directories that a user's programs keep their files in.
///
/// Source: XDG Base Directory Specification 0.8. A variable that is empty or holds a relative path counts as unset.
enum UserDirectory: CaseIterable {
    case configuration, state, runtime

    /// The variables of the environment that say where they are.
    static let variables = allCases.map(\.variable) + ["HOME"]

    private var variable: String {
        switch self {
        case .configuration: "XDG_CONFIG_HOME"
        case .state: "XDG_STATE_HOME"
        case .runtime: "XDG_RUNTIME_DIR"
        }
    }

    /// Where it is when the variable does not say; nil where nothing is right but what the system made.
    private var placeInHome: String? {
        switch self {
        case .configuration: "/.config"
        case .state: "/.local/state"
        case .runtime: nil
        }
    }

    /// The directory's path; nil when the environment names neither it nor what it is in.
    func path(in environment: [String: String]) -> String? {
        if let path = environment[variable], path.hasPrefix("/") { return path }
        guard let placeInHome, let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return (home == "/" ? "" : home) + placeInHome
    }
}
