import CoreAPITesting
import CoreAPITestingAdapters
import Testing

@Suite("Conformance of the SQLite backend", .serialized)
struct ConformanceTests {
    /// The cases that this backend declares impossible, and those that its harness cannot try.
    static let gaps: [String: String] = {
        let reasons = [
            "no places to stop at": ["S9b", "S9c", "N9a"],
            "a stopped process may hold the lock": [
                "S15a", "S15b", "S15c", "S15d", "C3b", "C3c", "C4b", "C6b", "C6c", "C6d", "C8f", "C9f", "C9h", "C14c",
            ],
            "only a hub brings a baton to another machine": ["C25e", "C25f", "C25g"],
            "deaths of processes are not simulated, but tried on real ones": ["L1d", "L3a"],
            "a file has no server": ConformanceSuite.cases.filter { $0.fault != nil }.map(\.id),
        ]
        return reasons.reduce(into: [:]) { gaps, reason in for id in reason.value { gaps[id] = reason.key } }
    }()

    @Test(arguments: ConformanceSuite.cases)
    func conforms(to conformanceCase: ConformanceCase) async {
        await conformanceCase.test(on: SQLiteHarness(), leavingOut: Self.gaps)
    }
}
