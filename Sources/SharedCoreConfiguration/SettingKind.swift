internal import Platform
internal import PluginBackend

/// The conversion of a setting's text into a value, and the description of valid texts.
package struct SettingKind<Value: Sendable>: Sendable {
    /// A word for the table of settings, such as `duration`.
    package let name: String
    /// The valid texts in words, to follow "it must be".
    package let expectation: String
    /// The texts that a misspelt one is compared with.
    package var choices: [String] = []
    /// The value; nil when the text is wrong.
    package let parse: @Sendable (String) -> Value?
}

extension SettingKind where Value == String {
    /// The bundled backends, including those that this build does not have.
    package static let bundledBackends = ["memory", "file", "zmq", "etcd"]

    /// A bundled backend, or the name of a plugin. Such a plugin may be absent: it is not checked here.
    package static let backend = SettingKind(
        name: bundledBackends.joined(separator: ", ") + " or a plugin",
        expectation: bundledBackends.alternatives + ", or the name of a plugin", choices: bundledBackends,
        parse: { bundledBackends.contains($0) || BackendPlugin.isName($0) ? $0 : nil })

    /// Any text but the empty one.
    package static let text = SettingKind(name: "text", expectation: "a text", parse: { $0.isEmpty ? nil : $0 })

    /// A path. The source of the value determines the directory to which a relative path is relative. The word for no
    /// value is not a path, even if the setting always has a value.
    package static let path = SettingKind(
        name: "path", expectation: "a path without NUL bytes (“./none” for a file of the name “none”)",
        parse: { $0 == SettingFallback.noneText ? nil : anyPath($0) })

    /// A path, or none.
    package static let pathOrNone = SettingKind(
        name: "path", expectation: "a path without NUL bytes, or “none”", parse: anyPath)

    private static func anyPath(_ text: String) -> String? { text.isEmpty || text.utf8.contains(0) ? nil : text }

    /// The path of a file with keys. A text in the form of a key is refused: it was given in place of the path of its
    /// file.
    package static let keyFile = SettingKind(
        name: "path", expectation: "the path of a file",
        parse: { SecretText.isKey($0) ? nil : path.parse($0) })

    /// The name of a group, which is also the name of its directory.
    package static let groupName = SettingKind(
        name: "name",
        expectation: "1 to 64 letters, digits, “.”, “_” or “-”, beginning with a letter or a digit",
        parse: { GroupName.isValid($0) ? $0 : nil })

    /// Returns the kind of a setting whose value is one of a few words.
    package static func choice(_ choices: [String]) -> SettingKind {
        SettingKind(
            name: choices.joined(separator: ", "), expectation: choices.alternatives, choices: choices,
            parse: { choices.contains($0) ? $0 : nil })
    }
}

extension SettingKind where Value == Duration {
    /// A time that may be zero.
    package static let duration = SettingKind(
        name: "duration", expectation: DurationText.expectation, parse: DurationText.parse)

    /// A duration above zero, for settings that would have no effect with zero.
    package static let positiveDuration = SettingKind(
        name: "duration", expectation: DurationText.positiveExpectation,
        parse: { text in DurationText.parse(text).flatMap { $0 > .zero ? $0 : nil } })
    /// The time in which a Main that rests must resume. With a shorter time, a busy machine would end rests; with a
    /// longer one, a push would wait too long for a Main that never resumes.
    package static let wakeBound = SettingKind(
        name: "duration", expectation: DurationText.expectation + ", 1 s to 30 s",
        parse: { text in
            DurationText.parse(text).flatMap { (Duration.seconds(1)...Duration.seconds(30)).contains($0) ? $0 : nil }
        })
}

extension SettingKind where Value: RawRepresentable & Sendable, Value.RawValue == String {
    /// Returns the kind of a setting whose value is the name of one of the cases.
    package static func oneOf(_ cases: [Value]) -> SettingKind {
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

/// The kinds of settings that only the host has.
extension SettingKind where Value == Int {
    /// How many of something; at least one.
    package static let count = SettingKind(
        name: "1 to 10000", expectation: "a number from 1 to 10000",
        parse: { text in Int(text).flatMap { (1...10_000).contains($0) ? $0 : nil } })
}

extension SettingKind where Value == MetricsPlace? {
    /// A port, the path of a socket, or nowhere.
    package static let metricsPlace = SettingKind(
        name: "port or path", expectation: MetricsPlace.expectation,
        parse: { $0 == "none" ? .some(nil) : MetricsPlace($0).map { .some($0) } })
}

extension SettingKind where Value == [String] {
    /// A program with its arguments.
    package static let command = SettingKind(
        name: "command", expectation: CommandText.expectation, parse: CommandText.parse)
}

extension SettingKind where Value == [String]? {
    /// A program with its arguments, or none.
    package static let commandOrNone = SettingKind(
        name: "command", expectation: CommandText.expectation + ", or “none”",
        parse: { $0 == "none" ? .some(nil) : CommandText.parse($0).map { .some($0) } })
}

extension SettingKind where Value == UInt64? {
    /// No process can run with less memory. A smaller number is a mistake: its unit was forgotten.
    private static var minimumMemory: UInt64 { 1 << 20 }

    /// An amount of memory, or none.
    package static let memory = SettingKind(
        name: "memory", expectation: ByteCountText.expectation,
        parse: { text in
            if text == "none" { return .some(nil) }
            return ByteCountText.parse(text).flatMap { $0 < minimumMemory ? nil : .some($0) }
        })
}

extension SettingKind where Value == Int {
    /// The memory that a hub may use for a client: `HubOptions.leastClientMemory` or more.
    package static let clientMemory = SettingKind(
        name: "memory", expectation: "an amount such as 54MiB, 26MiB or more (a bare number means bytes)",
        parse: { text in
            ByteCountText.parse(text).flatMap { Int(exactly: $0) }.flatMap { $0 < 26 << 20 ? nil : $0 }
        })
}
