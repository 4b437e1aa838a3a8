public import CoreAPITesting
internal import XCTest

/// Runs the suite under XCTest, each case as a test case with a result of its own. Prints a line for each case, with its duration. Runs
/// only the cases that `SHAREDCORE_TEST_CASES` names, where the variable is set.
///
/// ```swift
/// final class MyBackendTests: XCTestCase {
///     func testConformance() {
///         ConformanceXCTest.run(on: MyHarness(), leavingOut: ["S15a": "there is one process"])
///     }
/// }
/// ```
public enum ConformanceXCTest {
    /// Runs the cases and fails the calling test when one of them fails, or was left out without a reason.
    ///
    /// - Parameters:
    ///   - cases: What is to be tried.
    ///   - harness: How the cases get at the backend.
    ///   - gaps: Why a case may be left out, by its id.
    ///   - file: Where a failure is shown.
    ///   - line: Where a failure is shown.
    public static func run(
        _ cases: [ConformanceCase] = ConformanceSuite.cases, on harness: any ConformanceHarness,
        leavingOut gaps: [String: String] = [:], file: StaticString = #filePath, line: UInt = #line
    ) {
        let cases = ConformanceSuite.chosenCases.map { chosen in cases.filter(chosen.contains) } ?? cases
        let suite = XCTestSuite(name: "Conformance of \(harness.name)")
        for conformanceCase in cases {
            let test = asyncTest { (_: CaseTest) in
                { () async throws in
                    let result = await conformanceCase.run(on: harness)
                    result.printReport()
                    if let problem = result.problem(leavingOut: gaps) { XCTFail(problem, file: file, line: line) }
                }
            }
            suite.addTest(
                CaseTest(name: conformanceCase.id) { testCase in
                    // The closure is given the test case that it was made with.
                    if let testCase = testCase as? CaseTest { try test(testCase)() }
                })
        }
        suite.run()
        let failures = suite.testRun?.totalFailureCount ?? 0
        XCTAssertEqual(failures, 0, "\(failures) of \(cases.count) cases", file: file, line: line)
        XCTAssertEqual(suite.testRun?.executionCount, cases.count, "every case has run", file: file, line: line)
    }

    /// One case as a test case.
    private final class CaseTest: XCTestCase {}
}
