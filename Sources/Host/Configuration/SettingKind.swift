/// How the text of a setting becomes a value, and what a right text looks like.
struct SettingKind<Value: Sendable>: Sendable {
    /// A word for the table of settings, such as `duration`.
    let name: String
    /// What would be right, to follow "it must be".
    let expectation: String
    /// The texts that a misspelt one is compared with.
    var choices: [String] = []
    /// The value; nil when the text is wrong.
    let parse: @Sendable (String) -> Value?
}

extension SettingKind where Value == String {
    /// Any text but the empty one.
    static let text = SettingKind(name: "text", expectation: "a text", parse: { $0.isEmpty ? nil : $0 })

    /// A path; which directory a relative one starts from is decided by where it was written.
    static let path = SettingKind(
        name: "path", expectation: "a path without NUL bytes",
        parse: { $0.isEmpty || $0.utf8.contains(0) ? nil : $0 })

    /// The name of a group, which is also the name of its directory.
    static let groupName = SettingKind(
        name: "name",
        expectation: "1 to 64 letters, digits, “.”, “_” or “-”, beginning with a letter or a digit",
        parse: { GroupName.isValid($0) ? $0 : nil })

    /// One of a few words.
    static func choice(_ choices: [String]) -> SettingKind {
        SettingKind(
            name: choices.joined(separator: ", "), expectation: choices.alternatives, choices: choices,
            parse: { choices.contains($0) ? $0 : nil })
    }
}

extension SettingKind where Value == Duration {
    /// A time that may be zero.
    static let duration = SettingKind(
        name: "duration", expectation: DurationText.expectation, parse: DurationText.parse)

    /// A time that must pass for the setting to mean anything.
    static let positiveDuration = SettingKind(
        name: "duration", expectation: DurationText.expectation + ", longer than zero",
        parse: { text in DurationText.parse(text).flatMap { $0 > .zero ? $0 : nil } })
}

extension SettingKind where Value: RawRepresentable & Sendable, Value.RawValue == String {
    /// One of the named cases.
    static func oneOf(_ cases: [Value]) -> SettingKind {
        let choices = cases.map(\.rawValue)
        return SettingKind(
            name: choices.joined(separator: ", "), expectation: choices.alternatives, choices: choices,
            parse: { text in choices.contains(text) ? Value(rawValue: text) : nil })
    }
}

extension [String] {
    /// The words as a person lists them: "one of a, b or c".
    fileprivate var alternatives: String {
        guard let last, count > 1 else { return joined() }
        return (count > 2 ? "one of " : "") + dropLast().joined(separator: ", ") + " or " + last
    }
}
