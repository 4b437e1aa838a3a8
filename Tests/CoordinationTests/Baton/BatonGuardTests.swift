import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Platform
import TestSupport
import Testing

@testable import Coordination

/// The conditions of the commits about a baton, one at a time: each commit meets a store that has changed meanwhile (contract C25).
@Suite("Baton: guards")
struct BatonGuardTests {
    private let clock = ManualClock()
    private let space: MemorySpace
    private let kind = "test/1"

    init() {
        space = MemorySpace(clock: clock)
    }

    private func open(_ role: SessionRole, _ name: String) async throws -> MemoryGroup {
        try await space.open("group", as: SessionDescription(role: role, name: name))
    }

    private func owner(_ role: SessionRole, _ name: String) -> OwnerRecord {
        OwnerRecord(role: role, state: .running, name: name, process: .current, since: clock.now())
    }

    private func record(of epoch: Revision) -> BatonRecord {
        BatonRecord(
            epoch: epoch, kind: kind, byteCount: 1, digest: [UInt8](repeating: 0, count: 32), descriptorCount: 0,
            calls: ["call-1"], bootID: clock.bootID, deadline: clock.now().advanced(by: .seconds(10)), keepers: [])
    }

    /// An Executor that owns in a store. Its core has given a baton and ended.
    private func giver() async throws -> (machine: OwnershipMachine, group: MemoryGroup, epoch: Revision) {
        let group = try await open(.executor, "executor")
        let epoch = try await group.put(OwnershipKey.owner, owner(.executor, "executor").bytes, lifetime: .session)
            .revision
        var machine = OwnershipMachine(
            for: Participation(session: group.session.id, role: .executor, name: "executor", process: .current),
            rules: OwnershipRules(), seed: 1, at: clock.now())
        machine.goal = .own
        machine.view.apply(try await group.list(OwnershipKey.path), at: clock.now())
        machine.core = LocalCore(epoch: epoch, phase: .ended)
        machine.give(GivenBaton(record(of: epoch), lifetime: .seconds(10)))
        return (machine, group, epoch)
    }

    private func transition(_ machine: inout OwnershipMachine) throws -> Transition {
        guard case .commit(let transition) = machine.step(at: clock.now()) else {
            throw SharedCoreError(.invalidArgument, "The machine commits nothing.", at: "test")
        }
        return transition
    }

    /// Another participant owns in place of the present owner.
    @discardableResult
    private func supersede(by name: String) async throws -> (group: MemoryGroup, epoch: Revision) {
        let group = try await open(.main, name)
        var transaction = Transaction()
        transaction.delete(OwnershipKey.owner)
        transaction.put(OwnershipKey.owner, owner(.main, name).bytes, lifetime: .session)
        return (group, try await group.commit(transaction).revision)
    }

    private func failedKey(_ body: () async throws -> Void) async -> Key? {
        do {
            try await body()
            return nil
        } catch { return (error as? SharedCoreError)?.guardFailure?.condition.key }
    }

    @Test("C25: an offer has no effect when another participant owns meanwhile")
    func offerOfSuperseded() async throws {
        var (machine, group, _) = try await giver()
        let offer = try transition(&machine)
        #expect(offer.baton == .offers)
        try await supersede(by: "main")
        let key = await failedKey { _ = try await group.commit(offer.transaction) }
        #expect(key == OwnershipKey.owner)
        #expect(try await group.get(OwnershipKey.baton) == nil)
    }

    @Test("C25: an offer has no effect while another baton stands, and none is made where one is seen")
    func offerBesideAnother() async throws {
        var (machine, group, _) = try await giver()
        var other = machine
        let offer = try transition(&machine)
        let standing = record(of: Revision(rawValue: 1)).bytes
        try await group.put(OwnershipKey.baton, standing)
        let key = await failedKey { _ = try await group.commit(offer.transaction) }
        #expect(key == OwnershipKey.baton)
        #expect(try await group.get(OwnershipKey.baton)?.value == standing)

        other.view.apply(try await group.list(OwnershipKey.path), at: clock.now())
        let release = try transition(&other)
        #expect(release.baton == nil)
        _ = try await group.commit(release.transaction)
        #expect(try await group.get(OwnershipKey.baton)?.value == standing)
        #expect(try await group.get(OwnershipKey.owner) == nil)
    }

