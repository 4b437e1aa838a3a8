import CoreAPI
import StoreEngine
import Testing

@testable import Coordination

/// The machine of a holder as a table: the records in the store, the need, and the machine's directive.
struct HolderMachineTests {
    private static let start = BootInstant(nanoseconds: 1_000_000_000_000)
    private static let me = SessionID(rawValue: 10)
    private static let main = SessionID(rawValue: 20)
    private static let stranger = SessionID(rawValue: 30)

    private static func process(_ pid: Int32) -> ProcessIdentity {
        ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: pid, startTime: 1)
    }

    /// One entry of the table: the keys that stand, the events, and the directive that is expected.
    struct Row: CustomTestStringConvertible, Sendable {
        let title: String
        var standing: Set<Standing> = [.holder]
        var reason: Wake?
        var isClosing = false
        let expected: Expectation

        var testDescription: String { title }
    }

    enum Standing: Hashable, Sendable {
        case holder, otherHolder
        /// Main owns; the holder owns for it.
        case mainOwns, holds
        /// The rest of that ownership; its wake, and the repetition of it.
        case rest, wake, repeatedWake
        case handover, challenge, answer
    }

    enum Expectation: Hashable, Sendable {
        case nothing
        /// A commit: the keys that it puts and deletes, the keys of its guards, and its timeline events.
        case commit(puts: Set<Key>, deletes: Set<Key>, requires: Set<Key>, tells: [TimelineEntry.Kind])
    }

    static let rows: [Row] = [
        Row(
            title: "no holder is there: it becomes the holder", standing: [],
            expected: .commit(
                puts: [OwnershipKey.holder], deletes: [], requires: [OwnershipKey.holder], tells: [])),
        Row(title: "another holder is there: it waits", standing: [.otherHolder], expected: .nothing),
        Row(title: "nothing rests: it does nothing", expected: .nothing),
        Row(title: "Main owns and offers nothing", standing: [.holder, .mainOwns], expected: .nothing),
        Row(
            title: "an offer is taken", standing: [.holder, .mainOwns, .rest],
            expected: .commit(
                puts: [OwnershipKey.owner], deletes: [],
                requires: [OwnershipKey.owner, OwnershipKey.rest, OwnershipKey.handover], tells: [.rested])),
        Row(
            title: "an offer is refused while Main is needed", standing: [.holder, .mainOwns, .rest], reason: .call,
            expected: .commit(
                puts: [], deletes: [OwnershipKey.rest, OwnershipKey.wake],
                requires: [OwnershipKey.owner, OwnershipKey.rest], tells: [])),
        Row(
            title: "an offer is refused while another Main asks", standing: [.holder, .mainOwns, .rest, .handover],
            expected: .commit(
                puts: [], deletes: [OwnershipKey.rest, OwnershipKey.wake],
                requires: [OwnershipKey.owner, OwnershipKey.rest], tells: [])),
        Row(
            title: "an offer is refused by a holder that ends", standing: [.holder, .mainOwns, .rest], isClosing: true,
            expected: .commit(
                puts: [], deletes: [OwnershipKey.rest, OwnershipKey.wake],
                requires: [OwnershipKey.owner, OwnershipKey.rest], tells: [])),
        Row(
            title: "an offer to another holder is left to it", standing: [.otherHolder, .mainOwns, .rest],
            expected: .nothing),
        Row(title: "a Main that rests sleeps on", standing: [.holder, .holds, .rest], expected: .nothing),
        Row(
            title: "a Main that rests and is needed is woken", standing: [.holder, .holds, .rest], reason: .push,
            expected: .commit(
                puts: [OwnershipKey.wake], deletes: [], requires: [OwnershipKey.rest, OwnershipKey.wake],
                tells: [.woken])),
        Row(
            title: "another Main asks: the one that rests is woken", standing: [.holder, .holds, .rest, .handover],
            expected: .commit(
                puts: [OwnershipKey.wake], deletes: [], requires: [OwnershipKey.rest, OwnershipKey.wake],
                tells: [.woken])),
        Row(
            title: "a holder that ends wakes Main first", standing: [.holder, .holds, .rest], isClosing: true,
            expected: .commit(
                puts: [OwnershipKey.wake], deletes: [], requires: [OwnershipKey.rest, OwnershipKey.wake],
                tells: [.woken])),
        Row(
            title: "a wake that stands is not made again at once", standing: [.holder, .holds, .rest, .wake],
            reason: .push, expected: .nothing),
        Row(
            title: "a challenge is answered for the Main that rests", standing: [.holder, .holds, .rest, .challenge],
            expected: .commit(
                puts: [OwnershipKey.answer], deletes: [], requires: [OwnershipKey.owner], tells: [])),
        Row(
            title: "an answered challenge is not answered again",
            standing: [.holder, .holds, .rest, .challenge, .answer], expected: .nothing),
        Row(
            title: "Main has ended: its ownership is released", standing: [.holder, .holds],
            expected: .commit(
                puts: [],
                deletes: [
                    OwnershipKey.owner, OwnershipKey.wake, OwnershipKey.critical, OwnershipKey.activities,
                    OwnershipKey.moving,
                ],
                requires: [OwnershipKey.owner], tells: [.coreStopped, .released])),
        Row(
            title: "a holder that ends and holds nothing takes its entry back", isClosing: true,
            expected: .commit(
                puts: [], deletes: [OwnershipKey.holder], requires: [OwnershipKey.holder], tells: [])),
    ]

    private static func entry(
        _ key: Key, _ record: some StoredRecord, by session: SessionID, claim: UInt64, revision: UInt64? = nil
    ) -> Entry {
        Entry(
            key: key, value: record.bytes, revision: Revision(rawValue: revision ?? claim),
            creationRevision: Revision(rawValue: claim), lifetime: .session, origin: session)
    }

    private static func snapshot(_ standing: Set<Standing>, at revision: UInt64 = 40) -> Snapshot {
        let epoch = Revision(rawValue: 20)
        let rest = Revision(rawValue: 30)
        func owner(by session: SessionID, revision: UInt64) -> Entry {
            let record = OwnerRecord(role: .main, state: .running, name: "main", process: process(2), since: start)
            return entry(OwnershipKey.owner, record, by: session, claim: 20, revision: revision)
        }
        let entries = standing.map { standing in
            switch standing {
            case .holder, .otherHolder:
                entry(
                    OwnershipKey.holder, HolderRecord(process: process(1), processNamespace: 0),
                    by: standing == .holder ? me : stranger, claim: 10)
            case .mainOwns: owner(by: main, revision: 21)
            case .holds: owner(by: me, revision: 31)
            case .rest:
                entry(
                    OwnershipKey.rest, RestRecord(epoch: epoch, name: "main", process: process(2)), by: main, claim: 30)
            case .wake:
                entry(OwnershipKey.wake, WakeRecord(claim: rest, reason: .push), by: me, claim: 32)
            case .repeatedWake:
                entry(
                    OwnershipKey.wake, WakeRecord(claim: rest, reason: .push, first: Revision(rawValue: 32)), by: me,
                    claim: 32, revision: 33)
            case .handover:
                entry(
                    OwnershipKey.handover,
                    HandoverRecord(name: "second", askedAt: start, deadline: .seconds(1), takesOverMain: true),
                    by: stranger, claim: 34)
            case .challenge:
                entry(OwnershipKey.challenge, ChallengeRecord(claim: epoch), by: stranger, claim: 35)
            case .answer:
                entry(
                    OwnershipKey.answer, AnswerRecord(claim: epoch, challenge: Revision(rawValue: 35)), by: me,
                    claim: 36)
            }
        }
        return Snapshot(revision: Revision(rawValue: revision), entries: entries.sorted { $0.key < $1.key })
    }

    private static func machine(_ standing: Set<Standing>) -> HolderMachine {
        let myself = Participation(session: me, role: .tool, name: "holder", process: process(1))
        var machine = HolderMachine(for: myself, rules: OwnershipRules(), at: start)
        machine.view.apply(snapshot(standing), at: start)
        return machine
    }

    private static func expectation(_ directive: Directive?) -> Expectation? {
        switch directive {
        case nil: return .nothing
        case .commit(let transition):
            var (puts, deletes): (Set<Key>, Set<Key>) = ([], [])
            for operation in transition.transaction.operations {
                switch operation {
                case .put(let key, _, _): puts.insert(key)
                case .delete(let key): deletes.insert(key)
                default: break
                }
            }
            return .commit(
                puts: puts, deletes: deletes, requires: Set(transition.transaction.guards.map(\.key)),
                tells: transition.timelineEvents.map(\.kind))
        default: return nil
        }
    }

    @Test("C26: what stands, what is needed, and what the holder does", arguments: rows)
    func table(row: Row) {
        var machine = Self.machine(row.standing)
        machine.reason = row.reason
        machine.isClosing = row.isClosing
        #expect(Self.expectation(machine.step(at: Self.start)) == row.expected)
    }

    @Test("C26: a wake is repeated after half of the bound; after the other half the ownership is released")
    func bound() throws {
        var machine = Self.machine([.holder, .holds, .rest, .wake])
        machine.reason = .push
        func run(for duration: Duration, from begin: Duration) -> (at: Duration, Transition)? {
            var passed = begin
            while passed <= begin + duration {
                if case .commit(let transition)? = machine.step(at: Self.start.advanced(by: passed)) {
                    return (passed, transition)
                }
                passed += .milliseconds(50)
            }
            return nil
        }
        let (repeated, again) = try #require(run(for: .seconds(5), from: .zero))
        #expect(repeated >= .seconds(1) && again.timelineEvents == [])
        machine.view.apply(Self.snapshot([.holder, .holds, .rest, .repeatedWake], at: 41), at: Self.start)
        let (released, end) = try #require(run(for: .seconds(5), from: repeated))
        #expect(released - repeated >= .seconds(1))
        #expect(end.timelineEvents.map(\.kind) == [.coreGivenUp, .released])
        #expect(
            Set(end.transaction.guards.map(\.key)) == [OwnershipKey.owner, OwnershipKey.rest, OwnershipKey.wake],
            "no other entry has changed since it was seen")
    }

    @Test("C26: a holder that has ended is not asked any more; one that holds ends with the rest")
    func ends() {
        var machine = Self.machine([.holder, .holds, .rest])
        machine.isClosing = true
        #expect(!machine.hasEnded)
        machine.view.apply(Self.snapshot([.mainOwns], at: 41), at: Self.start)
        #expect(machine.hasEnded)
    }

    @Test("C26: after a failed commit the holder waits before it tries again")
    func retries() {
        var machine = Self.machine([])
        machine.failed(at: Self.start)
        #expect(machine.step(at: Self.start) == nil)
        #expect(machine.nextStep == Self.start.advanced(by: machine.rules.retryInterval))
        #expect(machine.step(at: machine.nextStep) != nil)
    }
}
