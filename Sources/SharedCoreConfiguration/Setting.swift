internal import BackendRegistry

/// A setting: its key, the values that it takes, and its default.
package struct Setting<Value: Sendable>: Sendable {
    /// The key, with dots between its parts.
    package let name: String
    package let kind: SettingKind<Value>
    /// The default.
    package let fallback: SettingFallback
    /// One line for people.
    package let summary: String

    package init(_ name: String, _ kind: SettingKind<Value>, default fallback: SettingFallback, _ summary: String) {
        self.name = name
        self.kind = kind
        self.fallback = fallback
        self.summary = summary
    }

    /// The setting without the type of its value, for tables with all settings.
    package var erased: AnySetting {
        let orNone = if case .none = fallback { ", or “\(SettingFallback.noneText)”" } else { "" }
        return AnySetting(
            name: name, kindName: kind.name, expectation: kind.expectation + orNone, choices: kind.choices,
            fallback: fallback, summary: summary,
            accepts: { [kind, fallback] text in fallback.isGiven(by: text) || kind.parse(text) != nil })
    }
}

/// A setting as a row of the table: everything but the type of its value.
package struct AnySetting: Sendable {
    package let name: String
    package let kindName: String
    package let expectation: String
    package let choices: [String]
    package let fallback: SettingFallback
    package let summary: String
    package let accepts: @Sendable (String) -> Bool
    /// True if the value is not shown.
    package var isSecret = false

    /// The environment variable of the setting, such as `SHAREDCORE_HANDOVER_MAXIMUM_TIMEOUT`.
    package var environmentName: String {
        EnvironmentLayer.variable(of: name)
    }

    /// The option of the setting, if it has one, such as `--state-directory`.
    package var optionName: String {
        "--" + EnvironmentLayer.name(of: name).lowercased().replacing("_", with: "-")
    }
}

extension AnySetting {
    /// Makes a setting of a plugin or an added backend. Only the backend knows which texts are valid.
    init(_ setting: BackendSetting) {
        self.init(
            name: setting.key, kindName: "text", expectation: "a text", choices: [],
            fallback: setting.fallback.map { .text($0) } ?? .none, summary: setting.summary, accepts: { !$0.isEmpty },
            isSecret: setting.isSecret)
    }
}

/// The default of a setting, in force if no source gives a value.
package enum SettingFallback: Sendable {
    /// A fixed text.
    case text(String)
    /// Derived from other settings and the environment; the text explains how, for people.
    case derived(String)
    /// No value.
    case none

    /// The text for no value: the table of settings shows it, and every source may use it.
    package static let noneText = "none"

    /// Returns true if a text means that the setting has no value, as by default.
    package func isGiven(by text: String) -> Bool {
        if case .none = self { text == Self.noneText } else { false }
    }

    /// The default as the table of settings shows it.
    package var description: String {
        switch self {
        case .text(let text): text
        case .derived(let explanation): explanation
        case .none: Self.noneText
        }
    }
}

/// The source of a setting's value.
package enum SettingOrigin: Hashable, Sendable, CustomStringConvertible {
    /// On the command line, by this flag.
    case flag(String)
    /// In the application, by this key of the values that it passes.
    case value(String)
    /// In this environment variable.
    case environment(String)
    /// In a file, at a line and a column counted from 1.
    case file(path: String, line: Int, column: Int)
    /// No source: the value is the default.
    case fallback

    /// The place as messages name it.
    package var description: String {
        switch self {
        case .flag(let name): name
        case .value(let key): "values[\"\(key)\"]"
        case .environment(let name): name
        case .file(let path, let line, let column): "\(path):\(line):\(column)"
        case .fallback: "default"
        }
    }

    /// The kind of place, for scripts.
    package var kind: String {
        switch self {
        case .flag: "flag"
        case .value: "value"
        case .environment: "environment"
        case .file: "file"
        case .fallback: "default"
        }
    }
}
