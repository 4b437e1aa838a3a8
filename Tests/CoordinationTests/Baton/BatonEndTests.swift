import CoreAPI
import Testing

@testable import Coordination

/// How the machine ends its baton after a commit with a lost or refused answer.
struct BatonEndTests {
    private let tests = OwnershipMachineTests()

    @Test(
        "C25: the former owner of a baton that failed ends the calls though it misses the answer to its commit",
        arguments: [
            (BatonRecord.State.failed, OwnershipMachine.Miss.unknown, BatonEnd.failed),
            (.failed, .refused, .applied), (.offered, .unknown, .unknown), (.offered, .refused, .applied),
        ])
    func missedAnswer(state: BatonRecord.State, miss: OwnershipMachine.Miss, end: BatonEnd) throws {
        let epoch = Revision(rawValue: 20)
        var record = BatonRecord(
            epoch: epoch, kind: "test/1", byteCount: 1, digest: [UInt8](repeating: 0, count: 32), descriptorCount: 0,
            calls: ["call"], bootID: BootID(high: 1, low: 1), deadline: tests.start, keepers: [])
        var machine = tests.machine(.executor, goal: .nothing(because: .nothingAsked))
        var given = GivenBaton(record, lifetime: .seconds(1))
        given.phase = .offered(Revision(rawValue: 30))
        machine.given = given
        record.state = state
        let entry = tests.entry(OwnershipKey.baton, record, by: tests.session, claim: 30, revision: 40)
        machine.view.apply(tests.view(40, [entry]), at: tests.start)
        guard case .commit(let transition)? = machine.step(at: tests.start) else {
            Issue.record("the baton is not ended")
            return
        }
        #expect(transition.transaction.operations == [.delete(OwnershipKey.baton)])

        let wasUnclear = machine.begins(transition)
        machine.missed(transition, miss, wasUnclear: wasUnclear)
        // Without the entry: this machine's own commit or that of another owner has removed it.
        machine.view.apply(tests.view(50, []), at: tests.start)
        _ = machine.step(at: tests.start)

        #expect(machine.given?.phase == .over(end))
    }
}
