/// A check of a case that did not hold.
package struct CheckFailure: Error, CustomStringConvertible {
    /// What was checked, what was found, and where.
    package let description: String

    init(_ text: String, _ file: StaticString, _ line: UInt) {
        description = "\(text) (\(file):\(line))"
    }
}
