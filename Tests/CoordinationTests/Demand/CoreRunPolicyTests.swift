import CoreAPI
import Testing

@testable import Coordination

/// How long an Executor's core runs.
struct CoreRunPolicyTests {
    private let start = BootInstant(nanoseconds: 1_000_000_000)

    private func policy() -> CoreRunPolicy {
        CoreRunPolicy(budget: .seconds(30), linger: .milliseconds(250), from: start)
    }

    private func after(_ milliseconds: Int) -> BootInstant { start.advanced(by: .milliseconds(milliseconds)) }

    @Test("C9: it runs while anybody waits, until the latest deadline or the end of the budget")
    func runsWhileAnybodyWaits() {
        var policy = policy()
        #expect(policy.decide(openUntil: after(5000), at: after(10)) == .run(until: after(5000)))
        #expect(policy.decide(openUntil: after(90_000), at: after(20)) == .run(until: after(30_000)))
        #expect(policy.decide(openUntil: after(90_000), at: after(30_000)) == .spent)
    }

    @Test("C9: when nobody waits it goes on for a moment, which a new push ends")
    func lingers() {
        var policy = policy()
        #expect(policy.decide(openUntil: nil, at: after(100)) == .run(until: after(350)))
        #expect(policy.decide(openUntil: nil, at: after(349)) == .run(until: after(350)))
        #expect(policy.decide(openUntil: after(9000), at: after(349)) == .run(until: after(9000)))
        #expect(policy.decide(openUntil: nil, at: after(400)) == .run(until: after(650)))
        #expect(policy.decide(openUntil: nil, at: after(650)) == .done)
    }
}
