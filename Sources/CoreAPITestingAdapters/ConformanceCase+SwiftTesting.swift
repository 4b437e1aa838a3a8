public import CoreAPITesting
public import Testing

/// Shows a case by its number and what it says.
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
    /// - Parameter gaps: Why a case may be left out, by its id: for what the backend declares that it cannot, and what the
    ///   harness or the machine cannot. Any other case that does not run is an issue, so that nothing is left out
    ///   unseen.
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
