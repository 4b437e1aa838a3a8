internal import CoreAPITesting
internal import Glibc
internal import TestSupport

/// One way to attack, as several cases of which each can be repeated alone.
struct Scenario: Sendable {
    /// A case: one run of the scenario, with its name there.
    struct Case: Sendable {
        let name: String
        let seed: UInt64
        /// The word under which it is counted.
        let kind: String
        /// True for a case that needs a build with fail points.
        let needsFailPoints: Bool
        let run: @Sendable (Attempt) async throws -> Void

        init(
            _ name: String = "", seed: UInt64, kind: String = "cases", needsFailPoints: Bool = false,
            _ run: @escaping @Sendable (Attempt) async throws -> Void
        ) {
            self.name = name
            self.seed = seed
            self.kind = kind
            self.needsFailPoints = needsFailPoints
            self.run = run
        }
    }

    /// The input from which the cases of a scenario are made.
    struct Selection: Sendable {
        let form: Options.Form
        /// The first seed.
        let seed: UInt64
        /// True if only the first seed is to be run.
        let isSingle: Bool
        /// Returns true for a case that the options select.
        let selects: @Sendable (Case) -> Bool

        /// True for the short form of the attack.
        var isBrief: Bool { form == .brief }

        /// Histories of random faults, each from a seed of its own.
        func histories(
            _ count: Int, brief: Int, _ run: @escaping @Sendable (Attempt) async throws -> Void
        ) -> [Case] {
            (0..<UInt64(isSingle ? 1 : isBrief ? brief : count)).map { Case(seed: seed &+ $0, run) }
        }
    }

    let name: String
    /// The scenario's share of the time.
    let weight: Int
    /// The number of its cases that are tried in the short form; nil for all.
    let sampleCount: Int?
    let cases: @Sendable (Selection, Attempt) async throws -> [Case]

    /// A scenario with cases that need no run of the program first.
    init(_ name: String, weight: Int = 1, _ cases: @escaping @Sendable (Selection) -> [Case]) {
        self.init(name, weight: weight, looking: { selection, _ in cases(selection) })
    }

    /// A scenario with cases that come from a run of the program without faults.
    init(
        _ name: String, weight: Int = 1, sampleCount: Int? = nil,
        looking cases: @escaping @Sendable (Selection, Attempt) async throws -> [Case]
    ) {
        self.name = name
        self.weight = weight
        self.sampleCount = sampleCount
        self.cases = cases
    }

    /// All of them, in their order.
    static var all: [Scenario] {
        FaultScenarios.all + SyncScenarios.all + ReplacementScenarios.all + SurroundingScenarios.all
            + NamespaceScenarios.all + [GrowthScenario.scenario] + DiskScenarios.all
    }
}
