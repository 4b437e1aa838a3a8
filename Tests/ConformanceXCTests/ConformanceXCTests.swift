import BundledHarnesses
import CoreAPITesting
import CoreAPITestingAdapters
import XCTest

/// The adapter for XCTest, on the quickest backend.
final class ConformanceXCTests: XCTestCase {
    func testConformance() {
        ConformanceXCTest.run(ConformanceSuite.cases(matching: "S1"), on: MemoryHarness())
    }
}
