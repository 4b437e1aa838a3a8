import CoreAPITesting
import CoreAPITestingAdapters
import Testing

@Suite("Conformance of the SQLite backend", .serialized)
struct ConformanceTests {
    /// What this backend declares that it cannot, and what its harness cannot try.
    static let gaps: [String: String] = {
        let reasons = [
            "no places to stop at": ["S9b", "S9c", "N9a"],
            "no results are kept": ["S12a", "S12b", "S12c", "S12d", "S12e", "S12f"],
            "a stopped process may hold the lock": [
                "S15a", "S15b", "S15c", "S15d", "C3c", "C4b", "C6b", "C6c", "C6d", "C8f", "C9f", "C9h", "C14c",
            ],
            "a death is noticed when somebody looks": [
                "L1d", "L1e", "L1f", "L1g", "L3a", "L3b", "C3b", "C6a", "C8e", "C8g", "C9e", "C10b", "M6f",
            ],
        ]
        return reasons.reduce(into: [:]) { gaps, reason in for id in reason.value { gaps[id] = reason.key } }
    }()

    @Test(arguments: ConformanceSuite.cases)
    func conforms(to conformanceCase: ConformanceCase) async {
        await conformanceCase.test(on: SQLiteHarness(), leavingOut: Self.gaps)
    }
}
