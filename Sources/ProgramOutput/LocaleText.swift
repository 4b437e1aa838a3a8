internal import Platform

extension ProgramText {
    /// Returns a message in the characters of the locale. If the character set is not UTF-8, as in the locales C and POSIX,
    /// typographic quotes, dashes and marks become ASCII.
    package static func inLocale(_ message: String) -> String {
        isInUTF8 ? message : inASCII(message)
    }

    /// Replaces the typographic characters of this program's messages by ASCII.
    package static func inASCII(_ message: String) -> String {
        guard message.unicodeScalars.contains(where: { replacements[$0] != nil }) else { return message }
        return message.unicodeScalars.reduce(into: "") { text, scalar in
            if let replacement = replacements[scalar] {
                text += replacement
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    /// Returns whether the character set of a locale is UTF-8, by the first variable that names one.
    ///
    /// Source: POSIX.1-2024, XBD 8.2.
    package static func isUTF8(_ value: (_ variable: String) -> String?) -> Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(value)
        guard let name = names.first(where: { !$0.isEmpty })?.lowercased() else { return false }
        return name.contains("utf-8") || name.contains("utf8")
    }

    private static let isInUTF8 = isUTF8(OwnProcess.text)

    private static let replacements: [Unicode.Scalar: String] = [
        "“": "\"", "”": "\"", "‘": "'", "’": "'", "…": "...", "–": "-", "—": "-", "─": "-", "→": "->", "✓": "+",
        "✗": "x", "█": "#", "░": ".",
    ]
}
