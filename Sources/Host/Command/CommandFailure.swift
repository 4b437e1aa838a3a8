internal import ProgramOutput

/// Why a command ends without success: what the shell is told, and what a person.
struct CommandFailure: Error, Hashable, Sendable, CustomStringConvertible {
    let status: ExitStatus
    /// One line without the program's name; nil when the output has said it already.
    let message: String?

    init(_ status: ExitStatus, _ message: String? = nil) {
        self.status = status
        self.message = message
    }

    var description: String { message ?? "it ends with status \(status.rawValue)" }

    static func configuration(_ message: String) -> CommandFailure {
        CommandFailure(.configuration, message)
    }

    static func usage(_ message: String) -> CommandFailure {
        CommandFailure(.usage, message)
    }

    /// A setting whose text is not what it must be.
    static func wrongValue(_ text: String, of setting: AnySetting, at place: String) -> CommandFailure {
        let suggestion = Spelling.suggestion(for: text, among: setting.choices)
        return .configuration(
            "\(place): \(setting.name) is “\(text)”; it must be \(setting.expectation)"
                + (suggestion.isEmpty ? "." : suggestion))
    }
}
