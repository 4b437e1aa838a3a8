import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Platform
import TestSupport
import Testing

@testable import Coordination

/// The guards of the commits about activities that move, one at a time: each commit meets a store that has changed
/// meanwhile (contract C17, C25).
@Suite("Open work: guards")
struct OpenWorkTests {
    private let core: CallsFixture
    private let kind = "test/1"

    init() async throws {
        core = try await CallsFixture()
    }

    private var epoch: Revision { core.context.epoch }

    private func activity(_ id: String, moves: String? = nil) -> Activity {
        Activity(.call, id: id, begun: core.clock.now(), moves: moves)
    }

    private func work() async throws -> OpenWork { try await core.context.work(consistency: .linearizable) }

    private func moving() async throws -> [String?] { try await work().open(under: epoch).map(\.moves) }

    /// Begins activities, one after the other.
    private func begin(_ activities: Activity...) async throws {
        for activity in activities {
            _ = try await core.group.commit(work().beginning(activity, under: epoch))
        }
    }

    private func set(_ moves: String?, of id: String, in work: OpenWork) -> Transaction {
        var transaction = Transaction()
        work.setting(
            moves, needs: .descriptors, of: activity(id), under: epoch, reach: .machine, in: &transaction)
        return transaction
    }

    /// Commits a change, then a transaction, and returns the key of the guard that fails; nil if none fails.
    private func failedKey(_ transaction: Transaction, after change: Transaction) async throws -> Key? {
        _ = try await core.group.commit(change)
        let before = try await core.group.list(OwnershipKey.path).entries
        do throws(SharedCoreError) {
            _ = try await core.group.commit(transaction)
            return nil
        } catch {
            #expect(try await core.group.list(OwnershipKey.path).entries == before)
            return error.guardFailure?.condition.key
        }
    }

