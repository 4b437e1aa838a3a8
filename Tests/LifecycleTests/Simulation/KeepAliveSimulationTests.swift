import Lifecycle
import LifecycleSimulation
import Testing

/// Thousands of schedules of the keep-alive, each replayed from its seed, and the mutants that they must catch.
struct KeepAliveSimulationTests {
    @Test("P4, P5, C16: no schedule breaks a rule")
    func campaign() {
        var (runs, together) = (0, 0)
        for seed in UInt64(1)...800 {
            let simulation = KeepAliveSimulation.run(seed: seed)
            if !simulation.breaches.isEmpty {
                Issue.record("seed \(seed): \(simulation.breaches.joined(separator: "\n"))")
                return
            }
            runs += simulation.runs
            together += simulation.together
        }
        #expect(runs > 10_000)
        #expect(together > 2_000, "several run together")
    }

    @Test("P4, P5: every mutant breaks a rule in some schedule", arguments: KeepAliveMutant.all)
    func caught(mutant: KeepAliveMutant) {
        let isCaught = (UInt64(1)...1_000).contains { !KeepAliveSimulation.run(seed: $0, mutant).breaches.isEmpty }
        #expect(isCaught)
    }
}

extension KeepAliveMutant: CustomTestStringConvertible {
    public var testDescription: String { name }
}
