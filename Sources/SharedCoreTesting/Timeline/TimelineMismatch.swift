/// A timeline does not tell what a test expects.
public struct TimelineMismatch: Error, CustomStringConvertible {
    /// What is missing, or stands there and should not.
    public let problem: String
    /// The timeline in sentences.
    public let timeline: String

    public var description: String { problem + "\n" + timeline }
}
