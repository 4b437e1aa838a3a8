import CoreAPI
import Testing

@testable import Coordination

/// The reasons that a participant gives for its wait.
struct OwnershipWaitReasonTests {
    private let start = BootInstant(nanoseconds: 1_000_000_000_000)
    private let session = SessionID(rawValue: 10)
    private let other = SessionID(rawValue: 20)

    private func machine(_ role: SessionRole, goal: OwnershipGoal = .own, sees entries: [Entry]) -> OwnershipMachine {
        var machine = OwnershipMachine(
            for: Participation(session: session, role: role, name: "me", process: process(1)), rules: OwnershipRules(),
            seed: 1, at: start)
        machine.goal = goal
        machine.view.apply(Snapshot(revision: Revision(rawValue: 90), entries: entries))
        return machine
    }

    private func process(_ pid: Int32) -> ProcessIdentity {
        ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: pid, startTime: 1)
    }

    private func entry(_ key: Key, _ record: some StoredRecord, by session: SessionID, claim: UInt64) -> Entry {
        Entry(
            key: key, value: record.bytes, revision: Revision(rawValue: claim),
            creationRevision: Revision(rawValue: claim), lifetime: .session, origin: session)
    }

    private func owner(_ role: SessionRole, _ state: OwnerState = .running, by session: SessionID) -> Entry {
        entry(
            OwnershipKey.owner,
            OwnerRecord(role: role, state: state, name: "push", process: process(123), since: start), by: session,
            claim: 7)
    }

    private func request(by session: SessionID) -> Entry {
        entry(
            OwnershipKey.handover,
            HandoverRecord(
                name: "main", askedAt: start, deadline: .milliseconds(500), takesOverMain: false, process: process(4)),
            by: session, claim: 8)
    }

    private func asking(limit: Duration, sees entries: [Entry]) -> OwnershipMachine {
        var machine = machine(.main, sees: entries)
        machine.handoverWait = HandoverWait(
            handover: Revision(rawValue: 8), epoch: Revision(rawValue: 7), waitingTime: RunningTime(from: start),
            limit: limit)
        return machine
    }

    @Test("C3: a Main that has asked waits for the hand-over, with its limit; a critical section makes it longer")
    func handover() {
        let asked = [owner(.executor, by: other), request(by: session)]
        #expect(
            asking(limit: .milliseconds(500), sees: asked).waiting?.describe()
                == "waiting for executor “push” pid 123 (epoch 7) to hand over, 500 ms at most")
        let critical = entry(
            OwnershipKey.critical, CriticalRecord(epoch: Revision(rawValue: 7), bound: .seconds(2)), by: other, claim: 9
        )
        let longer = asking(limit: .milliseconds(2500), sees: asked + [critical])
        #expect(longer.waiting?.describe().hasSuffix("a critical section and hand over, 2.5 s at most") == true)
        let stopping = [owner(.executor, .stopping, by: other), request(by: session)]
        let last = asking(limit: .milliseconds(500), sees: stopping)
        #expect(last.waiting?.describe().contains("(epoch 7, stopping)") == true)
    }

    @Test("C17: a Main that has asked waits for the owner's activities, unless it insists or the owner stops")
    func activity() {
        let call = Activity(.call, id: "a84b", begun: start)
        let record = ActivitiesRecord(epoch: Revision(rawValue: 7), activities: [call])
        let activities = entry(OwnershipKey.activities, record, by: other, claim: 9)
        let asked = [owner(.executor, by: other), request(by: session), activities]
        let patient = asking(limit: .milliseconds(500), sees: asked)
        #expect(
            patient.waiting?.describe()
                == "waiting for executor “push” pid 123 (epoch 7), which is busy with call “a84b”, 4 h 1 min at most")
        var insisting = patient
        insisting.insists = true
        #expect(insisting.waiting?.describe().hasSuffix("to hand over, 500 ms at most") == true)
        let stopping = [owner(.executor, .stopping, by: other), request(by: session), activities]
        #expect(asking(limit: .milliseconds(500), sees: stopping).waiting?.describe().contains("busy") == false)
    }

    @Test(
        "Durations for users have the unit that fits, rounded up",
        arguments: [
            (0, "0 ms"), (999, "999 ms"), (1000, "1 s"), (2500, "2.5 s"), (9050, "9.05 s"), (10_001, "11 s"),
            (119_000, "119 s"), (120_000, "2 min"), (840_001, "15 min"), (14_400_000, "4 h"),
            (16_200_000, "4 h 30 min"),
        ])
    func durations(milliseconds: Int, text: String) {
        #expect(Duration.milliseconds(milliseconds).inWords == text)
    }

    @Test("C3: past the deadline it waits for the end of the process that it killed")
    func death() {
        var machine = asking(limit: .milliseconds(500), sees: [owner(.executor, by: other), request(by: session)])
        machine.killEnded(Revision(rawValue: 7), impossible: nil, at: start)
        let sentence = machine.waiting?.describe()
        #expect(sentence?.hasPrefix("waiting for the end of executor “push” pid 123 (epoch 7)") == true)
    }

    @Test("C2, C14: an Executor waits for its turn, and for a Main that has asked before it")
    func turn() {
        #expect(
            machine(.executor, sees: [owner(.executor, by: other)]).waiting?.describe()
                == "waiting for executor “push” pid 123 (epoch 7), which owns the core")
        let waiting = machine(.executor, sees: [request(by: other)]).waiting
        #expect(waiting?.describe() == "waiting for the main “main” pid 4, which has asked for the core before")
    }

    @Test("The owner waits for its core; nothing is waited for without a goal or without an owner")
    func nothing() {
        #expect(machine(.executor, sees: [owner(.executor, by: session)]).waiting == .coreStart)
        #expect(machine(.main, sees: []).waiting == nil)
        #expect(machine(.main, goal: .nothing(because: .nobodyWaits), sees: [owner(.main, by: other)]).waiting == nil)
    }
}
