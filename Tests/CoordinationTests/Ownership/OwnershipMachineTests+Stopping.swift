import CoreAPI
import Testing

@testable import Coordination

/// A hand-over by an owner with a core that stops slowly.
extension OwnershipMachineTests {
    /// The content of a store that accepts every commit.
    private struct Paper {
        var revision: UInt64 = 30
        var entries: [Key: Entry] = [:]

        var snapshot: Snapshot {
            Snapshot(revision: Revision(rawValue: revision), entries: Array(entries.values))
        }

        mutating func put(_ key: Key, _ value: [UInt8], by session: SessionID) {
            revision += 1
            let now = Revision(rawValue: revision)
            entries[key] = Entry(
                key: key, value: value, revision: now, creationRevision: entries[key]?.creationRevision ?? now,
                lifetime: .session, origin: session)
        }

        mutating func apply(_ transaction: Transaction, by session: SessionID) {
            for operation in transaction.operations {
                switch operation {
                case .put(let key, let value, _): put(key, value, by: session)
                case .delete(let key): entries[key] = nil
                default: break
                }
            }
        }
    }

    private func record(_ state: OwnerState) -> OwnerRecord {
        OwnerRecord(role: .executor, state: state, name: "owner", process: process(2), since: start)
    }

    /// The time at which a Main kills an Executor that never releases its ownership, counted from the Main's request.
    private func killTime(of state: OwnerState, answering: Bool) throws -> Duration {
        var machine = machine(.main)
        var paper = Paper()
        paper.put(OwnershipKey.owner, record(state).bytes, by: other)
        machine.view.apply(paper.snapshot)
        for millisecond in 0...20_000 {
            let now = start.advanced(by: .milliseconds(millisecond))
            while let directive = machine.step(at: now) {
                switch directive {
                case .commit(let transition):
                    if transition.timelineEvents.contains(where: { $0.kind == .killed }) {
                        return .milliseconds(millisecond)
                    }
                    paper.apply(transition.transaction, by: session)
                    if answering, let challenge = paper.entries[OwnershipKey.challenge] {
                        let claim = try #require(paper.entries[OwnershipKey.owner]).creationRevision
                        let answer = AnswerRecord(claim: claim, challenge: challenge.revision)
                        paper.put(OwnershipKey.answer, answer.bytes, by: other)
                    }
                    machine.view.apply(paper.snapshot)
                case .examine(_, let claim): machine.examined(claim, isStopped: nil)
                default: break
                }
            }
        }
        Issue.record("it is not killed")
        return .zero
    }

    @Test("C3: an Executor whose core is stopping is killed after its stop bound, as long as it answers")
    func stoppingIsAwaited() throws {
        let time = try killTime(of: .stopping, answering: true)
        #expect(time >= .seconds(5) && time <= .milliseconds(5010))
    }

    @Test("C3: an Executor that does not answer is killed soon after the deadline, though it said that its core stops")
    func silentWhileStopping() throws {
        let time = try killTime(of: .stopping, answering: false)
        #expect(time >= .milliseconds(500) && time <= .milliseconds(800))
    }

    @Test("C3: an Executor whose core does not even stop is killed at the deadline, though it answers")
    func runningOn() throws {
        let time = try killTime(of: .running, answering: true)
        #expect(time >= .milliseconds(500) && time <= .milliseconds(510))
    }

    @Test(
        "C3: an Executor leaves a core that does not stop to the Main that kills it, and gives it up where none does",
        arguments: [(true, 5_500), (false, 5_000)])
    func givesUpLater(isKilled: Bool, milliseconds: Int) throws {
        var machine = machine(.executor)
        var paper = Paper()
        paper.put(OwnershipKey.owner, record(.running).bytes, by: session)
        machine.view.apply(paper.snapshot)
        let epoch = try #require(paper.entries[OwnershipKey.owner]).creationRevision
        #expect(machine.step(at: start) == .startCore(epoch: epoch))
        machine.coreStarted(epoch)
        var request = HandoverRecord(name: "main", askedAt: start, deadline: .milliseconds(500), takesOverMain: false)
        if isKilled { request.process = process(3) }
        paper.put(OwnershipKey.handover, request.bytes, by: other)
        machine.view.apply(paper.snapshot)
        #expect(machine.step(at: start) == .stopCore(epoch: epoch))

        var givenUp: Int?
        for millisecond in 0...10_000 where givenUp == nil {
            while let directive = machine.step(at: start.advanced(by: .milliseconds(millisecond))) {
                guard case .commit(let transition) = directive else { continue }
                if transition.timelineEvents.contains(where: { $0.kind == .coreGivenUp }) { givenUp = millisecond }
                paper.apply(transition.transaction, by: session)
                machine.view.apply(paper.snapshot)
            }
        }
        #expect(givenUp == milliseconds)
    }
}

/// A Main that checked the owner's process before it wanted to own.
extension OwnershipMachineTests {
    @Test("C3: a Main asks at once the owner that it had the group look for before it wanted anything")
    func hasMetTheOwner() throws {
        var machine = machine(.main, goal: .nothing(because: .nothingAsked))
        machine.view.apply(view(30, [owner(.executor, by: other, claim: 20)]))
        machine.met(Revision(rawValue: 20), at: start)
        machine.goal = .own
        let operations = try transaction(machine.step(at: start.advanced(by: .milliseconds(100)))).operations
        guard case .put(OwnershipKey.handover, _, .session) = operations.first else {
            Issue.record("\(operations) is no request")
            return
        }
    }

    @Test("C3, L3: an owner that came after that look, or long after it, is not believed without another")
    func hasMetAnother() {
        for (claim, passed) in [(UInt64(25), Duration.zero), (20, .milliseconds(250))] {
            var machine = machine(.main)
            machine.met(Revision(rawValue: 20), at: start)
            // Met again is not met later.
            machine.met(Revision(rawValue: 20), at: start.advanced(by: passed))
            machine.view.apply(view(30, [owner(.executor, by: other, claim: claim)]))
            #expect(machine.step(at: start.advanced(by: passed)) == .bury)
        }
    }
}
