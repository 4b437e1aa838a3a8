import CoreAPI
import CoreAPITesting
import Glibc
import StoreEngine
import TestSupport
import Testing

@testable import Coordination

/// Thousands of schedules of deaths, freezes and lost wake-ups; each is replayed by its seed.
struct OwnershipSimulationTests {
    @Test("C1-C6, C13, C14, C16: no schedule of deaths, freezes and lost wake-ups breaks a rule", arguments: 0..<8)
    func noScheduleBreaksARule(part: Int) async {
        var acquisitions = 0
        var takeOvers = 0
        var kills = 0
        for number in 0..<Self.schedulesOfAPart {
            // Other tests run on the same threads.
            await Task.yield()
            let seed = Seed(rawValue: UInt64(part * Self.schedulesOfAPart + number))
            let simulation = Self.simulated(seed)
            #expect(simulation.violations == [], "\(seed)")
            acquisitions += simulation.acquisitions
            takeOvers += simulation.takeOvers
            kills += simulation.kills
        }
        // Schedules in which nothing happens prove nothing.
        #expect(acquisitions > 3 * Self.schedulesOfAPart)
        #expect(takeOvers > Self.schedulesOfAPart / 10)
        #expect(kills > Self.schedulesOfAPart / 20)
    }

    @Test("C16: the same seed gives the same schedule")
    func sameSeedSameSchedule() {
        let first = Self.simulated(Seed(rawValue: 7))
        let second = Self.simulated(Seed(rawValue: 7))
        #expect(first.state.revision == second.state.revision)
        #expect(first.ledger == second.ledger)
    }

    /// The environment variable `SHAREDCORE_SCHEDULES` asks for more than usual.
    static let schedulesOfAPart =
        getenv("SHAREDCORE_SCHEDULES").flatMap { Int(String(cString: $0)) }.map { $0 / 8 } ?? 40

    /// A way to damage what the machines want, and what has to come of it.
    struct Mutant: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let mutation: @Sendable (Directive) -> Directive?
    }

    static let mutants: [Mutant] = [
        Mutant(testDescription: "an owner that does not answer") { directive in
            if case .commit(let transition) = directive, transition.puts(OwnershipKey.answer) { return nil }
            return directive
        },
        Mutant(testDescription: "an acquisition in place of an owner") { directive in
            directive.changingTransaction { transaction in
                guard transaction.guards.contains(.absent(OwnershipKey.owner)) else { return }
                transaction.guards.removeAll { $0 == .absent(OwnershipKey.owner) }
                transaction.operations.insert(.delete(OwnershipKey.owner), at: 0)
            }
        },
        Mutant(testDescription: "a release that does not ask whether it still owns") { directive in
            directive.changingTransaction { transaction in
                guard transaction.operations.first == .delete(OwnershipKey.owner), transaction.operations.count == 2
                else { return }
                transaction.guards = []
            }
        },
        Mutant(testDescription: "a core that is not told to stop") { directive in
            if case .stopCore = directive { return .look }
            return directive
        },
    ]

    @Test("each protection that is taken out is missed", arguments: mutants)
    func mutantIsCaught(mutant: Mutant) async {
        for number in 0..<400 {
            await Task.yield()
            let simulation = Self.simulated(Seed(rawValue: UInt64(number)), mutation: mutant.mutation)
            if !simulation.violations.isEmpty { return }
        }
        Issue.record("400 schedules did not show the damage")
    }

    static func simulated(
        _ seed: Seed, mutation: @escaping (Directive) -> Directive? = { $0 }
    ) -> OwnershipSimulation {
        let mains = 1 + Int(seed.rawValue % 2)
        let executors = 1 + Int(seed.rawValue % 4)
        var simulation = OwnershipSimulation(seed: seed, mains: mains, executors: executors, mutation: mutation)
        simulation.run(for: .seconds(8), thenQuietlyFor: .seconds(13))
        return simulation
    }
}

extension Directive {
    /// The same directive with another transaction.
    func changingTransaction(_ change: (inout Transaction) -> Void) -> Directive {
        guard case .commit(var transition) = self else { return self }
        change(&transition.transaction)
        return .commit(transition)
    }
}

extension Transition {
    func puts(_ key: Key) -> Bool {
        transaction.operations.contains { operation in
            if case .put(key, _, _) = operation { true } else { false }
        }
    }
}
