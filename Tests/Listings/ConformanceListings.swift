internal import CoreAPITesting
internal import CoreAPITestingAdapters
internal import Testing
internal import XCTest

@Suite(.serialized) struct MyBackendTests {  // Swift Testing
    @Test(arguments: ConformanceSuite.cases)
    func conforms(to conformanceCase: ConformanceCase) async {
        await conformanceCase.test(on: MyHarness(), leavingOut: ["S15b": "a stopped process keeps its lock"])
    }
}

final class MyBackendXCTests: XCTestCase {  // XCTest
    func testConformance() {
        ConformanceXCTest.run(on: MyHarness(), leavingOut: ["S15b": "a stopped process keeps its lock"])
    }
}
