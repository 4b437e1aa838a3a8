/// What a participant is in its application, for people and for the rules of ownership.
public struct SessionRole: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The long-lived process of the application.
    public static let main = SessionRole(rawValue: "main")
    /// A short-lived process that a push woke.
    public static let executor = SessionRole(rawValue: "executor")
    /// Anything that only looks or writes: a command, a monitor.
    public static let tool = SessionRole(rawValue: "tool")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public var description: String { rawValue }
}
