internal import Configuration

/// A setting as a row of the table: everything but the type of its value.
struct AnySetting: Sendable {
    let name: String
    let kindName: String
    let expectation: String
    let choices: [String]
    let fallback: SettingFallback
    let summary: String
    let accepts: @Sendable (String) -> Bool

    /// The key as the sources of configuration know it.
    var key: AbsoluteConfigKey {
        AbsoluteConfigKey(name.split(separator: ".").map(String.init))
    }

    /// The environment variable that gives it, such as `SHAREDCORE_HANDOVER_HARD_MAXIMUM`.
    var environmentName: String {
        EnvironmentLayer.prefix + EnvironmentLayer.name(of: name)
    }
}
