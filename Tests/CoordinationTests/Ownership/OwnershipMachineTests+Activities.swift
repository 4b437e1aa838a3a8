import CoreAPI
import StoreEngine
import Testing

@testable import Coordination

/// The effects of the owner's activities on the machine, step by step.
extension OwnershipMachineTests {
    private func activities(_ bounds: [Duration], begun: BootInstant? = nil) -> Entry {
        let record = ActivitiesRecord(
            epoch: Revision(rawValue: 20),
            activities: bounds.enumerated().map { number, bound in
                Activity(.custom("work", bound: bound), id: "\(number)", begun: begun ?? start)
            })
        return entry(OwnershipKey.activities, record, by: other, claim: 25)
    }

    private func request(by session: SessionID, insists: Bool = false, isKilling: Bool = false) -> Entry {
        var record = HandoverRecord(
            name: "me", askedAt: start, deadline: .milliseconds(500), takesOverMain: false, insists: insists)
        record.isKilling = isKilling
        return entry(OwnershipKey.handover, record, by: session, claim: 30)
    }

    /// Steps a Main until it announces a kill. Returns the time of the kill, the number of challenges, and the guards
    /// of the kill.
    ///
    /// - Parameters:
    ///   - answering: For how long the owner answers challenges.
    ///   - isLate: True if it answers once, when the Main checks for ended sessions the last time before it kills.
    ///   - change: The entries that replace `entries` from a moment on.
    private func untilKill(
        _ entries: [Entry], answering: Duration = .seconds(1000), isStopped: Bool? = false,
        isLate: Bool = false, then change: (at: Duration, entries: [Entry])? = nil
    ) throws -> (at: Duration, challenges: Int, guards: [Key]) {
        var machine = machine(.main)
        var revision: UInt64 = 40
        var standing = entries
        var conversation: [Entry] = []
        var challenges = 0
        var passed = Duration.zero
        var isLate = isLate
        func answer(_ challenge: Revision) {
            revision += 1
            let answer = AnswerRecord(claim: Revision(rawValue: 20), challenge: challenge)
            conversation = conversation.filter { $0.key != OwnershipKey.answer }
            conversation.append(entry(OwnershipKey.answer, answer, by: other, claim: revision))
        }
        func see() {
            revision += 1
            machine.view.apply(view(revision, standing + conversation))
        }
        see()
        while passed < .seconds(20) {
            if let change, passed == change.at {
                standing = change.entries
                see()
            }
            while let directive = machine.step(at: start.advanced(by: passed)) {
                switch directive {
                case .bury where isLate && machine.handoverWait?.silence != nil:
                    isLate = false
                    if let challenge = machine.view.challenge { answer(challenge.revision) }
                    machine.view.apply(view(revision, standing + conversation))
                case .bury, .look: break
                case .examine(_, let claim): machine.examined(claim, isStopped: isStopped)
                case .commit(let transition) where transition.timelineEvents.isEmpty:
                    challenges += 1
                    revision += 1
                    let operations = transition.transaction.operations
                    guard case .put(OwnershipKey.challenge, let bytes, _) = try #require(operations.first) else {
                        throw Unexpected()
                    }
                    let challenge = ChallengeRecord(bytes: bytes)
                    #expect(challenge.claim == Revision(rawValue: 20))
                    conversation = conversation.filter { $0.key != OwnershipKey.challenge }
                    conversation.append(
                        entry(OwnershipKey.challenge, challenge, by: session, claim: revision))
                    if passed < answering { answer(Revision(rawValue: revision)) }
                    machine.view.apply(view(revision, standing + conversation))
                case .commit(let transition):
                    #expect(transition.timelineEvents.map(\.kind) == [.killed])
                    return (passed, challenges, transition.transaction.guards.map(\.key))
                default: throw Unexpected()
                }
            }
            passed += .milliseconds(1)
        }
        throw Unexpected()
    }

    private struct Unexpected: Error {}

    @Test("C17: a Main waits for the longest bound of the owner's activities, then for the deadline")
    func waitsForTheLongestBound() throws {
        let (at, challenges, guards) = try untilKill([
            owner(.executor, by: other, claim: 20), activities([.seconds(2), .seconds(7), .seconds(3)]),
            request(by: session),
        ])

        #expect(at == .milliseconds(7500))
        #expect(challenges >= 3)
        #expect(!guards.contains(OwnershipKey.challenge))
    }

    @Test("C17: when the last activity ends, the owner has the deadline from then on")
    func deadlineBeginsWithTheEnd() throws {
        let owner = owner(.executor, by: other, claim: 20)
        let (at, _, _) = try untilKill(
            [owner, activities([.seconds(15)]), request(by: session)],
            then: (.milliseconds(4050), [owner, request(by: session)]))

        // The owner's last read of the activity may be a tick ago.
        #expect(at == .milliseconds(4550))
    }

    @Test("C17, C6: a busy owner that does not answer and is stopped has no more time than one that is not busy")
    func frozenAndBusy() throws {
        let entries = [owner(.executor, by: other, claim: 20), activities([.seconds(15)]), request(by: session)]
        let fromTheBeginning = try untilKill(entries, answering: .zero, isStopped: true)
        #expect(fromTheBeginning.at >= .milliseconds(500) && fromTheBeginning.at <= .milliseconds(900))

        let later = try untilKill(entries, answering: .seconds(5), isStopped: true)
        #expect(later.at >= .seconds(5) && later.at <= .seconds(8))
        // If an answer comes before the announcement, the announcement is refused.
        for kill in [fromTheBeginning, later] {
            #expect(kill.guards.contains(OwnershipKey.challenge) && kill.guards.contains(OwnershipKey.answer))
        }
    }

    @Test("C17, C6: a busy owner that answers just before its end is announced goes on, and is challenged again")
    func answersAtTheLastMoment() throws {
        let entries = [owner(.executor, by: other, claim: 20), activities([.seconds(15)]), request(by: session)]
        let silent = try untilKill(entries, answering: .zero, isStopped: true)

        let late = try untilKill(entries, answering: .zero, isStopped: true, isLate: true)

        // An answer counts as a sign of life for 2 s.
        #expect(late.at >= silent.at + .seconds(2) && late.at <= silent.at + .seconds(3))
        #expect(late.challenges > silent.challenges)
    }

    @Test("C17: activities of another epoch, damaged ones, and an owner that stops hold nothing up")
    func whatHoldsNothingUp() throws {
        let owner = owner(.executor, by: other, claim: 20)
        let damaged = Entry(
            key: OwnershipKey.activities, value: [1, 2], revision: Revision(rawValue: 25),
            creationRevision: Revision(rawValue: 25), lifetime: .session, origin: other)
        let old = entry(
            OwnershipKey.activities,
            ActivitiesRecord(
                epoch: Revision(rawValue: 19), activities: [Activity(.call, id: "a", begun: start)]), by: other,
            claim: 25)
        for entry in [damaged, old] {
            let (at, challenges, _) = try untilKill([owner, entry, request(by: session)])
            #expect(at == .milliseconds(500))
            #expect(challenges == 0)
        }
    }

    @Test("C17: a Main that insists waits for no activity, and changes its stored request accordingly")
    func insists() throws {
        let owner = owner(.executor, by: other, claim: 20)
        let (at, _, _) = try untilKill([owner, activities([.seconds(15)]), request(by: session, insists: true)])
        #expect(at == .milliseconds(500))

        var machine = machine(.main)
        machine.view.apply(view(40, [owner, activities([.seconds(15)]), request(by: session)]))
        _ = machine.step(at: start)
        machine.insists = true
        let (_, directive) = try #require(run(&machine, from: start, for: .milliseconds(100)))
        let operations = try transaction(directive).operations
        guard case .put(OwnershipKey.handover, let bytes, .session) = operations.first else {
            Issue.record("\(operations)")
            return
        }
        #expect(HandoverRecord(bytes: bytes).insists)
    }

    @Test("C17, C14: a Main that takes over and insists replaces the request of one that waits for activities")
    func replacesARequest() throws {
        let main = SessionID(rawValue: 30)
        let owner = owner(.executor, by: other, claim: 20)
        let busy = [owner, activities([.seconds(15)])]
        func second(takingOver: Bool = true, insisting: Bool = true, sees entries: [Entry]) -> OwnershipMachine {
            var machine = machine(.main)
            machine.goal = takingOver ? .takeOver : .own
            machine.insists = insisting
            machine.view.apply(view(40, entries))
            return machine
        }
        /// Returns the transaction that a machine commits within 200 ms; nil if it commits none, or a challenge.
        func asks(_ machine: OwnershipMachine) throws -> Transaction? {
            var machine = machine
            guard let (_, directive) = run(&machine, from: start, for: .milliseconds(200)) else { return nil }
            let transaction = try transaction(directive)
            if case .put(OwnershipKey.challenge, _, _) = transaction.operations.first { return nil }
            return transaction
        }

        let replaced = try #require(try asks(second(sees: busy + [request(by: main)])))
        #expect(
            replaced.guards == [
                .revision(OwnershipKey.owner, Revision(rawValue: 20)),
                .revision(OwnershipKey.handover, Revision(rawValue: 30)),
            ])
        #expect(replaced.operations.first == .delete(OwnershipKey.handover))
        guard case .put(OwnershipKey.handover, let bytes, .session) = replaced.operations.dropFirst().first else {
            Issue.record("\(replaced.operations)")
            return
        }
        #expect(HandoverRecord(bytes: bytes).insists)
        #expect(HandoverRecord(bytes: bytes).takesOverMain)

        // A Main that insists, whose request is enforced or that waits for no activity, goes first.
        #expect(try asks(second(sees: busy + [request(by: main, insists: true)])) == nil)
        #expect(try asks(second(sees: busy + [request(by: main, isKilling: true)])) == nil)
        #expect(try asks(second(sees: [owner, request(by: main)])) == nil)
        #expect(try asks(second(takingOver: false, sees: busy + [request(by: main)])) == nil)
        #expect(try asks(second(insisting: false, sees: busy + [request(by: main)])) == nil)
        // The Main may come to insist later.
        var later = second(insisting: false, sees: busy + [request(by: main)])
        _ = run(&later, from: start, for: .milliseconds(200))
        later.insists = true
        #expect(try asks(later) != nil)
    }

    @Test("C17, C14: a Main whose request is replaced waits behind the other, writes nothing back, and asks anew")
    func requestIsReplaced() throws {
        let main = SessionID(rawValue: 30)
        let busy = [owner(.executor, by: other, claim: 20), activities([.seconds(15)])]
        var machine = machine(.main)
        machine.goal = .takeOver
        machine.view.apply(view(40, busy + [request(by: session)]))
        #expect(run(&machine, from: start, for: .milliseconds(10)) == nil)
        #expect(machine.handoverWait != nil)

        let replaced = entry(
            OwnershipKey.handover,
            HandoverRecord(
                name: "second", askedAt: start, deadline: .milliseconds(500), takesOverMain: true, process: process(4),
                insists: true),
            by: main, claim: 41)
        machine.view.apply(view(41, busy + [replaced]))
        #expect(machine.waiting == .request(ofMain: "second", process: process(4)))
        let (at, directive) = try #require(run(&machine, from: start, for: .seconds(1)))
        guard case .put(OwnershipKey.challenge, let bytes, _) = try transaction(directive).operations.first else {
            Issue.record("\(directive)")
            return
        }
        #expect(ChallengeRecord(bytes: bytes).claim == Revision(rawValue: 41))
        // Answered, it leaves the other alone.
        let answer = AnswerRecord(claim: Revision(rawValue: 41), challenge: Revision(rawValue: 42))
        machine.view.apply(
            view(
                43,
                busy + [
                    replaced,
                    entry(
                        OwnershipKey.challenge, ChallengeRecord(claim: Revision(rawValue: 41)), by: session, claim: 42),
                    entry(OwnershipKey.answer, answer, by: main, claim: 43),
                ]))
        let now = start.advanced(by: at)
        #expect(run(&machine, from: now, for: .seconds(1)) == nil)

        machine.view.apply(view(44, busy))
        let (_, next) = try #require(run(&machine, from: now.advanced(by: .seconds(1)), for: .milliseconds(1)))
        let anew = try transaction(next)
        #expect(anew.guards.contains(.absent(OwnershipKey.handover)))
        guard case .put(OwnershipKey.handover, _, .session) = anew.operations.first else {
            Issue.record("\(anew.operations)")
            return
        }
    }

    @Test("C17, C3: a Main that comes to insist asks anew only where the owner is held up by an activity")
    func insistsWithoutNeed() throws {
        let owner = owner(.executor, by: other, claim: 20)
        for entries in [[owner], [owner, activities([.milliseconds(100)])]] {
            var machine = machine(.main)
            machine.view.apply(view(40, entries + [request(by: session)]))
            var now = start
            // A kill that follows counts its time from the request that stands.
            while machine.handoverWait?.idleSince == nil, now < start.advanced(by: .seconds(1)) {
                while let directive = machine.step(at: now) {
                    guard directive == .bury || directive == .look else { break }
                }
                now = now.advanced(by: .milliseconds(10))
            }
            machine.insists = true
            while let directive = machine.step(at: now) {
                #expect(directive == .bury || directive == .look)
                guard directive == .bury || directive == .look else { break }
            }
        }
    }

    @Test("C17, C3: an owner has the deadline from when a Main that waits for its activities comes to insist")
    func deadlineBeginsWithInsistence() throws {
        let owner = owner(.executor, by: other, claim: 20)
        let work = activities([.seconds(15)])
        for moment in [Duration.milliseconds(100), .milliseconds(249), .milliseconds(4060)] {
            let (at, _, _) = try untilKill(
                [owner, work, request(by: session)],
                then: (moment, [owner, work, request(by: session, insists: true)]))

            #expect(at == moment + .milliseconds(500), "insisted after \(moment)")
        }
    }

    @Test("C17: an owner lets an activity go on until its bound, and at once stops for a request that insists")
    func ownerGoesOn() throws {
        func machine(insists: Bool) -> OwnershipMachine {
            var machine = self.machine(.executor)
            machine.view.apply(
                view(
                    40,
                    [
                        entry(
                            OwnershipKey.owner,
                            OwnerRecord(
                                role: .executor, state: .running, name: "me", process: process(1), since: start),
                            by: session, claim: 20),
                        entry(
                            OwnershipKey.activities,
                            ActivitiesRecord(
                                epoch: Revision(rawValue: 20),
                                activities: [Activity(.custom("work", bound: .seconds(3)), id: "1", begun: start)]),
                            by: session, claim: 25),
                        request(by: other, insists: insists),
                    ]))
            machine.core = LocalCore(epoch: Revision(rawValue: 20), phase: .running)
            return machine
        }
        var patient = machine(insists: false)
        let stop = try #require(run(&patient, from: start, for: .seconds(10)))
        #expect(stop.at == .seconds(3))
        #expect(stop.1 == .stopCore(epoch: Revision(rawValue: 20)))
        #expect(patient.core?.request?.reason == .bound)
        #expect(patient.core?.request?.activity?.id == "1")

        var hurried = machine(insists: true)
        let early = try #require(run(&hurried, from: start, for: .seconds(10)))
        #expect(early.at == .zero)
        #expect(hurried.core?.request == StopRequest(.insisted, by: "me"))
    }

    @Test("C17, C13: one that waits behind a request takes the author's challenge of the owner for a sign of its life")
    func challengeIsASignOfLife() throws {
        var machine = machine(.executor)
        let owner = owner(.executor, by: other, claim: 20)
        let author = SessionID(rawValue: 30)
        let waited = [owner, activities([.seconds(60)]), request(by: author)]
        var now = start
        machine.view.apply(view(49, waited))
        while machine.step(at: now) == .bury {}
        for second in 0..<10 {
            let challenge = entry(
                OwnershipKey.challenge, ChallengeRecord(claim: Revision(rawValue: 20)), by: author,
                claim: UInt64(50 + second))
            machine.view.apply(view(UInt64(50 + second), waited + [challenge]))
            for _ in 0..<1000 {
                while let directive = machine.step(at: now) {
                    #expect(!directive.isCommit)
                    if directive.isCommit { break }
                }
                now = now.advanced(by: .milliseconds(1))
            }
        }
        // Two seconds after the last challenge of another Main, it challenges by itself.
        var directive: Directive?
        while directive?.isCommit != true, now < start.advanced(by: .seconds(13)) {
            directive = machine.step(at: now)
            if directive == nil { now = now.advanced(by: .milliseconds(1)) }
        }
        #expect(directive?.isCommit == true)
        #expect(start.duration(to: now) >= .seconds(11))
    }
}
