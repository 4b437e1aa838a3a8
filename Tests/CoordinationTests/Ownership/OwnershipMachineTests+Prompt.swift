import CoreAPI
import Testing

@testable import Coordination

/// What a change of ownership does not wait for.
extension OwnershipMachineTests {
    @Test("C3: a Main asks at once the owner that it had the group look for before it wanted anything")
    func hasMetTheOwner() throws {
        var machine = machine(.main, wish: .nothing(because: .nothingAsked))
        machine.view.apply(view(30, [owner(.executor, by: other, claim: 20)]))
        machine.met(Revision(rawValue: 20), at: start)
        machine.wish = .own
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

    /// An owner whose core was told to stop, because a Main has asked.
    private func stopping() -> OwnershipMachine {
        var machine = machine(.executor)
        let standing = owner(.executor, by: session, claim: 20)
        machine.view.apply(view(20, [standing]))
        #expect(machine.step(at: start) == .startCore(epoch: Revision(rawValue: 20)))
        machine.coreStarted(Revision(rawValue: 20))
        let request = HandoverRecord(
            name: "main", askedAt: start, deadline: .milliseconds(500), takesOverMain: false)
        machine.view.apply(view(30, [standing, entry(OwnershipKey.handover, request, by: other, claim: 30)]))
        #expect(machine.step(at: start) == .stopCore(epoch: Revision(rawValue: 20)))
        return machine
    }

    @Test("C1, C3: a core that stops at once is released without a commit before that says so")
    func stopsAtOnce() throws {
        var machine = stopping()
        #expect(machine.step(at: start) == nil)
        machine.coreEnded(Revision(rawValue: 20), problem: nil)
        let operations = try transaction(machine.step(at: start.advanced(by: .milliseconds(1)))).operations
        #expect(operations.first == .delete(OwnershipKey.owner))
    }

    @Test("C1: that a core stops is there to be read as soon as it takes longer than a moment")
    func stopsLater() throws {
        var machine = stopping()
        #expect(machine.step(at: start) == nil)
        #expect(machine.nextStep == start.advanced(by: machine.rules.stopNotice))
        let operations = try transaction(machine.step(at: machine.nextStep)).operations
        guard case .put(OwnershipKey.owner, let bytes, _) = operations.first else {
            Issue.record("\(operations) does not say how far the owner is")
            return
        }
        #expect(OwnerRecord(bytes: bytes).state == .stopping)
    }
}
