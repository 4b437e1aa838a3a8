import CoreAPI
import Testing

@testable import Coordination

/// An owner that may be cut off from the group, and one that waits for it.
extension OwnershipMachineTests {
    private func lease(_ seconds: Int, confirmed: Duration = .zero) -> SessionLease {
        SessionLease(duration: .seconds(seconds), confirmedAt: start.advanced(by: confirmed))
    }

    /// A Main with a core that runs under epoch 20.
    private func runningMain(_ lease: SessionLease?, beside entries: [Entry] = []) throws -> OwnershipMachine {
        var machine = machine(.main)
        machine.lease = lease
        machine.view.apply(view(30, [owner(.main, by: session, claim: 20)] + entries))
        #expect(machine.step(at: start) == .startCore(epoch: Revision(rawValue: 20)))
        machine.coreStarted(Revision(rawValue: 20))
        return machine
    }

    @Test(
        "C19: a core is stopped the stop bound before its session may be over, a third of the lease at most, and no sooner",
        arguments: [(6, 4_000), (15, 10_000), (30, 25_000)])
    func stopsInDoubt(seconds: Int, milliseconds: Int) throws {
        var machine = try runningMain(lease(seconds))
        let (at, directive) = try #require(run(&machine, from: start, for: .seconds(seconds)))
        #expect(at == .milliseconds(milliseconds))
        #expect(directive == .stopCore(epoch: Revision(rawValue: 20)))
        #expect(machine.core?.request == StopRequest(.cutOff))
    }