    @Test("C25: an old owner removes its own baton alone, however the record has changed", arguments: [false, true])
    func expiry(isSeen: Bool) async throws {
        var (machine, group, epoch) = try await giver()
        let offer = try transition(&machine)
        let revision = try await group.commit(offer.transaction).revision
        machine.committed(offer, at: revision)
        clock.advance(by: .seconds(11))
        var before = machine
        before.view.apply(try await group.list(OwnershipKey.path), at: clock.now())

        // The call has moved meanwhile, and is offered again by the next owner.
        let next = record(of: Revision(rawValue: epoch.rawValue + 1))
        _ = try await group.delete(OwnershipKey.baton)
        try await group.put(OwnershipKey.baton, next.bytes)
        if isSeen {
            machine.view.apply(try await group.list(OwnershipKey.path), at: clock.now())
            if case .commit(let transition) = machine.step(at: clock.now()) { #expect(transition.baton == nil) }
            #expect(machine.given?.phase == .over(.applied))
        } else {
            let expiry = try transition(&before)
            #expect(expiry.baton == .ends(.expired))
            let key = await failedKey { _ = try await group.commit(expiry.transaction) }
            #expect(key == OwnershipKey.baton)
        }
        #expect(try await group.get(OwnershipKey.baton)?.value == next.bytes)
    }

    @Test("C25: an owner whose core has not closed its last baton is asked for no other")
    func oneAtATime() async throws {
        var (machine, group, epoch) = try await giver()
        machine.core = LocalCore(epoch: epoch, phase: .running)
        machine.given?.phase = .over(.applied)
        let call = Activity(.call, id: "call-1", begun: clock.now(), moves: kind)
        _ = try await group.commit(OpenWork(machine.view).beginning(call, under: epoch))
        let main = try await open(.main, "main")
        let request = HandoverRecord(
            name: "main", askedAt: clock.now(), deadline: .seconds(60), takesOverMain: false, process: .current)
        var asking = Transaction()
        asking.put(OwnershipKey.handover, request.bytes, lifetime: .session)
        asking.put(OwnershipKey.takes, TakesRecord(reach: .machine, kinds: [kind]).bytes, lifetime: .session)
        _ = try await main.commit(asking)
        machine.view.apply(try await group.list(OwnershipKey.path), at: clock.now())
        var directives: [Directive] = []
        while let directive = machine.step(at: clock.now()), directives.count < 8 { directives.append(directive) }
        #expect(!directives.contains(.stopCore(epoch: epoch)))
        #expect(machine.core?.phase == .running)

        // Nor does it ask for a baton where it has no call.
        var idle = machine
        let store = try await group.list(OwnershipKey.path)
        idle.view = OwnershipView()
        idle.view.apply(
            Snapshot(
                revision: store.revision, entries: store.entries.filter { $0.key != OwnershipKey.activities }),
            at: clock.now())
        let stop = idle.step(at: clock.now())
        #expect(stop == .stopCore(epoch: epoch))
        #expect(idle.core?.request?.takes == [])

        machine.given = nil
        let next = machine.step(at: clock.now())
        #expect(next == .stopCore(epoch: epoch))
        #expect(machine.core?.request?.takes == [kind])
    }

    /// A Main that owns, with a baton of a call that it has not applied.
    private func taker() async throws -> (baton: ReceivedBaton, group: MemoryGroup, entry: Entry) {
        let before = try await CallsFixture(in: space, clock: clock, name: "before")
        try await before.begin("call-1")
        let group = try await before.window()
        try await group.put(OwnershipKey.baton, record(of: before.context.epoch).bytes)
        let (main, epoch) = try await supersede(by: "main")
        let context = CoreContext(
            store: EpochGuardedStore(inner: main, epoch: epoch, fenced: {}), epoch: epoch, role: .main, clock: clock,
            acceptMessage: { _ throws(SharedCoreError) in .stored }, reportProblem: { _ in })
        let entry = try #require(try await group.get(OwnershipKey.baton))
        let baton = ReceivedBaton(
            Standing(entry), fetched: FetchedBaton(bytes: [1], files: []), in: context,
            tell: { _, _, _, _ throws(SharedCoreError) in })
        return (baton, group, entry)
    }

    @Test("C25: an owner that is current applies its baton, which removes the record")
    func applies() async throws {
        let (baton, group, _) = try await taker()
        #expect(try await baton.apply().count == 1)
        #expect(try await group.get(OwnershipKey.baton) == nil)
    }

    @Test("C25: an owner that is superseded applies nothing, though its baton is still offered")
    func appliesSuperseded() async throws {
        let (baton, group, entry) = try await taker()
        try await supersede(by: "third")
        let key = await failedKey { _ = try await baton.apply() }
        #expect(key == OwnershipKey.owner)
        #expect(try await group.get(OwnershipKey.baton) == entry)
    }

    @Test("C25: a baton that was offered anew is another: the one that was got before is not applied")
    func appliesAnother() async throws {
        let (baton, group, entry) = try await taker()
        try await group.put(OwnershipKey.baton, entry.value)
        let key = await failedKey { _ = try await baton.apply() }
        #expect(key == OwnershipKey.baton)
        #expect(try await group.get(OwnershipKey.baton) != nil)
    }

    @Test("C25: the beginning of a core leaves the calls of an offered baton alone, and ends the others")
    func beginning() async throws {
        let before = try await CallsFixture(in: space, clock: clock, name: "before")
        try await before.begin("call-1")
        try await before.begin("call-2")
        let group = try await before.window()
        let (main, epoch) = try await supersede(by: "main")
        var context = CoreContext(
            store: EpochGuardedStore(inner: main, epoch: epoch, fenced: {}), epoch: epoch, role: .main, clock: clock,
            acceptMessage: { _ throws(SharedCoreError) in .stored }, reportProblem: { _ in })
        context.system.batons = StandingTransport()
        try await group.put(OwnershipKey.baton, record(of: before.context.epoch).bytes)
        let entry = try #require(try await group.get(OwnershipKey.baton))
        try await context.receive(
            Standing(entry), taking: [kind], in: clock.bootID, tell: { _, _, _, _ throws(SharedCoreError) in })
        let states = try await Calls(group, clock: clock).list().map { "\($0.id) \($0.state.isOpen)" }.sorted()
        #expect(states == ["call-1 true", "call-2 false"])
        // The call is over when the core has not applied the baton.
        try await context.endReceivedBaton()
        #expect(try await Calls(group, clock: clock).list().allSatisfy { $0.state == .ended(.lost) })
    }
}

/// A transport that has each baton.
private struct StandingTransport: BatonTransport {
    func keep(_ baton: Baton, of epoch: Revision) throws(SharedCoreError) -> any BatonKeeping {
        throw SharedCoreError(.unsupported, "It keeps none.", at: "test")
    }

    func fetch(_ record: BatonRecord) async -> Result<FetchedBaton, BatonProblem> {
        .success(FetchedBaton(bytes: [1], files: []))
    }
}
