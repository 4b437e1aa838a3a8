import BundledHarnesses
import CoreAPITesting
import TestSupport
import Testing

@Suite("A case that makes very many commits")
struct CommitCostTests {
    private let conformanceCase = ConformanceSuite.cases(matching: "M3d")[0]

    @Test("If commits take long, a case makes fewer of them and says so")
    func costly() async {
        let result = await conformanceCase.run(on: BriefHarness(MemoryHarness()))
        #expect(result.outcome == .passed)
        #expect(result.remarks == ["1500 sends instead of 10000: commits cost much here"])
    }

    @Test("Elsewhere it runs with what its title says")
    func usual() async {
        let result = await conformanceCase.run(on: MemoryHarness())
        #expect(result.outcome == .passed && result.remarks.isEmpty)
    }
}
