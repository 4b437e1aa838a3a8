public import CoreAPITesting
public import Testing

/// Describes a case by its number and its title.
extension ConformanceCase: CustomTestStringConvertible {
    public var testDescription: String { description }
}

extension ConformanceCase {
    /// Runs the case as a test of Swift Testing: a failure becomes an issue of the test that calls this. Prints a line with the
    /// outcome and the duration. Does nothing if `SHAREDCORE_TEST_CASES` names other cases.
    ///
    /// ```swift
    /// @Suite(.serialized) struct MyBackendTests {
    ///     @Test(arguments: ConformanceSuite.cases)
    ///     func conforms(to conformanceCase: ConformanceCase) async {
    ///         await conformanceCase.test(on: MyHarness(), leavingOut: ["S15a": "there is one process"])
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter gaps: The reasons for which cases may be skipped, by their ids: features that the backend, the
    ///   harness or the machine lacks. A skipped case without a reason is an issue, so that no case is skipped
    ///   unnoticed.
    public func test(
        on harness: any ConformanceHarness, leavingOut gaps: [String: String] = [:], seed: UInt64? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        if let chosen = ConformanceSuite.chosenCases, !chosen.contains(self) { return }
        let result = await run(on: harness, seed: seed)
        result.printReport()
        guard let problem = result.problem(leavingOut: gaps) else { return }
        Issue.record("\(problem)", sourceLocation: sourceLocation)
    }
}
