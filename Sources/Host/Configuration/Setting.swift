internal import Configuration

/// One thing that can be configured: its key, what it takes, and what holds when nobody says anything.
struct Setting<Value: Sendable>: Sendable {
    /// The key, with dots between its parts.
    let name: String
    let kind: SettingKind<Value>
    /// What holds by default.
    let fallback: SettingFallback
    /// One line for people.
    let summary: String

    init(_ name: String, _ kind: SettingKind<Value>, default fallback: SettingFallback, _ summary: String) {
        self.name = name
        self.kind = kind
        self.fallback = fallback
        self.summary = summary
    }

    /// The same without its type, for tables.
    var erased: AnySetting {
        AnySetting(
            name: name, kindName: kind.name, expectation: kind.expectation, choices: kind.choices, fallback: fallback,
            summary: summary, accepts: { [kind] text in kind.parse(text) != nil })
    }
}
