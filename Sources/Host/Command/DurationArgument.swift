internal import ArgumentParser
internal import SharedCoreConfiguration

extension DurationText {
    /// Reads a duration on the command line that must pass for its option to mean anything.
    static func argument(_ text: String) throws -> Duration {
        guard let duration = parse(text), duration > .zero else {
            throw ValidationError("It must be \(positiveExpectation).")
        }
        return duration
    }
}