    @Test("C19: it wakes for that, and each answer moves the time; a session without a lease is in no doubt")
    func confirmed() throws {
        var machine = try runningMain(lease(6))
        #expect(machine.step(at: start) == nil)
        #expect(machine.nextStep == start.advanced(by: .seconds(4)))
        for second in 1...100 {
            machine.lease = lease(6, confirmed: .seconds(second))
            let now = start.advanced(by: .milliseconds(second * 1_000 + 3_999))
            for _ in 0..<3 { if let directive = machine.step(at: now) { #expect(directive == .look) } }
            #expect(machine.core?.phase == .running)
        }
        var local = try runningMain(nil)
        #expect(run(&local, from: start, for: .seconds(60)) == nil)
    }

    @Test("C19: neither an activity nor a critical section holds it up")
    func nothingHoldsIt() throws {
        let call = Activity(.call, id: "1", begun: start)
        let activities = ActivitiesRecord(epoch: Revision(rawValue: 20), activities: [call])
        let critical = CriticalRecord(epoch: Revision(rawValue: 20), bound: .seconds(60))
        var machine = try runningMain(
            lease(6),
            beside: [
                entry(OwnershipKey.activities, activities, by: session, claim: 21),
                entry(OwnershipKey.critical, critical, by: session, claim: 22),
            ])
        #expect(run(&machine, from: start, for: .seconds(5))?.at == .seconds(4))
    }

    @Test("C19: no core is started in doubt: the group is asked, and one starts when it has answered")
    func noStartInDoubt() throws {
        var machine = machine(.main)
        machine.lease = lease(6)
        machine.view.apply(view(30, [owner(.main, by: session, claim: 20)]))
        let late = start.advanced(by: .seconds(5))
        var directives: [Directive] = []
        for millisecond in 0...1_000 {
            while let directive = machine.step(at: late.advanced(by: .milliseconds(millisecond))) {
                directives.append(directive)
            }
        }
        #expect(Set(directives) == [.look] && directives.count >= 3, "\(directives)")
        machine.lease = lease(6, confirmed: .seconds(6))
        #expect(machine.step(at: late.advanced(by: .seconds(1))) == .startCore(epoch: Revision(rawValue: 20)))
    }

    @Test("C19, C1: one that was cut off releases its epoch and acquires a new one, with its lease beside it")
    func newEpoch() throws {
        var machine = try runningMain(lease(6))
        _ = run(&machine, from: start, for: .seconds(5))
        machine.coreEnded(Revision(rawValue: 20), problem: nil)
        machine.lease = lease(6, confirmed: .seconds(7))
        let now = start.advanced(by: .seconds(7))
        guard case .commit(let release)? = machine.step(at: now) else {
            Issue.record("it does not release")
            return
        }
        #expect(release.timelineEvents.map(\.kind) == [.coreStopped, .released])
        #expect(release.timelineEvents.first?.reason.contains("cut off") == true)
        machine.view.apply(view(40, []))
        let acquisition = try transaction(machine.step(at: now))
        #expect(
            acquisition.operations.contains(
                .put(OwnershipKey.lease, LeaseRecord(duration: .seconds(6)).bytes, .session)))
    }

    @Test("C19: beside a core that was cut off and given up, no other is started here until it has ended")
    func leftoverKeepsOut() throws {
        var machine = try runningMain(lease(6))
        let stopped = try #require(run(&machine, from: start, for: .seconds(5))).at
        machine.lease = lease(6, confirmed: .seconds(9))
        var releases = 0
        for millisecond in 0...6_000 {
            let now = start.advanced(by: stopped + .milliseconds(millisecond))
            machine.lease = SessionLease(duration: .seconds(6), confirmedAt: now)
            while let directive = machine.step(at: now) {
                guard case .commit(let transition) = directive else { continue }
                if transition.timelineEvents.contains(where: { $0.kind == .coreGivenUp }) {
                    releases += 1
                    machine.view.apply(view(40, []))
                }
                #expect(!transition.acquires, "a core starts beside the one that was given up")
                if transition.timelineEvents.contains(where: { $0.kind == .stateChanged }) {
                    var record = OwnerRecord(
                        role: .main, state: .stopping, name: "me", process: process(1), since: start)
                    record.state = .stopping
                    machine.view.apply(
                        view(35, [entry(OwnershipKey.owner, record, by: session, claim: 20, revision: 35)]))
                }
            }
        }
        #expect(releases == 1)
        machine.coreEnded(Revision(rawValue: 20), problem: nil)
        let directive = machine.step(at: start.advanced(by: .seconds(20)))
        #expect(try transaction(directive).guards.contains(.absent(OwnershipKey.owner)))
    }

    // MARK: - One that waits

    private func leased(_ role: SessionRole, state: OwnerState = .running) -> [Entry] {
        [
            entry(
                OwnershipKey.owner,
                OwnerRecord(role: role, state: state, name: "owner", process: process(2), since: start), by: other,
                claim: 20),
            entry(OwnershipKey.lease, LeaseRecord(duration: .seconds(6)), by: other, claim: 20),
        ]
    }

    @Test(
        "C6, C19: a silent owner with a lease is fenced after its lease and 5 s, but after 500 ms where it is seen stopped",
        arguments: [(nil, 11_000), (false, 11_000), (true, 500)] as [(Bool?, Int)])
    func leaseIsWaitedFor(isStopped: Bool?, limit: Int) throws {
        var machine = machine(.executor)
        let challenge = ChallengeRecord(claim: Revision(rawValue: 20))
        let again = ChallengeRecord(claim: Revision(rawValue: 20), first: Revision(rawValue: 30))
        machine.view.apply(
            view(30, leased(.main) + [entry(OwnershipKey.challenge, challenge, by: other, claim: 30)]))
        let reminded = try #require(run(&machine, from: start, for: .seconds(2))).at
        machine.view.apply(
            view(
                31,
                leased(.main) + [entry(OwnershipKey.challenge, again, by: session, claim: 30, revision: 31)]))
        let (fenced, takeOver) = try #require(
            run(&machine, from: start.advanced(by: reminded), for: .seconds(20), isStopped: isStopped))
        #expect(reminded + fenced == .milliseconds(limit))
        #expect(try transaction(takeOver).operations.first == .delete(OwnershipKey.owner))
    }

