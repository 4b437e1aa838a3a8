import BundledHarnesses
import CoreAPITesting
import Testing

/// Gaps, reports and people refer to cases by their ids, so the ids must be right.
@Suite("The suite's cases")
struct SuiteTests {
    @Test("Every case has an id of its own: a rule and a letter")
    func ids() {
        let ids = ConformanceSuite.cases.map(\.id)
        for id in ids { #expect(id.wholeMatch(of: /[SWNLCPME][1-9][0-9]?[a-z]/) != nil, "\(id)") }
        #expect(ids.count == Set(ids).count, "\(ids)")
    }

    @Test("The cases of a rule stand together, in the order of their letters")
    func order() {
        var rules: [String] = []
        for conformanceCase in ConformanceSuite.cases where rules.last != conformanceCase.rule {
            rules.append(conformanceCase.rule)
        }
        #expect(rules.count == Set(rules).count, "\(rules)")
        for rule in rules {
            let ids = ConformanceSuite.cases.filter { $0.rule == rule }.map(\.id)
            #expect(ids == ids.sorted(), "\(ids)")
        }
    }

    @Test("A case whose task is cancelled is interrupted, and has not failed")
    func cancelled() async throws {
        let conformanceCase = try #require(ConformanceSuite.cases(matching: "N8a").first)
        let run = Task { await conformanceCase.run(on: MemoryHarness()) }
        run.cancel()
        #expect(await run.value.outcome.word == "interrupted")
    }

    @Test("A gap names a case that there is")
    func gaps() {
        let ids = Set(ConformanceSuite.cases.map(\.id))
        for gaps in BundledBackend.expectedGaps.values { #expect(ids.isSuperset(of: gaps.keys)) }
    }
}
