import CoreAPITesting
import CoreAPITestingAdapters
import Testing

@Suite("Conformance of the SQLite backend", .serialized)
struct ConformanceTests {
    /// What this backend declares that it cannot, and what its harness cannot try.
    static let gaps: [String: String] = [:]

    @Test(arguments: ConformanceSuite.cases)
    func conforms(to conformanceCase: ConformanceCase) async {
        await conformanceCase.test(on: SQLiteHarness(), leavingOut: Self.gaps)
    }
}
