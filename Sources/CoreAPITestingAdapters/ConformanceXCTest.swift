public import CoreAPITesting
internal import XCTest

/// Runs the suite under XCTest, each case as a test case with a result of its own. Prints a line for each case, with
/// its duration. Runs only the cases that `SHAREDCORE_TEST_CASES` names, if the variable is set.
///
/// ```swift
/// final class MyBackendTests: XCTestCase {
///     func testConformance() {
///         ConformanceXCTest.run(on: MyHarness(), leavingOut: ["S15a": "there is one process"])
///     }
/// }
/// ```
public enum ConformanceXCTest {
    /// Runs the cases, and fails the calling test if a case fails or is skipped without a reason.
    ///
    /// - Parameters:
    ///   - cases: The cases to run.
    ///   - harness: The access of the cases to the backend.
    ///   - gaps: The reasons for which cases may be skipped, by their ids.
    ///   - file: The file to which a failure is attributed.
    ///   - line: The line to which a failure is attributed.
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
                    // The closure gets the test case that it was made with.
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
