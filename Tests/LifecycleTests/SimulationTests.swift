import CoreAPI
import Glibc
import Lifecycle
import LifecycleSimulation
import Testing

/// Thousands of schedules, each replayed from its seed, and the mutants that they must catch.
struct ConnectivitySimulationTests {
    /// `SHAREDCORE_TEST_SCHEDULES` asks for more.
    private static let count = getenv("SHAREDCORE_TEST_SCHEDULES").flatMap { UInt64(String(cString: $0)) } ?? 1_000

    @Test("P2, P3, P6, C16: no schedule breaks a rule, and every cell and every row come up")
    func campaign() {
        var cells: Set<String> = []
        var numbers: Set<TransitionNumber> = []
        for seed in UInt64(1)...Self.count {
            let judge = ConnectivitySimulation.run(seed: seed)
            if !judge.breaches.isEmpty {
                Issue.record("seed \(seed): \(judge.breaches.joined(separator: "\n"))")
                return
            }
            cells.formUnion(judge.cells)
            numbers.formUnion(judge.numbers)
        }
        let all = LifecyclePosition.all.flatMap { position in
            ConnectivityEvent.Kind.allCases.map { "\(position) \($0)" }
        }
        #expect(Set(all).subtracting(cells).isEmpty)
        #expect(numbers == Set(TransitionNumber.allCases))
    }

    @Test("P2: every mutant breaks a rule in some schedule", arguments: ConnectivityMutant.all)
    func caught(mutant: ConnectivityMutant) {
        let isCaught = (UInt64(1)...2_000).contains { !ConnectivitySimulation.run(seed: $0, mutant).breaches.isEmpty }
        #expect(isCaught)
    }

    @Test("C16: a seed gives the same schedule again")
    func replay() {
        let mutant = ConnectivityMutant.all[0]
        let seeds = (UInt64(1)...50)
        #expect(
            seeds.map { ConnectivitySimulation.run(seed: $0, mutant).breaches }
                == seeds.map { ConnectivitySimulation.run(seed: $0, mutant).breaches })
    }
}

extension ConnectivityMutant: CustomTestStringConvertible {
    public var testDescription: String { name }
}

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