    @Test("C6: the lease of an earlier owner has no effect on the present one")
    func formerLease() throws {
        var view = OwnershipView()
        view.apply(
            self.view(
                30,
                [
                    owner(.main, by: other, claim: 25),
                    entry(OwnershipKey.lease, LeaseRecord(duration: .seconds(6)), by: other, claim: 20),
                ]))
        #expect(view.lease(of: try #require(view.owner)) == nil)
        view.apply(self.view(31, leased(.main)))
        #expect(view.lease(of: try #require(view.owner)) == .seconds(6))
    }

    /// Returns the time from a Main's request until it fences an Executor of another machine that does not release.
    ///
    /// - Parameter answers: Returns true if the owner answers a challenge that stands at that time.
    private func fenceTime(of entries: [Entry], answers: (Duration) -> Bool) throws -> Duration {
        var machine = OwnershipMachine(
            for: Participation(
                session: session, role: .main, name: "me",
                process: ProcessIdentity(bootID: BootID(high: 9, low: 9), pid: 1, startTime: 1)),
            rules: OwnershipRules(), seed: 1, at: start)
        machine.goal = .own
        var revision: UInt64 = 30
        var standing = Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0) })
        machine.view.apply(view(revision, entries))
        func put(_ key: Key, _ value: [UInt8], by author: SessionID) {
            revision += 1
            let now = Revision(rawValue: revision)
            standing[key] = Entry(
                key: key, value: value, revision: now, creationRevision: standing[key]?.creationRevision ?? now,
                lifetime: .session, origin: author)
        }
        for millisecond in 0...40_000 {
            let passed = Duration.milliseconds(millisecond)
            while let directive = machine.step(at: start.advanced(by: passed)) {
                switch directive {
                case .commit(let transition):
                    if transition.timelineEvents.contains(where: { $0.kind == .tookOver }) { return passed }
                    for case .put(let key, let value, _) in transition.transaction.operations {
                        put(key, value, by: session)
                    }
                    machine.view.apply(view(revision, Array(standing.values)))
                case .examine(_, let claim): machine.examined(claim, isStopped: nil)
                default: break
                }
            }
            if let challenge = standing[OwnershipKey.challenge], answers(passed) {
                let answer = AnswerRecord(claim: Revision(rawValue: 20), challenge: challenge.revision)
                if standing[OwnershipKey.answer]?.value != answer.bytes {
                    put(OwnershipKey.answer, answer.bytes, by: other)
                }
            }
            machine.view.apply(view(revision, Array(standing.values)))
        }
        Issue.record("it is not fenced")
        return .zero
    }

    @Test("C3, C19: an owner of another machine that was asked and is silent is fenced after its lease and 5 s")
    func askedAndSilent() throws {
        let silent = try fenceTime(of: leased(.executor)) { _ in false }
        #expect(silent >= .seconds(11) && silent <= .milliseconds(11_800), "\(silent)")
        let stopping = try fenceTime(of: leased(.executor, state: .stopping)) { _ in false }
        #expect(stopping >= .seconds(11) && stopping <= .milliseconds(11_800), "\(stopping)")
        let local = try fenceTime(of: [owner(.executor, by: other, claim: 20)]) { _ in false }
        #expect(local >= .milliseconds(500) && local <= .milliseconds(510), "without a lease: \(local)")
    }

    @Test("C3: one that answers and does not let go has no more time than before")
    func askedAndAnswering() throws {
        let answering = try fenceTime(of: leased(.executor)) { _ in true }
        #expect(answering >= .milliseconds(500) && answering <= .milliseconds(800), "\(answering)")
        let stopping = try fenceTime(of: leased(.executor, state: .stopping)) { _ in true }
        #expect(stopping >= .seconds(5) && stopping <= .milliseconds(5_300), "\(stopping)")
    }

    @Test("C3, C19: one that answers again after a cut has its time to hand over from then on, once")
    func heardAgain() throws {
        let back = try fenceTime(of: leased(.executor)) { $0 >= .seconds(3) }
        #expect(back >= .milliseconds(3_500) && back <= .seconds(4), "\(back)")
    }
}
