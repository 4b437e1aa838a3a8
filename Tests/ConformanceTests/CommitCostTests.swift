import BundledHarnesses
import CoreAPITesting
import TestSupport
import Testing

@Suite("A case that makes very many commits")
struct CommitCostTests {
    /// Memory, as if it were slow.
    private struct CostlyHarness: ConformanceHarness {
        let name = "costly memory"
        let commitCost = CommitCost.high

        func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
            try await MemoryHarness().makeGroup(settings)
        }
    }

    private let conformanceCase = ConformanceSuite.cases(matching: "N8a")[0]

    @Test("Where commits cost much, it says with what it ran")
    func costly() async {
        let result = await conformanceCase.run(on: CostlyHarness())
        #expect(result.outcome == .passed)
        #expect(result.remarks == ["64 posts in each commit instead of 1: commits cost much here"])
    }

    @Test("Elsewhere it runs with what its title says", .enabled(if: TestScope.isCheck))
    func usual() async {
        let result = await conformanceCase.run(on: MemoryHarness())
        #expect(result.outcome == .passed && result.remarks.isEmpty)
    }
}
