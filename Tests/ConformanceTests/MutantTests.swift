import CoreAPITesting
import Mutants
import TestSupport
import Testing

/// The suite must catch each known defect: otherwise a passed suite proves little.
@Suite("Mutants: a broken backend is caught, by the rule that it breaks", .enabled(if: TestScope.isCheck), .serialized)
struct MutantTests {
    @Test("A mutant fails a case of its rules", arguments: Mutant.all)
    func caught(mutant: Mutant) async {
        let harness = mutant.harness
        let cases = ConformanceSuite.cases.filter { mutant.rules.contains($0.rule) }
        for conformanceCase in cases {
            let result = await TestTimeout.$usual.withValue(.seconds(2)) {
                await conformanceCase.run(on: harness, seed: 1, timeout: .seconds(60))
            }
            if case .failed = result.outcome { return }
        }
        Issue.record("No case of \(mutant.rules) has noticed a backend that \(mutant.name): \(cases.map(\.id))")
    }

    @Test(
        "The harness of the mutants is not what fails: without a damage every case passes",
        arguments: ConformanceSuite.cases)
    func withoutDamage(conformanceCase: ConformanceCase) async {
        let result = await conformanceCase.run(on: Mutant.intact)
        if case .failed(let message) = result.outcome { Issue.record("\(message)") }
    }
}
