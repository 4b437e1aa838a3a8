import CoreAPI
import StoreEngine
import Testing

@testable import Coordination

/// How a Main offers its ownership.
extension OwnershipMachineTests {
    /// A Main that wants to rest, its core quiet, beside a holder.
    private func restingMain() -> OwnershipMachine {
        var machine = machine(.main)
        machine.view.apply(present(at: 30), at: start)
        _ = machine.step(at: start)
        machine.core = LocalCore(epoch: Revision(rawValue: 20), phase: .running)
        machine.core?.isQuiet = true
        machine.wantsRest = true
        return machine
    }

    /// The group at a revision, with or without the offer.
    private func present(at revision: UInt64, offer: UInt64? = nil, isChallenged: Bool = false) -> Snapshot {
        var entries = [
            owner(.main, by: session, claim: 20),
            entry(OwnershipKey.holder, HolderRecord(process: process(2), processNamespace: 0), by: other, claim: 10),
        ]
        if isChallenged {
            let record = ChallengeRecord(claim: Revision(rawValue: 20))
            entries.append(entry(OwnershipKey.challenge, record, by: other, claim: revision))
        }
        if let offer {
            let record = RestRecord(epoch: Revision(rawValue: 20), name: "me", process: process(1))
            entries.append(entry(OwnershipKey.rest, record, by: session, claim: offer))
        }
        return view(revision, entries)
    }

    private func offer(_ machine: inout OwnershipMachine) throws -> Transition {
        guard case .commit(let transition)? = machine.step(at: start), transition.offersRest else {
            Issue.record("it does not offer")
            throw CancellationError()
        }
        return transition
    }

    @Test(
        "C26: an offer that is refused before its commit returns is refused once: its core goes on",
        arguments: [true, false])
    func refusedBeforeItWasSeen(isUnknown: Bool) throws {
        var machine = restingMain()
        let transition = try offer(&machine)
        if isUnknown {
            machine.missed(transition, .unknown)
        } else {
            machine.committed(transition, at: Revision(rawValue: 31))
        }
        // The holder deletes the offer at 32, and that is the first revision that Main sees.
        machine.view.apply(present(at: 32), at: start)
        #expect(machine.step(at: start) == .resumeCore(epoch: Revision(rawValue: 20)))
        #expect(!machine.wantsRest)
    }

    @Test("C26: an offer that the store has refused is made again; a stored offer is not")
    func offersOnce() throws {
        var machine = restingMain()
        let transition = try offer(&machine)
        machine.missed(transition, .refused)
        machine.view.apply(present(at: 31), at: start)
        machine.committed(try offer(&machine), at: Revision(rawValue: 32))
        machine.view.apply(present(at: 32, offer: 32), at: start)
        #expect(machine.step(at: start) == nil)
        #expect(machine.wantsRest && machine.core?.isQuiet == true)
        machine.view.apply(present(at: 33), at: start)
        #expect(machine.step(at: start) == .resumeCore(epoch: Revision(rawValue: 20)))
    }

    @Test("C26, S10: a Main whose offer does not fit into the store does not rest, and its core continues")
    func restsWithoutRoom() throws {
        var machine = restingMain()
        machine.missed(try offer(&machine), .noRoom)
        machine.view.apply(present(at: 31), at: start)
        #expect(machine.step(at: start) == .resumeCore(epoch: Revision(rawValue: 20)))
        #expect(!machine.wantsRest)
    }

    @Test("C26, C15: the end of a quiet core whose holder has ended is told again where the store did not take it")
    func tellsAgain() throws {
        var machine = restingMain()
        machine.view.apply(present(at: 31, offer: 31), at: start)
        _ = machine.step(at: start)
        // The holder has ended, and with its session the ownership.
        machine.view.apply(
            view(
                40,
                [
                    entry(
                        OwnershipKey.rest, RestRecord(epoch: Revision(rawValue: 20), name: "me", process: process(1)),
                        by: session, claim: 31)
                ]), at: start)
        #expect(machine.step(at: start) == .stopCore(epoch: Revision(rawValue: 20)))
        machine.coreEnded(Revision(rawValue: 20), problem: nil)
        guard case .commit(let told)? = machine.step(at: start) else { return #expect(Bool(false), "nothing is told") }
        #expect(told.timelineEvents.map(\.kind) == [.coreStopped])

        machine.failed(at: start)
        machine.missed(told, .refused)
        #expect(machine.step(at: start) == nil)
        let later = start.advanced(by: machine.rules.retryInterval)
        #expect(machine.step(at: later) == .commit(told))
        machine.committed(told, at: Revision(rawValue: 41))
        guard case .commit(let next)? = machine.step(at: later) else { return #expect(Bool(false), "nothing is owned") }
        #expect(next.acquires)
    }

    @Test(
        "C14, C26: a Main that has ended at rest refuses no participant until its holder releases",
        arguments: [SessionRole.main, .executor])
    func endedAtRest(role: SessionRole) throws {
        var machine = machine(role, goal: role == .main ? .own : .insist)
        let holder = entry(
            OwnershipKey.holder, HolderRecord(process: process(2), processNamespace: 0), by: other, claim: 15)
        machine.view.apply(view(30, [owner(.main, by: other, claim: 20), holder]), at: start)
        let (_, directive) = try #require(run(&machine, from: start, for: .seconds(1)))
        #expect(
            try transaction(directive).operations.contains {
                if case .put(OwnershipKey.challenge, _, _) = $0 { true } else { false }
            })
        let challenge = ChallengeRecord(claim: Revision(rawValue: 20))
        let answer = AnswerRecord(claim: Revision(rawValue: 20), challenge: Revision(rawValue: 31))
        machine.view.apply(
            view(
                32,
                [
                    owner(.main, by: other, claim: 20), holder,
                    entry(OwnershipKey.challenge, challenge, by: session, claim: 31),
                    entry(OwnershipKey.answer, answer, by: other, claim: 32),
                ]), at: start)
        #expect(run(&machine, from: start.advanced(by: .seconds(1)), for: .seconds(1)) == nil)
        #expect(machine.refusal == nil)
    }

    @Test("C26, C6: a Main that is about to offer answers a challenge first")
    func answersFirst() throws {
        var machine = restingMain()
        machine.view.apply(present(at: 31, isChallenged: true), at: start)
        let answer = try transaction(machine.step(at: start))
        #expect(
            answer.operations.contains { if case .put(OwnershipKey.answer, _, _) = $0 { true } else { false } })
        #expect(machine.wantsRest)
    }
}
