internal import BackendRegistry
package import CoreAPI
internal import ProgramOutput

/// Why a configuration cannot be used: the kind of fault, the place that it was read from, and a sentence.
package struct ConfigurationFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: SharedCoreError.Code
    /// The place of the failure, such as `/etc/chat.yaml:3:5` or `SHAREDCORE_BACKEND`; nil if it has none.
    package let place: String?
    package let sentence: String

    package init(_ code: SharedCoreError.Code = .invalidArgument, at place: String?, _ sentence: String) {
        self.code = code
        self.place = place
        self.sentence = sentence
    }

    /// Creates a failure without a place.
    package init(_ sentence: String) {
        self.init(at: nil, sentence)
    }

    /// One line that begins with the place.
    package var description: String { place.map { "\($0): \(sentence)" } ?? sentence }

    /// The failure as the error that the library throws to an application.
    package var error: SharedCoreError { SharedCoreError(code, sentence, at: place ?? "configuration") }
}

extension ConfigurationFailure {
    /// Returns the failure for a setting with an invalid text. A text that has the form of a key is not shown.
    package static func wrongValue(_ text: String, of setting: AnySetting, at place: String) -> ConfigurationFailure {
        guard !SecretText.isKey(text) else {
            return ConfigurationFailure(
                at: place,
                "\(setting.name) has the form of a key, which is not shown; it must be \(setting.expectation).")
        }
        let suggestion = Spelling.suggestion(for: text, among: setting.choices)
        return ConfigurationFailure(
            at: place,
            "\(setting.name) is “\(ProgramText.excerpt(text))”; it must be \(setting.expectation)"
                + (suggestion.isEmpty ? "." : suggestion))
    }

    /// Returns the failure for an unknown key, with the most similar one.
    package static func unknownKey(_ name: String, at place: String?) -> ConfigurationFailure {
        ConfigurationFailure(at: place, "unknown key “\(ProgramText.excerpt(name))”" + suggestion(for: name))
    }

    /// Returns the failure for an unknown key of a backend that is not bundled, with the most similar one or all.
    static func unknownKey(_ name: String, of backend: any BackendFactory, at place: String?) -> ConfigurationFailure {
        let section = backend.name + "."
        let keys = backend.settings.map(\.key)
        let all = keys.isEmpty ? "no keys" : keys.map { "“\($0)”" }.joined(separator: ", ")
        // Without the section, which makes all of them similar.
        let nearest = Spelling.nearest(
            to: String(name.dropFirst(section.count)), among: keys.map { String($0.dropFirst(section.count)) })
        let hint = nearest.map { "did you mean “\(section)\($0)”?" } ?? "the backend “\(backend.name)” has \(all)."
        return ConfigurationFailure(at: place, "unknown key “\(ProgramText.excerpt(name))”; \(hint)")
    }

    private static func suggestion(for name: String) -> String {
        if let now = FormerNames.keys[name] { return "; it is “\(now)” now." }
        let names = Settings.all.map(\.name)
        // A key that was written without its section is the likeliest mistake.
        if let whole = names.first(where: { $0.hasSuffix("." + name) }) { return "; did you mean “\(whole)”?" }
        if let variable = Settings.all.first(where: { $0.environmentName == name }) {
            return "; did you mean “\(variable.name)”?"
        }
        let keys = names + sections(of: names)
        if keys.contains(name) {
            let parts = names.filter { $0.hasPrefix(name + ".") }.map { "“\($0)”" }.joined(separator: ", ")
            return "; it is a section, with the keys \(parts)."
        }
        if let nearest = Spelling.nearest(to: name, among: keys) { return "; did you mean “\(nearest)”?" }
        if let longer = names.first(where: { $0.lowercased().hasSuffix(name.lowercased()) }), name.count > 3 {
            return "; did you mean “\(longer)”?"
        }
        let similar = Spelling.similar(to: name, among: keys)
        let list = "“sharedcore help settings” lists the keys."
        guard !similar.isEmpty else { return "; \(list)" }
        return
            "; the most similar \(similar.count == 1 ? "is" : "are") \(similar.map { "“\($0)”" }.joined(separator: ", ")). \(list)"
    }

    /// Returns the beginnings of keys that have more of them below.
    private static func sections(of names: [String]) -> [String] {
        names.flatMap { name in
            let parts = name.split(separator: ".")
            return parts.indices.dropFirst().map { parts[..<$0].joined(separator: ".") }
        }
    }
}
