/// The settings as people read them.
enum SettingsTable {
    /// A paragraph for each setting.
    static let text = Settings.all.map { setting in
        "\(setting.name) (\(setting.kindName); default: \(setting.fallback.description); \(setting.environmentName))\n"
            + "  \(setting.summary)"
    }.joined(separator: "\n")
}
