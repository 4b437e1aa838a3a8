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
}