    @Test("C25: each change writes what moves: begun, set, set back, ended, and the last one removes it")
    func changes() async throws {
        try await begin(activity("1", moves: kind), activity("2"), activity("3", moves: "test/2"))
        #expect(try await moving() == [kind, nil, "test/2"])
        _ = try await core.group.commit(set(kind, of: "2", in: work()))
        #expect(try await moving() == [kind, kind, "test/2"])
        _ = try await core.group.commit(set(nil, of: "1", in: work()))
        #expect(try await moving() == [nil, kind, "test/2"])
        _ = try await core.group.commit(#require(try await work().ending(activity("2"), under: epoch)))
        #expect(try await moving() == [nil, "test/2"])
        _ = try await core.group.commit(#require(try await work().ending(activity("3"), under: epoch)))
        #expect(try await moving() == [nil])
        #expect(try await core.group.get(OwnershipKey.moving) == nil)
        _ = try await core.group.commit(set(kind, of: "1", in: work()))
        _ = try await core.group.commit(#require(try await work().ending(activity("1"), under: epoch)))
        #expect(try await core.group.get(OwnershipKey.activities) == nil)
        #expect(try await core.group.get(OwnershipKey.moving) == nil)
        #expect(try await work().ending(activity("1"), under: epoch) == nil)
    }

    @Test("C25: an item that is about no activity goes with the next write")
    func leftOver() async throws {
        let left = MovingRecord(epoch: Revision(rawValue: 1), reach: .hub, activities: [activity("9", moves: kind)])
        try await core.group.put(OwnershipKey.moving, left.bytes, lifetime: .session)
        try await begin(activity("1", moves: kind))
        let record = try #require(await core.group.get(OwnershipKey.moving)).value
        #expect(MovingRecord(bytes: record).items.map(\.id) == ["1"])
        #expect(MovingRecord(bytes: record).epoch == epoch)
        // An older program ends the activity, and begins one of the same name.
        let again = Activity(.call, id: "1", begun: core.clock.now().advanced(by: .seconds(1)))
        try await core.group.put(
            OwnershipKey.activities, ActivitiesRecord(epoch: epoch, activities: [again]).bytes, lifetime: .session)
        #expect(try await moving() == [nil])
        try await begin(activity("2", moves: kind))
        #expect(try await moving() == [nil, kind])
    }

    @Test("C25: an activity that moves does not begin beside another that is set to move meanwhile")
    func beginsWhileSet() async throws {
        try await begin(activity("1"))
        let begins = try await work().beginning(activity("2", moves: kind), under: epoch)
        #expect(try await failedKey(begins, after: set(kind, of: "1", in: work())) == OwnershipKey.moving)
        // Nor if an existing record changes.
        let again = try await work().beginning(activity("2", moves: kind), under: epoch)
        #expect(try await failedKey(again, after: set("test/2", of: "1", in: work())) == OwnershipKey.moving)
        // An activity that does not move has no guard on the record.
        let still = try await work().beginning(activity("3"), under: epoch)
        #expect(try await failedKey(still, after: set(kind, of: "1", in: work())) == nil)
    }

    @Test(
        "C25: a call that takes over an open activity and moves meets what is set meanwhile, and one that does not move keeps it"
    )
    func takesOverWhileSet() async throws {
        try await begin(activity("1"), activity("2"))
        let moves = try await work().keeping(for: activity("1", moves: kind), under: epoch, reach: .machine)
        #expect(try await failedKey(moves, after: set(kind, of: "2", in: work())) == OwnershipKey.moving)
        let keeps = try await work().keeping(for: activity("1"), under: epoch, reach: .machine)
        #expect(try await failedKey(keeps, after: set(kind, of: "1", in: work())) == nil)
        #expect(try await moving() == [kind, kind])
        _ = try await core.group.commit(
            work().keeping(for: activity("1", moves: "test/2"), under: epoch, reach: .machine))
        #expect(try await moving() == ["test/2", kind])
    }

    @Test("C25: an activity does not end beside a change of what moves")
    func endsWhileSet() async throws {
        try await begin(activity("1"), activity("2"))
        let ends = try #require(try await work().ending(activity("1"), under: epoch))
        #expect(try await failedKey(ends, after: set(kind, of: "1", in: work())) == OwnershipKey.moving)
        let again = try #require(try await work().ending(activity("1"), under: epoch))
        #expect(try await failedKey(again, after: set(kind, of: "2", in: work())) == OwnershipKey.moving)
    }

    @Test("C25: an activity is not set to move when activities or what moves have changed meanwhile")
    func setsWhileChanged() async throws {
        try await begin(activity("1"), activity("2"))
        let first = set(kind, of: "1", in: try await work())
        #expect(try await failedKey(first, after: set(kind, of: "2", in: work())) == OwnershipKey.moving)
        let second = set(kind, of: "1", in: try await work())
        #expect(
            try await failedKey(second, after: work().beginning(activity("3"), under: epoch)) == OwnershipKey.activities
        )
        let back = set(nil, of: "2", in: try await work())
        #expect(try await failedKey(back, after: set(kind, of: "1", in: work())) == OwnershipKey.moving)
    }

    @Test("C25: an activity does not stop moving when a Main asks meanwhile, or asks anew", arguments: [false, true])
    func setsBackWhileAsked(stands: Bool) async throws {
        try await begin(activity("1", moves: kind))
        let main = try await core.window()
        func asks(anew: Bool) async throws {
            let request = HandoverRecord(
                name: "main", askedAt: core.clock.now(), deadline: .seconds(1), takesOverMain: true)
            var transaction = Transaction()
            if anew { transaction.delete(OwnershipKey.handover) }
            transaction.put(OwnershipKey.handover, request.bytes, lifetime: .session)
            if !stands || anew {
                transaction.put(
                    OwnershipKey.takes, TakesRecord(reach: .machine, kinds: [kind]).bytes, lifetime: .session)
            }
            _ = try await main.commit(transaction)
        }
        if stands { try await asks(anew: false) }
        let back = set(nil, of: "1", in: try await work())
        try await asks(anew: stands)
        let error = await #expect(throws: SharedCoreError.self) { try await core.group.commit(back) }
        #expect(error?.guardFailure?.condition.key == OwnershipKey.handover)
        #expect(try await moving() == [kind])
        // An activity can be set to move while the Main waits.
        _ = try await core.group.commit(set("test/2", of: "1", in: work()))
        #expect(try await moving() == ["test/2"])
    }

    @Test("C25: an activity gets no other kind and no greater need when a Main asks meanwhile")
    func narrowsWhileAsked() async throws {
        try await begin(activity("1", moves: kind))
        let main = try await core.window()
        for (moves, needs) in [("test/2", BatonNeed.bytes), ("test/2", .descriptors)] {
            var transaction = Transaction()
            try await work().setting(
                moves, needs: needs, of: activity("1"), under: epoch, reach: .machine, in: &transaction)
            _ = try await main.commit(asking(at: core.clock.now()))
            let error = await #expect(throws: SharedCoreError.self) { try await core.group.commit(transaction) }
            #expect(error?.guardFailure?.condition.key == OwnershipKey.handover)
            transaction = Transaction()
            try await work().setting(
                moves, needs: needs, of: activity("1"), under: epoch, reach: .machine, in: &transaction)
            _ = try await core.group.commit(transaction)
        }
    }

    @Test("C25: an activity does not stop moving, nor needs more, when a baton is written meanwhile")
    func narrowsWhileABatonIsOffered() async throws {
        try await begin(activity("1", moves: kind))
        let main = try await core.window()
        for moves in [nil, "test/2"] {
            let narrowed = set(moves, of: "1", in: try await work())
            _ = try await main.put(OwnershipKey.baton, [1])
            let error = await #expect(throws: SharedCoreError.self) { try await core.group.commit(narrowed) }
            #expect(error?.guardFailure?.condition.key == OwnershipKey.baton)
        }
        #expect(try await moving() == [kind])
    }

    private func asking(at instant: BootInstant, process: ProcessIdentity? = nil) -> Transaction {
        var request = HandoverRecord(name: "main", askedAt: instant, deadline: .seconds(1), takesOverMain: true)
        if let process { request.process = process }
        var transaction = Transaction()
        transaction.put(OwnershipKey.handover, request.bytes, lifetime: .session)
        transaction.put(OwnershipKey.takes, TakesRecord(reach: .machine, kinds: [kind]).bytes, lifetime: .session)
        return transaction
    }

    @Test("C25: a core takes back what cannot reach the Main that has asked, and nothing on which that Main counts")
    func takesBack() async throws {
        let call = CallDescription(try .of("ring"), .incoming, from: "sip:ann", to: "sip:bob")
        let open = try await core.context.begin(call: call, in: .answered, moves: kind)
        let main = try await core.window()
        // Of another machine: the call holds it up in any case.
        _ = try await main.commit(asking(at: core.clock.now()))
        try await open.setMoves(nil)
        #expect(try await moving() == [nil])
        try await open.setMoves(kind)
        try await main.delete(OwnershipKey.handover)
        _ = try await main.commit(asking(at: core.clock.now(), process: .current))
        for other in [nil, "test/2"] {
            let error = await #expect(throws: SharedCoreError.self) { try await open.setMoves(other) }
            #expect(error?.code == .guardFailed)
        }
        #expect(try await moving() == [kind])
    }

    @Test("C25: a core that takes a call back while a Main asks reads again")
    func takesBackAgain() async throws {
        let call = CallDescription(try .of("ring"), .incoming, from: "sip:ann", to: "sip:bob")
        let open = try await core.context.begin(call: call, in: .answered, moves: kind)
        let main = try await core.window()
        let asks = asking(at: core.clock.now())
        let store = InterposedStore(
            core.context.store,
            once: { () async throws(SharedCoreError) in _ = try await main.commit(asks) })
        try await OpenCall(id: open.id, key: open.key, context: core.context(through: store)).setMoves(nil)
        #expect(try await core.group.get(OwnershipKey.handover) != nil)
        #expect(try await moving() == [nil])
    }

    @Test("C25: a baton is not applied beside a change of what moves")
    func appliesWhileSet() async throws {
        try await begin(activity("1"))
        var applies = Transaction()
        try await work().moving([activity("2", moves: kind)], to: epoch, reach: .machine, in: &applies)
        #expect(try await failedKey(applies, after: set(kind, of: "1", in: work())) == OwnershipKey.moving)
        var again = Transaction()
        try await work().moving([activity("2", moves: kind)], to: epoch, reach: .machine, in: &again)
        _ = try await core.group.commit(again)
        #expect(try await moving() == [kind, kind])
    }

    @Test("C25: a program of the release before reads the activities and requests of this one, over all commits")
    func formerCodec() async throws {
        func reads(_ count: Int) async throws {
            let entry = try await core.group.get(OwnershipKey.activities)
            #expect(entry.flatMap { FormerCodec.activities($0.value)?.count } == (count == 0 ? nil : count))
        }
        let context = core.context
        let call = CallDescription(try .of("ring"), .incoming, from: "sip:ann", to: "sip:bob")
        let work = try await context.begin(.transfer, id: "file")
        try await reads(1)
        let open = try await context.begin(call: call, in: .answered, moves: kind)
        try await reads(2)
        #expect(try await moving() == [nil, kind])
        try await open.setMoves(nil)
        try await open.setMoves("test/2")
        try await reads(2)
        try await work.end()
        try await reads(1)
        try await open.end(.hungUp)
        try await reads(0)

        var rules = OwnershipRules()
        rules.takesBatons = [kind]
        for insists in [false, true] {
            let main = try await core.window()
            var machine = OwnershipMachine(
                for: Participation(session: main.session.id, role: .main, name: "main", process: .current),
                rules: rules,
                seed: 1, at: core.clock.now())
            (machine.goal, machine.insists) = (.takeOver, insists)
            machine.view.apply(try await main.list(OwnershipKey.path), at: core.clock.now())
            var directive = machine.step(at: core.clock.now())
            while directive == .bury { directive = machine.step(at: core.clock.now()) }
            guard case .commit(let transition) = directive else {
                throw SharedCoreError(.invalidArgument, "The machine commits nothing.", at: "test")
            }
            _ = try await main.commit(transition.transaction)
            let bytes = try #require(await main.get(OwnershipKey.handover)).value
            #expect(FormerCodec.handover(bytes)?.name == "main")
            #expect(FormerCodec.handover(bytes)?.takesOverMain == true)
            #expect(FormerCodec.handover(bytes)?.insists == insists)
            var view = OwnershipView()
            view.apply(try await main.list(OwnershipKey.path), at: core.clock.now())
            #expect(view.handover?.record.takes == [kind])
            await main.close()
            #expect(try await core.group.get(OwnershipKey.takes) == nil)
        }
    }
}

/// The codec of the previous release, which had no batons.
private enum FormerCodec {
    static func activities(_ bytes: [UInt8]) -> [String]? {
        read(bytes, newest: 1) { reader, _ throws(ByteCodingError) in
            _ = try reader.integer() as UInt64
            var ids: [String] = []
            for _ in 0..<(try reader.byte()) {
                _ = (try reader.text(), try reader.integer() as UInt64)
                ids.append(try reader.text())
                _ = try reader.integer() as UInt64
                _ = try reader.optional { reader throws(ByteCodingError) in try reader.integer() as UInt64 }
            }
            return ids
        }
    }

    static func handover(_ bytes: [UInt8]) -> (name: String, takesOverMain: Bool, insists: Bool)? {
        read(bytes, newest: 2) { reader, layout throws(ByteCodingError) in
            let name = try reader.text()
            _ = (try reader.integer() as UInt64, try reader.integer() as UInt64)
            let takesOverMain = try reader.flag()
            _ = (try reader.flag(), try reader.word(), try reader.word(), try reader.halfWord())
            _ = try reader.integer() as UInt64
            return (name, takesOverMain, layout >= 2 ? try reader.flag() : false)
        }
    }

    private static func read<Value>(
        _ bytes: [UInt8], newest: UInt8, _ body: (inout ByteReader, UInt8) throws(ByteCodingError) -> Value
    ) -> Value? {
        do throws(ByteCodingError) {
            var reader = ByteReader(bytes)
            let layout = try reader.byte()
            guard 1...newest ~= layout else { return nil }
            let value = try body(&reader, layout)
            try reader.finish()
            return value
        } catch {
            return nil
        }
    }
}
