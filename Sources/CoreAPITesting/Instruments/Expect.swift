package import CoreAPI

// The checks are never inlined: cases are long asynchronous functions, which the optimizer would otherwise copy at each
// `await`.

/// Ends the case unless a condition holds.
///
/// - Parameter what: The expectation, as a phrase: "an absent key is nil".
@inline(never)
package func expect(
    _ condition: Bool, _ what: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) throws {
    guard condition else { throw CheckFailure("This does not hold: \(what())", file, line) }
}

/// Ends the case unless two values are equal.
@inline(never)
package func expect<Value: Equatable>(
    _ found: Value, is expected: Value, _ what: @autoclosure () -> String, file: StaticString = #fileID,
    line: UInt = #line
) throws {
    guard found != expected else { return }
    throw CheckFailure("\(what()): found \(short(found)), expected \(short(expected))", file, line)
}

/// Ends the case if the value is nil, else returns it.
@inline(never)
package func expectSome<Value>(
    _ found: Value?, _ what: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) throws -> Value {
    guard let found else { throw CheckFailure("\(what()): nothing was found", file, line) }
    return found
}

/// Ends the case unless a call throws an error of a code.
@inline(never)
package func expect<Result>(
    _ code: SharedCoreError.Code, from what: @autoclosure () -> String, file: StaticString = #fileID,
    line: UInt = #line, _ call: () async throws -> Result
) async throws {
    switch try await attempt(call) {
    case .success(let result):
        throw CheckFailure("\(what()) should be refused as \(code), but gave \(short(result))", file, line)
    case .failure(let error):
        guard error.code != code else { return }
        throw CheckFailure("\(what()) should be refused as \(code), but was: \(error)", file, line)
    }
}

/// Returns a value as text that does not fill a screen.
private func short(_ value: some Any) -> String {
    let text = String(describing: value)
    return text.count <= 400 ? text : "\(text.prefix(400))… (\(text.count) characters)"
}

/// A check of a case that did not hold.
package struct CheckFailure: Error, CustomStringConvertible {
    /// The expectation, the result, and the place.
    package let description: String

    init(_ text: String, _ file: StaticString, _ line: UInt) {
        description = "\(text) (\(file):\(line))"
    }
}
