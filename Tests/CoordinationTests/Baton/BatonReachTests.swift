import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Mailboxes
import Platform
import TestSupport
import Testing

@testable import Coordination

/// The part of a baton that reaches another participant, and an owner that gets a baton from another machine (contract
/// C25).
@Suite("Baton: between machines")
struct BatonReachTests {
    private static let here = BootID(high: 1, low: 1)
    private static let afar = BootID(high: 2, low: 2)
    private static let unknown = BootID(high: 0, low: 0)
    private let kind = "test/1"

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let boots: (BootID, BootID)
        let reaches: (OwnReach?, OwnReach)
        let expected: BatonReach
    }

    private static let rows = [
        Row(
            testDescription: "one machine", boots: (here, here), reaches: (.machine, .machine), expected: .descriptors),
        Row(
            testDescription: "one machine, behind a hub", boots: (here, here), reaches: (.hub, .hub),
            expected: .descriptors),
        Row(
            testDescription: "two machines, behind a hub", boots: (here, afar), reaches: (.hub, .hub), expected: .bytes),
        Row(
            testDescription: "two clients over a network", boots: (unknown, unknown), reaches: (.hub, .hub),
            expected: .bytes),
        Row(
            testDescription: "the owner is not behind the hub", boots: (here, afar), reaches: (.machine, .hub),
            expected: .none),
        Row(
            testDescription: "the Main is not behind the hub", boots: (here, afar), reaches: (.hub, .machine),
            expected: .none),
        Row(testDescription: "nothing that moves stands", boots: (here, afar), reaches: (nil, .hub), expected: .none),
        Row(
            testDescription: "two clients of an older hub", boots: (unknown, unknown), reaches: (.machine, .machine),
            expected: .none),
    ]

    @Test("C25: owner and Main compute one reach, and a call moves over it by its need", arguments: rows)
    func reach(row: Row) throws {
        let tests = OwnershipMachineTests()
        let epoch = Revision(rawValue: 20)
        let owner = OwnerRecord(
            role: .executor, state: .running, name: "owner",
            process: ProcessIdentity(bootID: row.boots.0, pid: 2, startTime: 1), since: tests.start)
        let request = HandoverRecord(
            name: "main", askedAt: tests.start, deadline: .seconds(1), takesOverMain: false,
            process: ProcessIdentity(bootID: row.boots.1, pid: 3, startTime: 1))
        for need in [BatonNeed.bytes, .descriptors] {
            let call = Activity(.call, id: "1", begun: tests.start, moves: kind, needs: need)
            var entries = [
                tests.entry(OwnershipKey.owner, owner, by: tests.session, claim: 20),
                tests.entry(
                    OwnershipKey.activities, ActivitiesRecord(epoch: epoch, activities: [call]), by: tests.session,
                    claim: 21),
                tests.entry(OwnershipKey.handover, request, by: tests.other, claim: 30),
                tests.entry(
                    OwnershipKey.takes, TakesRecord(reach: row.reaches.1, kinds: [kind]), by: tests.other, claim: 30),
            ]
            if let reach = row.reaches.0 {
                entries.append(
                    tests.entry(
                        OwnershipKey.moving, MovingRecord(epoch: epoch, reach: reach, activities: [call]),
                        by: tests.session, claim: 21))
            }
            for session in [tests.session, tests.other] {
                var machine = OwnershipMachine(
                    for: Participation(session: session, role: .executor, name: "me", process: tests.process(1)),
                    rules: OwnershipRules(), seed: 1, at: tests.start)
                machine.view.apply(tests.view(40, entries), at: tests.start)
                let (owner, handover) = (try #require(machine.view.owner), try #require(machine.view.handover))
                #expect(machine.view.reach(of: owner, to: handover) == row.expected)
                #expect(machine.takes(handover) == (row.expected == .none ? [] : [kind]))
                let moves = row.expected == .descriptors || (row.expected == .bytes && need == .bytes)
                let holdUp = machine.view.activities(of: owner, holdingUp: handover)
                #expect((holdUp == nil) == (moves && row.reaches.0 != nil))
                // A call that the Main expects with the baton cannot be taken back; no other change is refused.
                let work = OpenWork(machine.view)
                for (kind, need) in [(nil, need), ("other/1", need), (kind, BatonNeed.descriptors)] {
                    var changed = try #require(work.open(under: epoch).first)
                    let isCounted = changed.moves(to: handover.record, over: row.expected)
                    (changed.moves, changed.needs) = (kind, need)
                    let staysSo = changed.moves(to: handover.record, over: row.expected)
                    #expect(work.wouldHoldUp(changed) == (isCounted && !staysSo), "\(kind ?? "none"), \(need)")
                }
            }
        }
    }

    /// A store that keeps batons as a hub does. The test supplies the baton's bytes.
    private struct HubbedStore: ForwardingStore {
        let inner: any SharedStore
        let fetch: @Sendable (Revision, Revision) throws(SharedCoreError) -> [UInt8]?

        var capabilities: Capabilities {
            let inner = inner.capabilities
            return Capabilities(
                backend: inner.backend, features: inner.features.union([.batonBytes]), durability: inner.durability,
                limits: inner.limits)
        }

        func fetchBaton(of epoch: Revision, under own: Revision) async throws(SharedCoreError) -> [UInt8]? {
            try fetch(epoch, own)
        }
    }

    /// A Main that owns and receives a baton that was given on the machine `boot`, with a call that began on
    /// `callBoot`.
    private func received(
        of boot: BootID, callBoot: BootID? = nil, keepers: [String] = ["/nothing", "hub"], bytes: [UInt8] = [7],
        descriptors: Int = 0, deadline: Duration = .seconds(10),
        fetch: @escaping @Sendable (Revision, Revision) throws(SharedCoreError) -> [UInt8]?
    ) async throws -> (context: CoreContext, group: MemoryGroup, problem: String?, clock: ManualClock) {
        let before = try await CallsFixture()
        let clock = before.clock
        clock.advance(by: .seconds(7200))
        let id = try #require(CallID("call-1"))
        let call = CallDescription(id, .incoming, from: "sip:ann", to: "sip:bob")
        let record = CallRecord(
            call, in: .answered, began: Self.hour(before: clock.now()), bootID: callBoot ?? boot)
        let group = try await before.window()
        try await group.put(CallKey.record(of: id), record.bytes)
        let baton = BatonRecord(
            epoch: before.context.epoch, kind: kind, byteCount: bytes.count, digest: SHA256(of: bytes).digest,
            descriptorCount: descriptors, calls: ["call-1"], bootID: boot,
            deadline: clock.now().advanced(by: deadline), keepers: keepers)
        var transaction = Transaction()
        transaction.delete(OwnershipKey.owner)
        transaction.put(OwnershipKey.baton, baton.bytes)
        _ = try await before.group.commit(transaction)
        let main = try await before.space.open("group", as: SessionDescription(role: .main, name: "main"))
        let owner = OwnerRecord(role: .main, state: .running, name: "main", process: .current, since: clock.now())
        let epoch = try await main.put(OwnershipKey.owner, owner.bytes, lifetime: .session).revision
        let store = HubbedStore(inner: main, fetch: fetch)
        let context = CoreContext(
            store: EpochGuardedStore(inner: store, epoch: epoch, fenced: {}), epoch: epoch, role: .main, clock: clock,
            acceptMessage: { _ throws(SharedCoreError) in .stored }, reportProblem: { _ in })
        let problem = Box<String?>(nil)
        let entry = try #require(try await group.get(OwnershipKey.baton))
        try await context.receive(
            Standing(entry), taking: [kind], in: clock.bootID,
            tell: { _, _, reason, _ throws(SharedCoreError) in problem.update { $0 = reason } })
        return (context, group, problem.value, clock)
    }

    private static func hour(before instant: BootInstant) -> BootInstant {
        BootInstant(nanoseconds: instant.nanoseconds - 3_600_000_000_000)
    }

    @Test("C25: the bytes of another machine's baton come from the hub, under both epochs")
    func fromHub() async throws {
        let asked = Box<[Revision]>([])
        let received = try await received(of: Self.afar) { epoch, own throws(SharedCoreError) in
            asked.update { $0 = [epoch, own] }
            return [7]
        }
        #expect(received.problem == nil)
        #expect(received.context.baton?.bytes == [7])
        #expect(asked.value == [try #require(received.context.baton?.from), received.context.epoch])
    }

    @Test("C25: a moved call has what is left of its bound, counted on the machines that know its beginning")
    func bounds() async throws {
        func activity(of boot: BootID, callBoot: BootID? = nil) async throws -> (Activity, ManualClock) {
            let received = try await received(of: boot, callBoot: callBoot) { _, _ throws(SharedCoreError) in [7] }
            #expect(try await received.context.baton?.apply().count == 1)
            let open = try await Activity.current(in: received.group)
            return (try #require(open.first), received.clock)
        }
        // The activity began an hour before, and the baton's time lasts 10 s.
        let (afar, clock) = try await activity(of: Self.afar)
        #expect(afar.begun == clock.now())
        #expect(afar.kind.bound == .seconds(3 * 3600 - 10))
        #expect(afar.moves == kind && afar.needs == .bytes)
        let (crossed, _) = try await activity(of: Self.afar, callBoot: BootID(high: 3, low: 3))
        #expect(crossed.begun == clock.now() && crossed.kind.bound == .seconds(4 * 3600))
        let (own, ownClock) = try await activity(of: Self.afar, callBoot: ManualClock().bootID)
        #expect(own.begun == Self.hour(before: ownClock.now()) && own.kind.bound == .seconds(4 * 3600))
    }

    @Test("C25: a baton of another machine that the hub does not give has failed, and its call is lost")
    func fails() async throws {
        func problem(
            keepers: [String] = ["/nothing", "hub"], descriptors: Int = 0,
            _ fetch: @escaping @Sendable () throws(SharedCoreError) -> [UInt8]?
        ) async throws -> String? {
            let received = try await received(of: Self.afar, keepers: keepers, descriptors: descriptors) {
                _, _ throws(SharedCoreError) in try fetch()
            }
            #expect(received.context.baton == nil)
            #expect(try await Calls(received.group, clock: received.clock).list().map(\.state) == [.ended(.lost)])
            return received.problem
        }
        #expect(try await problem { () throws(SharedCoreError) in nil } == "the hub does not keep it any more")
        let others = "its bytes are not those that were offered"
        #expect(try await problem { () throws(SharedCoreError) in [8] } == others)
        #expect(try await problem { () throws(SharedCoreError) in [7, 7] } == others)
        let silent = try await problem { () throws(SharedCoreError) in
            throw SharedCoreError(.unavailable, "The hub does not answer.", at: "hub")
        }
        #expect(silent == "the hub does not give it: The hub does not answer.")
        #expect(
            try await problem(keepers: ["/nothing"]) { () throws(SharedCoreError) in [7] }
                == "no process of this machine keeps it")
        #expect(
            try await problem(descriptors: 1) { () throws(SharedCoreError) in [7] }
                == "its descriptors do not go through a hub")
    }

    @Test("C25: the deadline of a baton binds the owners of its machine alone")
    func deadline() async throws {
        let own = try await received(of: ManualClock().bootID, deadline: .zero) { _, _ throws(SharedCoreError) in [7] }
        #expect(own.problem == "its time is over")
        let other = try await received(of: Self.afar, deadline: .zero) { _, _ throws(SharedCoreError) in [7] }
        #expect(other.problem == nil && other.context.baton != nil)
    }
}
