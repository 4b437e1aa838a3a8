internal import ArgumentParser
internal import SharedCoreConfiguration

extension ArgumentHelp {
    /// Returns the help of an option with a duration.
    static func duration(_ abstract: String) -> ArgumentHelp { ArgumentHelp(abstract, valueName: "duration") }
}

extension DurationText {
    /// Reads a duration from the command line, and refuses zero, which would make the option meaningless.
    static func argument(_ text: String) throws -> Duration {
        guard let duration = parse(text), duration > .zero else {
            throw ValidationError("It must be \(positiveExpectation).")
        }
        return duration
    }
}
