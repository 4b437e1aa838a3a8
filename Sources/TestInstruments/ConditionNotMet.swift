/// A test waited for something that did not come.
public struct ConditionNotMet: Error, CustomStringConvertible {
    /// What was waited for.
    public let expectation: String
    /// For how long.
    public let limit: Duration

    public init(expectation: String, limit: Duration) {
        self.expectation = expectation
        self.limit = limit
    }

    public var description: String { "This did not happen within \(limit): \(expectation)" }
}
