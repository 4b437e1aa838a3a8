internal import Lifecycle
internal import Testing

@Suite("How often a push is tried")
struct RetryPolicyTests {
    @Test("The pauses double up to their bound, and the last failure gives up")
    func pauses() {
        let policy = RetryPolicy(attempts: 6, delay: .seconds(1), longestDelay: .seconds(5))
        let expected: [RetryPolicy.Decision] = [
            .again(after: .seconds(1)), .again(after: .seconds(2)), .again(after: .seconds(4)),
            .again(after: .seconds(5)), .again(after: .seconds(5)), .giveUp, .giveUp,
        ]
        #expect((1...7).map(policy.decision) == expected)
    }

    @Test("A push is tried at least once, and an absurd number of failures ends no program")
    func bounds() {
        #expect(RetryPolicy(attempts: 0).decision(after: 1) == .giveUp)
        let patient = RetryPolicy(attempts: .max, delay: .seconds(1), longestDelay: .seconds(60))
        #expect(patient.decision(after: 1_000_000) == .again(after: .seconds(60)))
    }
}
