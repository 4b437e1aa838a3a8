import CoreAPITesting
import CoreAPITestingAdapters
import TestSupport
import Testing

/// Every rule on a group over a log.
@Suite("Conformance of a group over a log", .serialized)
struct ConformanceTests {
    private static let gaps: [String: String] = Dictionary(
        uniqueKeysWithValues: [
            "S4f", "S6c", "S6d", "S9b", "S9c", "S9d", "S14b", "S15b", "S15c", "S15d", "W1j", "N1c", "N3d", "N4c", "N9a",
            "N9b", "L1e", "L1f", "L1g", "L2b", "L3b", "L3d", "C3b", "M4d", "M6f",
        ].map { ($0, "a log in memory is of one process") }
            + ["C25e", "C25f", "C25g"].map { ($0, "only a hub brings a baton to another machine") }
            + [("L4e", "a log in memory has no files")])

    @Test("a log in memory", arguments: TestScope.casesOfCostlyCommits)
    func conforms(conformanceCase: ConformanceCase) async {
        await conformanceCase.test(on: TestScope.harness(MemoryLogHarness()), leavingOut: Self.gaps)
    }
}
