/// What holds when a setting is given nowhere.
enum SettingFallback: Sendable {
    /// Always the same.
    case text(String)
    /// What other settings and the environment make of it; the text says how, for people.
    case derived(String)
    /// Nothing.
    case none

    /// The default as the table of settings shows it.
    var description: String {
        switch self {
        case .text(let text): text
        case .derived(let explanation): explanation
        case .none: "none"
        }
    }
}
