import CoreAPI
import StoreEngine
import Testing

@testable import Coordination

/// Single steps of the machine, with exact times.
struct OwnershipMachineTests {
    let start = BootInstant(nanoseconds: 1_000_000_000_000)
    let session = SessionID(rawValue: 10)
    let other = SessionID(rawValue: 20)

    func machine(_ role: SessionRole, goal: OwnershipGoal = .own) -> OwnershipMachine {
        var machine = OwnershipMachine(
            for: Participation(session: session, role: role, name: "me", process: process(1)), rules: OwnershipRules(),
            seed: 1, at: start)
        machine.goal = goal
        return machine
    }

    func process(_ pid: Int32) -> ProcessIdentity {
        ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: pid, startTime: 1)
    }

    func entry(
        _ key: Key, _ record: some StoredRecord, by session: SessionID, claim: UInt64, revision: UInt64? = nil
    ) -> Entry {
        Entry(
            key: key, value: record.bytes, revision: Revision(rawValue: revision ?? claim),
            creationRevision: Revision(rawValue: claim), lifetime: .session, origin: session)
    }

    func owner(_ role: SessionRole, by session: SessionID, claim: UInt64) -> Entry {
        entry(
            OwnershipKey.owner,
            OwnerRecord(role: role, state: .running, name: "owner", process: process(2), since: start), by: session,
            claim: claim)
    }

    func view(_ revision: UInt64, _ entries: [Entry]) -> Snapshot {
        Snapshot(revision: Revision(rawValue: revision), entries: entries)
    }

    func transaction(_ directive: Directive?) throws -> Transaction {
        guard case .commit(let transition) = try #require(directive) else {
            Issue.record("\(String(describing: directive)) is no commit")
            return Transaction()
        }
        return transition.transaction
    }

    /// Steps every millisecond and answers checks of sessions and processes, until another directive comes.
    func run(
        _ machine: inout OwnershipMachine, from begin: BootInstant, for duration: Duration, isStopped: Bool? = nil
    ) -> (at: Duration, Directive)? {
        var passed = Duration.zero
        while passed <= duration {
            while let directive = machine.step(at: begin.advanced(by: passed)) {
                switch directive {
                case .bury, .look: break
                case .examine(_, let claim): machine.examined(claim, isStopped: isStopped)
                default: return (passed, directive)
                }
            }
            passed += .milliseconds(1)
        }
        return nil
    }

    @Test("C3: an acquisition requires that there is no owner and that no Main has asked")
    func acquisitionGuards() throws {
        var machine = machine(.executor)
        let transaction = try transaction(machine.step(at: start))
        #expect(
            transaction.guards == [
                .absent(OwnershipKey.owner), .absent(OwnershipKey.handover), .absent(OwnershipKey.rest),
            ])
    }

    @Test("C6, L3: a process that meets an owner first has the group notice its dead, and again now and then")
    func meetsAnOwner() {
        for role in [SessionRole.main, .executor] {
            var machine = machine(role)
            machine.view.apply(view(30, [owner(.executor, by: other, claim: 20)]))
            #expect(machine.step(at: start) == .bury)
            var burials = 0
            var passed = Duration.zero
            while passed < .seconds(20) {
                passed += .milliseconds(100)
                while let directive = machine.step(at: start.advanced(by: passed)) {
                    if directive == .bury { burials += 1 }
                    if case .commit = directive { break }
                }
            }
            #expect(burials >= 2)
        }
    }

    @Test("C3: an Executor does not acquire while a Main's request is stored")
    func requestBlocksExecutors() throws {
        var machine = machine(.executor)
        let request = HandoverRecord(name: "main", askedAt: start, deadline: .seconds(1), takesOverMain: false)
        machine.view.apply(view(30, [entry(OwnershipKey.handover, request, by: other, claim: 30)]))
        guard let (_, directive) = run(&machine, from: start, for: .milliseconds(200)) else {
            Issue.record("nothing comes of a request that stands")
            return
        }
        let transaction = try transaction(directive)
        #expect(
            !transaction.operations.contains { if case .put(OwnershipKey.owner, _, _) = $0 { true } else { false } })
    }

    @Test(
        "C6: a holder has 500 ms from the challenge on, 5 s if its process is seen running; it is reminded once",
        arguments: [(nil, 500), (true, 500), (false, 5000)] as [(Bool?, Int)])
    func answerBound(isStopped: Bool?, limit: Int) throws {
        var machine = machine(.executor)
        let owner = owner(.main, by: other, claim: 20)
        let challenge = ChallengeRecord(claim: Revision(rawValue: 20))
        machine.view.apply(view(30, [owner, entry(OwnershipKey.challenge, challenge, by: other, claim: 30)]))

        let (reminded, reminder) = try #require(run(&machine, from: start, for: .seconds(2)))
        #expect(reminded == .milliseconds(250))
        #expect(try transaction(reminder).guards == [.revision(OwnershipKey.challenge, Revision(rawValue: 30))])
        let again = ChallengeRecord(claim: Revision(rawValue: 20), first: Revision(rawValue: 30))
        machine.view.apply(
            view(31, [owner, entry(OwnershipKey.challenge, again, by: session, claim: 30, revision: 31)]))

        let (fenced, takeOver) = try #require(
            run(&machine, from: start.advanced(by: reminded), for: .seconds(9), isStopped: isStopped))
        #expect(reminded + fenced == .milliseconds(limit))
        let transaction = try transaction(takeOver)
        #expect(
            transaction.guards == [
                .revision(OwnershipKey.owner, Revision(rawValue: 20)),
                .revision(OwnershipKey.challenge, Revision(rawValue: 31)), .absent(OwnershipKey.answer),
                .absent(OwnershipKey.handover), .absent(OwnershipKey.rest),
            ])
        #expect(transaction.operations.first == .delete(OwnershipKey.owner))
    }

    @Test(
        "C3: a Main that is overloaded and rarely gets to run kills an Executor that does not let go, too",
        arguments: [700, 3000])
    func overloadedMain(gap: Int) throws {
        var machine = machine(.main)
        let owner = owner(.executor, by: other, claim: 20)
        machine.view.apply(view(20, [owner]))
        let request = HandoverRecord(
            name: "me", askedAt: start, deadline: .milliseconds(500), takesOverMain: false)
        let handover = entry(OwnershipKey.handover, request, by: session, claim: 30)
        var steps = 0
        var isKilled = false
        while !isKilled, steps < 100 {
            steps += 1
            while let directive = machine.step(at: start.advanced(by: .milliseconds(gap * steps))) {
                if case .commit(let transition) = directive {
                    isKilled = transition.timelineEvents.contains { $0.kind == .killed }
                    if isKilled { break }
                    machine.view.apply(view(30, [owner, handover]))
                }
            }
        }
        #expect(isKilled)
        #expect(steps <= 10)
    }

    @Test("C6: a holder has half of its time from a reminder on that the store has taken only late")
    func lateReminder() throws {
        var machine = machine(.executor)
        let owner = owner(.main, by: other, claim: 20)
        let challenge = ChallengeRecord(claim: Revision(rawValue: 20))
        machine.view.apply(view(30, [owner, entry(OwnershipKey.challenge, challenge, by: other, claim: 30)]))
        // The store refuses the reminder for a second.
        var passed = Duration.zero
        while passed < .seconds(1) {
            while let directive = machine.step(at: start.advanced(by: passed)) {
                if directive.isCommit { machine.failed(at: start.advanced(by: passed)) }
            }
            passed += .milliseconds(1)
        }
        let again = ChallengeRecord(claim: Revision(rawValue: 20), first: Revision(rawValue: 30))
        machine.view.apply(
            view(31, [owner, entry(OwnershipKey.challenge, again, by: session, claim: 30, revision: 31)]))

        let (fenced, takeOver) = try #require(
            run(&machine, from: start.advanced(by: passed), for: .seconds(9), isStopped: true))

        // The participant reads the ownership again at most about 50 ms after a refusal.
        #expect(fenced >= .milliseconds(250))
        #expect(fenced <= .milliseconds(300))
        #expect(try transaction(takeOver).operations.first == .delete(OwnershipKey.owner))
    }

    @Test("C6: a holder that was seen running is looked at again, and superseded when it is stopped by then")
    func looksAgain() throws {
        var machine = machine(.executor)
        let owner = owner(.main, by: other, claim: 20)
        let again = ChallengeRecord(claim: Revision(rawValue: 20), first: Revision(rawValue: 30))
        machine.view.apply(
            view(31, [owner, entry(OwnershipKey.challenge, again, by: other, claim: 30, revision: 31)]))
        var examinations: [Duration] = []
        var takeOver: Duration?
        var passed = Duration.zero
        while passed <= .seconds(6), takeOver == nil {
            while let directive = machine.step(at: start.advanced(by: passed)) {
                if case .examine(_, let claim) = directive {
                    examinations.append(passed)
                    machine.examined(claim, isStopped: examinations.count > 1)
                } else if case .commit = directive {
                    takeOver = passed
                    break
                }
            }
            passed += .milliseconds(1)
        }
        #expect(examinations == [.milliseconds(500), .milliseconds(1000)])
        #expect(takeOver == .milliseconds(1000))
    }

    @Test("C4, C13: an owner looks by itself: an Executor within 250 ms, a Main, which may own for weeks, within 10 s")
    func ownerLooks() {
        for (role, limit) in [(SessionRole.executor, 250), (.main, 10_000)] {
            var machine = machine(role)
            machine.view.apply(view(20, [owner(role, by: session, claim: 20)]))
            #expect(machine.step(at: start) == .startCore(epoch: Revision(rawValue: 20)))
            machine.coreStarted(Revision(rawValue: 20))
            #expect(machine.step(at: start) == nil)
            #expect(machine.nextStep == start.advanced(by: .milliseconds(limit)))
            #expect(machine.step(at: machine.nextStep) == .look)
        }
    }

    @Test(
        "C6: one that comes when others wait leaves the first challenge to them for as long as they believe an answer",
        arguments: [true, false])
    func newcomer(waitsBehindOthers: Bool) throws {
        for goal in [OwnershipGoal.own, .insist] {
            var machine = machine(.executor)
            machine.goal = goal
            machine.waitsBehindOthers = waitsBehindOthers
            machine.view.apply(view(20, [owner(.main, by: other, claim: 20)]))
            let (passed, directive) = try #require(run(&machine, from: start, for: .seconds(3)))
            _ = try transaction(directive)
            let leaves = waitsBehindOthers && goal == .own
            #expect((passed >= .seconds(2)) == leaves)
            #expect(passed <= .milliseconds(leaves ? 2_100 : 100))

            // The holder of a newer claim is challenged as soon as by any other participant.
            let later = start.advanced(by: passed)
            machine.view.apply(view(40, [owner(.executor, by: other, claim: 40)]))
            let (next, again) = try #require(run(&machine, from: later, for: .seconds(3)))
            _ = try transaction(again)
            #expect(next <= .milliseconds(100))
        }
    }

    @Test("C6: an answer to the first challenge counts for its repetition too")
    func answerToTheFirst() {
        var machine = machine(.executor)
        let again = ChallengeRecord(claim: Revision(rawValue: 20), first: Revision(rawValue: 30))
        let answer = AnswerRecord(claim: Revision(rawValue: 20), challenge: Revision(rawValue: 30))
        machine.view.apply(
            view(
                32,
                [
                    owner(.main, by: other, claim: 20),
                    entry(OwnershipKey.challenge, again, by: session, claim: 30, revision: 31),
                    entry(OwnershipKey.answer, answer, by: other, claim: 32),
                ]))
        // The directive is at most a new challenge, and never a take-over.
        if let came = run(&machine, from: start, for: .milliseconds(90)), case .commit(let transition) = came.1 {
            #expect(!transition.timelineEvents.contains { $0.kind == .tookOver })
        }
    }

    @Test("C6: an owner answers what is asked of its own claim, and nothing else")
    func ownerAnswers() throws {
        var machine = machine(.main)
        let mine = owner(.main, by: session, claim: 20)
        let foreign = ChallengeRecord(claim: Revision(rawValue: 19))
        machine.view.apply(view(30, [mine, entry(OwnershipKey.challenge, foreign, by: other, claim: 30)]))
        #expect(machine.step(at: start) == .startCore(epoch: Revision(rawValue: 20)))
        #expect(machine.step(at: start) == nil)

        let challenge = ChallengeRecord(claim: Revision(rawValue: 20))
        machine.view.apply(
            view(31, [mine, entry(OwnershipKey.challenge, challenge, by: other, claim: 30, revision: 31)]))
        let transaction = try transaction(machine.step(at: start))
        #expect(transaction.guards == [.epoch(OwnershipKey.owner, Revision(rawValue: 20))])
        let answer = AnswerRecord(claim: Revision(rawValue: 20), challenge: Revision(rawValue: 31))
        #expect(transaction.operations == [.put(OwnershipKey.answer, answer.bytes, .session)])
    }

    @Test("C6: a silent Main with a request is examined; the request stays while that process is seen running")
    func silentRequestIsLookedAt() throws {
        var machine = machine(.executor)
        let request = HandoverRecord(
            name: "main", askedAt: start, deadline: .seconds(1), takesOverMain: false, process: process(2))
        let claim = Revision(rawValue: 30)
        let asked = entry(OwnershipKey.handover, request, by: other, claim: 30)
        machine.view.apply(view(30, [asked]))
        let (waited, first) = try #require(run(&machine, from: start, for: .seconds(1)))
        _ = try transaction(first)
        // The reminder is done, so that only the read is left.
        let challenge = ChallengeRecord(claim: claim, first: Revision(rawValue: 31))
        machine.view.apply(
            view(32, [asked, entry(OwnershipKey.challenge, challenge, by: session, claim: 31, revision: 32)]))

        let begin = start.advanced(by: waited)
        var running = machine
        #expect(run(&running, from: begin, for: .seconds(2), isStopped: false) == nil)
        let (passed, removal) = try #require(run(&machine, from: begin, for: .seconds(2), isStopped: true))

        #expect(passed == .milliseconds(500))
        #expect(
            try transaction(removal).operations == [.delete(OwnershipKey.handover), .delete(OwnershipKey.takes)])
    }

    @Test(
        "C3: Main waits for the deadline and the granted bound, cut at the hard maximum",
        arguments: [(0, 500), (700, 1200), (60_000, 5000)])
    func handoverTimeout(bound: Int, limit: Int) throws {
        var machine = machine(.main)
        let request = HandoverRecord(name: "me", askedAt: start, deadline: .milliseconds(500), takesOverMain: false)
        let critical = CriticalRecord(epoch: Revision(rawValue: 20), bound: .milliseconds(bound))
        machine.view.apply(
            view(
                30,
                [
                    owner(.executor, by: other, claim: 20),
                    entry(OwnershipKey.critical, critical, by: other, claim: 25),
                    entry(OwnershipKey.handover, request, by: session, claim: 30),
                ]))

        let (passed, directive) = try #require(run(&machine, from: start, for: .seconds(10)))

        #expect(passed == .milliseconds(limit))
        let transaction = try transaction(directive)
        #expect(
            transaction.guards == [
                .epoch(OwnershipKey.handover, Revision(rawValue: 30)),
                .revision(OwnershipKey.owner, Revision(rawValue: 20)),
            ])
    }

    @Test(
        "C6, C13: a wait behind a Main's request has the dead noticed once, and challenges that Main alone",
        arguments: [SessionRole.main, .executor])
    func waitsBehindARequest(role: SessionRole) throws {
        var machine = machine(role)
        let request = HandoverRecord(
            name: "another", askedAt: start, deadline: .milliseconds(500), takesOverMain: false)
        machine.view.apply(
            view(
                30,
                [
                    owner(.executor, by: other, claim: 20),
                    entry(OwnershipKey.handover, request, by: SessionID(rawValue: 30), claim: 25),
                ]))

        var burials = 0
        var now = start
        while burials < 10 {
            let directive = machine.step(at: now)
            if directive == .bury { burials += 1 }
            if let directive, directive.isCommit {
                let challenge = ChallengeRecord(claim: Revision(rawValue: 25))
                let operations = try transaction(directive).operations
                #expect(operations == [.put(OwnershipKey.challenge, challenge.bytes, .persistent)])
                break
            }
            if directive == nil { now = now.advanced(by: .milliseconds(1)) }
        }
        #expect(burials <= 2)
    }

    @Test("C3: the bound of a critical section stays granted to an owner that leaves it early")
    func grantedBoundStays() throws {
        var machine = machine(.main)
        let request = HandoverRecord(name: "me", askedAt: start, deadline: .milliseconds(500), takesOverMain: false)
        let critical = CriticalRecord(epoch: Revision(rawValue: 20), bound: .milliseconds(700))
        let entries = [
            owner(.executor, by: other, claim: 20),
            entry(OwnershipKey.handover, request, by: session, claim: 30),
        ]
        machine.view.apply(
            view(30, entries + [entry(OwnershipKey.critical, critical, by: other, claim: 25)]))
        #expect(run(&machine, from: start, for: .milliseconds(600)) == nil)

        machine.view.apply(view(31, entries))

        let left = start.advanced(by: .milliseconds(600))
        let (passed, _) = try #require(run(&machine, from: left, for: .seconds(10)))
        #expect(passed == .milliseconds(600))
    }

    @Test("C3: the bound stays granted also where the section was left before Main saw its own request")
    func grantedBoundOfTheRequest() throws {
        var machine = machine(.main)
        let critical = CriticalRecord(epoch: Revision(rawValue: 20), bound: .milliseconds(700))
        let owner = owner(.executor, by: other, claim: 20)
        machine.view.apply(view(25, [owner, entry(OwnershipKey.critical, critical, by: other, claim: 25)]))
        let (asked, _) = try #require(run(&machine, from: start, for: .milliseconds(10)))
        #expect(asked == .zero)
        let request = HandoverRecord(name: "me", askedAt: start, deadline: .milliseconds(500), takesOverMain: false)

        machine.view.apply(view(31, [owner, entry(OwnershipKey.handover, request, by: session, claim: 30)]))

        let (passed, _) = try #require(run(&machine, from: start, for: .seconds(10)))
        #expect(passed == .milliseconds(1200))
    }

    @Test("C3: the owner's process is killed after the store shows that the kill was recorded, and not before")
    func killIsDeclaredFirst() throws {
        var machine = machine(.main)
        var request = HandoverRecord(name: "me", askedAt: start, deadline: .milliseconds(500), takesOverMain: false)
        let owner = owner(.executor, by: other, claim: 20)
        machine.view.apply(view(30, [owner, entry(OwnershipKey.handover, request, by: session, claim: 30)]))
        let (passed, first) = try #require(run(&machine, from: start, for: .seconds(10)))
        guard case .commit = first else {
            Issue.record("The first directive is \(first), not the record of the kill.")
            return
        }
        request.isKilling = true
        machine.view.apply(
            view(31, [owner, entry(OwnershipKey.handover, request, by: session, claim: 30, revision: 31)]))

        let directive = machine.step(at: start.advanced(by: passed))

        #expect(directive == .kill(process(2), epoch: Revision(rawValue: 20)))
    }

    @Test("C3: one whose process number is of another namespace is fenced, and nothing says that it was killed")
    func foreignNumber() throws {
        var machine = machine(.main)
        let request = HandoverRecord(name: "me", askedAt: start, deadline: .milliseconds(500), takesOverMain: false)
        var record = OwnerRecord(role: .executor, state: .running, name: "owner", process: process(2), since: start)
        record.processNamespace = 7
        machine.view.apply(
            view(
                30,
                [
                    entry(OwnershipKey.owner, record, by: other, claim: 20),
                    entry(OwnershipKey.handover, request, by: session, claim: 30),
                ]))
        let (passed, directive) = try #require(run(&machine, from: start, for: .seconds(10)))
        #expect(passed < .seconds(1))
        guard case .commit(let transition) = directive else {
            Issue.record("\(directive) is no commit")
            return
        }
        #expect(transition.timelineEvents.contains { $0.reason.contains("another namespace") })
        #expect(!transition.timelineEvents.contains { $0.kind == .killed })
    }

    @Test("C3: one that is killed and does not end, as in an uninterruptible wait, is fenced after 500 ms")
    func killedInVain() throws {
        var machine = machine(.main)
        var request = HandoverRecord(name: "me", askedAt: start, deadline: .milliseconds(500), takesOverMain: false)
        request.isKilling = true
        machine.view.apply(
            view(
                31,
                [
                    owner(.executor, by: other, claim: 20),
                    entry(OwnershipKey.handover, request, by: session, claim: 30, revision: 31),
                ]))
        let (asked, kill) = try #require(run(&machine, from: start, for: .seconds(10)))
        #expect(kill == .kill(process(2), epoch: Revision(rawValue: 20)))
        let killed = start.advanced(by: asked)
        machine.killEnded(Revision(rawValue: 20), impossible: nil, at: killed)
        let (passed, directive) = try #require(run(&machine, from: killed, for: .seconds(10)))
        #expect(passed >= .milliseconds(500) && passed < .milliseconds(650), "\(passed)")
        guard case .commit(let transition) = directive else {
            Issue.record("\(directive) is no commit")
            return
        }
        #expect(transition.timelineEvents.contains { $0.reason.contains("did not end") })
    }

    @Test("C4: a superseded owner stops its core at once and releases nothing")
    func supersededOwner() {
        var machine = machine(.executor)
        machine.view.apply(view(20, [owner(.executor, by: session, claim: 20)]))
        #expect(machine.step(at: start) == .startCore(epoch: Revision(rawValue: 20)))
        machine.coreStarted(Revision(rawValue: 20))

        machine.view.apply(view(40, [owner(.main, by: other, claim: 40)]))

        #expect(machine.step(at: start) == .stopCore(epoch: Revision(rawValue: 20)))
        #expect(machine.takeLoss()?.successor?.claim == Revision(rawValue: 40))
        #expect(machine.holding == nil)
        machine.goal = .nothing(because: .allServed)
        machine.coreEnded(Revision(rawValue: 20), problem: nil)
        while let directive = machine.step(at: start) {
            guard case .commit(let transition) = directive else { continue }
            #expect(transition.transaction.operations.isEmpty)
        }
    }

    @Test("an older snapshot or change never replaces what is known")
    func viewNeverGoesBack() {
        var seen = OwnershipView()
        seen.apply(view(40, [owner(.main, by: other, claim: 40)]), at: start)
        seen.apply(view(30, []), at: start)
        #expect(seen.owner != nil)
        let change = Change(key: OwnershipKey.owner, kind: .deleted, old: nil, new: nil)
        seen.apply(.changes(ChangeSet(revision: Revision(rawValue: 39), origin: other, changes: [change])), at: start)
        #expect(seen.owner != nil)
        seen.apply(.changes(ChangeSet(revision: Revision(rawValue: 41), origin: other, changes: [change])), at: start)
        #expect(seen.owner == nil)
    }
}

extension OwnershipView {
    /// Takes in a snapshot in which no beginning lies ahead.
    mutating func apply(_ snapshot: Snapshot) { apply(snapshot, at: BootInstant(nanoseconds: .max)) }
}
