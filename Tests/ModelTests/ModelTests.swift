internal import TestSupport
internal import Testing
internal import sharedcore_models

@Suite("The models of designs", .serialized)
struct ModelTests {
    @Test(
        "A design breaks no rule, and each of its mutations breaks one",
        arguments: (TestScope.isCheck ? Models.cases : Models.cases.filter { $0.mutation != nil })
            .filter { TestScope.isAtLength || !$0.isLong })
    func states(of modelCase: ModelCase) {
        let result = modelCase.run()
        let trace = result.trace.joined(separator: "\n")
        #expect(modelCase.isAsItShouldBe(result), "\(result.violation ?? "no rule is broken")\n\(trace)")
        #expect(result.missing == [], "what a design never comes to, no rule has judged")
    }
}
