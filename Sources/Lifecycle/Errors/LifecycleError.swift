/// The error of the calls about background life.
///
/// ``code`` is for programs, ``message`` for people: what is wrong, with what was found and what would be right.
///
/// Source: contract E1.
public struct LifecycleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of fault it is.
    public let code: Code
    /// What is wrong, for people.
    public let message: String
    /// Where: a name, a line.
    public let location: String

    public init(_ code: Code, _ message: String, at location: String) {
        self.code = code
        self.message = message
        self.location = location
    }

    public var description: String { "\(code): \(message) [\(location)]" }
}
