/// A test waited for something that did not come.
package struct ConditionNotMet: Error, CustomStringConvertible {
    /// What was waited for.
    package let expectation: String
    /// For how long.
    package let limit: Duration

    package var description: String { "This did not happen within \(limit): \(expectation)" }
}
