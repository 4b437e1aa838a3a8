import CoreAPI
import Testing

@testable import Coordination

/// An owner and a Main that has asked for ownership freeze one after the other.
extension OwnershipMachineTests {
    /// Steps a machine until it commits something other than a challenge. No challenge is answered, and `entries` stand
    /// unchanged.
    ///
    /// - Returns: The challenged claims, each with its time, and the other commit; times are from `begin`.
    private func runUnanswered(
        _ machine: inout OwnershipMachine, from begin: BootInstant, beside entries: [Entry],
        behind challenge: ChallengeRecord? = nil
    ) throws -> (challenges: [(at: Duration, claim: Revision)], end: (at: Duration, Transaction)) {
        var revision = machine.view.revision.rawValue + 1
        var latest = challenge
        var challenges: [(at: Duration, claim: Revision)] = []
        var at = Duration.zero
        while true {
            let standing = latest.map { entry(OwnershipKey.challenge, $0, by: session, claim: 24, revision: revision) }
            machine.view.apply(view(revision, entries + [standing].compactMap(\.self)))
            let (passed, directive) = try #require(
                run(&machine, from: begin.advanced(by: at), for: .seconds(9), isStopped: true))
            at += passed
            let transaction = try transaction(directive)
            guard case .put(OwnershipKey.challenge, let bytes, _) = transaction.operations.first else {
                return (challenges, (at, transaction))
            }
            let record = ChallengeRecord(bytes: bytes)
            challenges.append((at, record.claim))
            latest = record
            revision += 1
        }
    }

    @Test("C6: a frozen owner is challenged as soon as the request of a Main is removed that froze after it")
    func ownerBehindAFrozenMain() throws {
        let (ownership, request) = (Revision(rawValue: 20), Revision(rawValue: 40))
        let main = SessionID(rawValue: 30)
        let owner = owner(.executor, by: other, claim: 20)
        var machine = machine(.executor)

        // The owner answers the waiting process, and freezes.
        let challenge = entry(OwnershipKey.challenge, ChallengeRecord(claim: ownership), by: session, claim: 24)
        machine.view.apply(view(24, [owner]))
        let (challenged, _) = try #require(run(&machine, from: start, for: .seconds(1)))
        let answer = AnswerRecord(claim: ownership, challenge: Revision(rawValue: 24))
        let answered = [owner, challenge, entry(OwnershipKey.answer, answer, by: other, claim: 25)]
        machine.view.apply(view(25, answered))
        let frozen = start.advanced(by: challenged)
        #expect(run(&machine, from: frozen, for: .milliseconds(1300)) == nil)

        // A Main asks, answers as well, and freezes; 700 ms later another Main comes and challenges it.
        let asked = frozen.advanced(by: .milliseconds(1300))
        let record = HandoverRecord(
            name: "main", askedAt: asked, deadline: .milliseconds(500), takesOverMain: false, process: process(3))
        let asks = [owner, entry(OwnershipKey.handover, record, by: main, claim: 40)]
        machine.view.apply(view(40, answered + asks.suffix(1)))
        let (first, _) = try #require(run(&machine, from: asked, for: .milliseconds(101)))
        let proof = AnswerRecord(claim: request, challenge: Revision(rawValue: 41))
        let proved = ChallengeRecord(claim: request)
        machine.view.apply(
            view(
                42,
                asks + [
                    entry(OwnershipKey.challenge, proved, by: session, claim: 24, revision: 41),
                    entry(OwnershipKey.answer, proof, by: main, claim: 42),
                ]))
        let wait = Duration.milliseconds(700)
        #expect(run(&machine, from: asked.advanced(by: first), for: wait) == nil)
        let silent = asked.advanced(by: first + wait)
        let removal = try runUnanswered(
            &machine, from: silent, beside: asks + [entry(OwnershipKey.answer, proof, by: main, claim: 42)],
            behind: ChallengeRecord(claim: request))

        #expect(removal.challenges.map(\.claim) == [request])
        #expect(removal.end.at == .milliseconds(500))
        #expect(removal.end.1.operations == [.delete(OwnershipKey.handover), .delete(OwnershipKey.takes)])

        // More than 2 s after the owner froze. None of the answers was the owner's.
        let removed = silent.advanced(by: removal.end.at)
        #expect(frozen.duration(to: removed) > .milliseconds(2400))
        let takeOver = try runUnanswered(
            &machine, from: removed, beside: [owner, entry(OwnershipKey.answer, proof, by: main, claim: 42)])

        #expect(takeOver.challenges.map(\.claim) == [ownership, ownership])
        let begin = try #require(takeOver.challenges.first).at
        #expect(begin <= machine.rules.challengeSpread)
        #expect(takeOver.end.at == begin + .milliseconds(500))
        #expect(takeOver.end.1.operations.first == .delete(OwnershipKey.owner))
        #expect(takeOver.end.1.guards.contains(.revision(OwnershipKey.owner, ownership)))
    }
}
