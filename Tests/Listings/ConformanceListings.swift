internal import CoreAPI
internal import CoreAPITesting
internal import CoreAPITestingAdapters
internal import Testing
internal import XCTest

func tryEverything() async {
    for conformanceCase in ConformanceSuite.cases {
        let result = await conformanceCase.run(on: MyHarness())
        print(conformanceCase.id, result.outcome.word, result.outcome.message ?? "")
    }
}

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
