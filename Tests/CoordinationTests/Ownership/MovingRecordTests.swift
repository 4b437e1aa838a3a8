import CoreAPI
import CoreAPITesting
import TestSupport
import Testing

@testable import Coordination

/// The records of moving calls, beside those that programs of the previous release read (contract C25).
struct MovingRecordTests {
    private let epoch = Revision(rawValue: 20)
    private let begun = BootInstant(nanoseconds: 5)
    private let session = SessionID(rawValue: 3)
    private let main = SessionID(rawValue: 4)

    private func activity(_ id: String, moves: String? = "test/1", needs: BatonNeed = .descriptors) -> Activity {
        Activity(.call, id: id, begun: begun, moves: moves, needs: needs)
    }

    private func entry(
        _ key: Key, _ record: some StoredRecord, by session: SessionID, claim: UInt64, revision: UInt64? = nil
    ) -> Entry {
        Entry(
            key: key, value: record.bytes, revision: Revision(rawValue: revision ?? claim),
            creationRevision: Revision(rawValue: claim), lifetime: .session, origin: session)
    }

    private func view(_ entries: Entry..., at now: UInt64 = .max) -> OwnershipView {
        var view = OwnershipView()
        view.apply(
            Snapshot(revision: Revision(rawValue: 90), entries: entries), at: BootInstant(nanoseconds: now))
        return view
    }

    @Test("C25: the records are read as they were written, and damaged ones move and take nothing")
    func roundTrips() {
        let moving = MovingRecord(
            epoch: epoch, reach: .hub,
            activities: [activity("käse"), activity("2", moves: nil), activity("3", needs: .bytes)])
        #expect(moving.items.map(\.id) == ["käse", "3"])
        #expect(MovingRecord(bytes: moving.bytes) == moving)
        let takes = TakesRecord(reach: .hub, kinds: ["test/1", "test/2"])
        #expect(TakesRecord(bytes: takes.bytes) == takes)

        for length in moving.bytes.indices {
            #expect(MovingRecord(bytes: Array(moving.bytes[..<length])) == .unreadable)
        }
        for length in takes.bytes.indices { #expect(TakesRecord(bytes: Array(takes.bytes[..<length])) == .unreadable) }
        #expect(MovingRecord(bytes: moving.bytes + [0]) == .unreadable)
        #expect(TakesRecord(bytes: takes.bytes + [0]) == .unreadable)
        var damaged = moving
        damaged.items = Array(repeating: moving.items[0], count: 17)
        #expect(MovingRecord(bytes: damaged.bytes) == .unreadable)
        damaged.items = [moving.items[0]]
        damaged.items[0].baton = "Not a kind"
        #expect(MovingRecord(bytes: damaged.bytes) == .unreadable)
        #expect(TakesRecord(bytes: TakesRecord(reach: .hub, kinds: []).bytes) == .unreadable)
        #expect(TakesRecord(bytes: TakesRecord(reach: .hub, kinds: ["Not a kind"]).bytes) == .unreadable)
        #expect(
            TakesRecord(bytes: TakesRecord(reach: .hub, kinds: Array(repeating: "a", count: 5)).bytes) == .unreadable)
        // The first has an unknown reach, the second an unknown need.
        #expect(MovingRecord(bytes: [1, 20, 3, 0]) == .unreadable)
        #expect(MovingRecord(bytes: [1, 20, 1, 1, 1, 97, 1, 98, 5, 1, 97, 3]) == .unreadable)
        #expect(MovingRecord(bytes: [1, 20, 1, 1, 1, 97, 1, 98, 5, 1, 97, 2]) != .unreadable)
        #expect(TakesRecord(bytes: [1, 0, 1, 1, 97]) == .unreadable)
    }

    @Test("E2, C25: noise in the records never traps", arguments: Seed.several(4))
    func noise(seed: Seed) {
        var random = SeededRandom(seed)
        for _ in 0..<2000 {
            let noise = random.bytes(Int.random(in: 0..<80, using: &random))
            _ = (MovingRecord(bytes: noise), TakesRecord(bytes: noise))
        }
    }

    @Test("C25: an item is about the activity of its epoch, kind, id and beginning, and has no effect otherwise")
    func itemsAreBoundByContent() {
        let activities = entry(
            OwnershipKey.activities, ActivitiesRecord(epoch: epoch, activities: [activity("1")]), by: session, claim: 25
        )
        func moves(_ record: MovingRecord) -> [String?] {
            let view = view(activities, entry(OwnershipKey.moving, record, by: session, claim: 25))
            let open = OpenWork(view).open(under: epoch)
            #expect(open.map(\.moves) == view.activities(of: epoch)?.activities.map(\.moves))
            #expect(open.map(\.needs) == view.activities(of: epoch)?.activities.map(\.needs))
            return open.map(\.moves)
        }
        #expect(moves(MovingRecord(epoch: epoch, reach: .machine, activities: [activity("1")])) == ["test/1"])
        #expect(
            moves(MovingRecord(epoch: epoch, reach: .machine, activities: [activity("1", needs: .bytes)])) == ["test/1"]
        )
        #expect(
            moves(MovingRecord(epoch: Revision(rawValue: 19), reach: .machine, activities: [activity("1")])) == [nil])
        #expect(moves(MovingRecord(epoch: epoch, reach: .machine, activities: [activity("2")])) == [nil])
        let later = Activity(.call, id: "1", begun: BootInstant(nanoseconds: 6), moves: "test/1")
        #expect(moves(MovingRecord(epoch: epoch, reach: .machine, activities: [later])) == [nil])
        let other = Activity(.transfer, id: "1", begun: begun, moves: "test/1")
        #expect(moves(MovingRecord(epoch: epoch, reach: .machine, activities: [other])) == [nil])
        #expect(moves(.unreadable) == [nil])
        #expect(view(activities).activities(of: epoch)?.activities.map(\.moves) == [nil])
    }

    @Test("C17, C25: an activity whose beginning lies ahead moves by its beginning as it stands")
    func movesWithABeginningAhead() {
        let ahead = Activity(.call, id: "1", begun: BootInstant(nanoseconds: 99), moves: "test/1")
        let view = view(
            entry(OwnershipKey.activities, ActivitiesRecord(epoch: epoch, activities: [ahead]), by: session, claim: 25),
            entry(
                OwnershipKey.moving, MovingRecord(epoch: epoch, reach: .machine, activities: [ahead]), by: session,
                claim: 25), at: 50)
        let seen = view.activities(of: epoch)?.activities
        #expect(seen?.map(\.moves) == ["test/1"])
        #expect(seen?.map(\.begun) == [BootInstant(nanoseconds: 50)])
    }

    @Test("C25: a record of batons that are taken counts for the request that it was written with, by its author")
    func takesAreBoundToTheRequest() {
        let request = HandoverRecord(name: "main", askedAt: begun, deadline: .seconds(1), takesOverMain: false)
        let takes = TakesRecord(reach: .machine, kinds: ["test/1"])
        func taken(by author: SessionID, claim: UInt64, revision: UInt64) -> [String]? {
            // The request was written again since, for example because it insists now: its claim stays.
            view(
                entry(OwnershipKey.handover, request, by: main, claim: 30, revision: 35),
                entry(OwnershipKey.takes, takes, by: author, claim: claim, revision: revision)
            ).handover?.record.takes
        }
        #expect(taken(by: main, claim: 30, revision: 30) == ["test/1"])
        #expect(taken(by: session, claim: 30, revision: 30) == [])
        #expect(taken(by: main, claim: 29, revision: 29) == [])
        #expect(taken(by: main, claim: 30, revision: 35) == [])
        #expect(view(entry(OwnershipKey.handover, request, by: main, claim: 30)).handover?.record.takes == [])

        // The watch delivers the two one after the other only if they were committed one after the other.
        var changing = view(entry(OwnershipKey.takes, takes, by: main, claim: 91))
        let written = entry(OwnershipKey.handover, request, by: main, claim: 91)
        changing.apply(
            .changes(
                ChangeSet(
                    revision: Revision(rawValue: 91), origin: main,
                    changes: [Change(key: written.key, kind: .put, old: nil, new: written)])),
            at: begun)
        #expect(changing.handover?.record.takes == ["test/1"])
    }

    @Test("C25: the commits of requests write, keep and remove the batons that are taken")
    func requests() throws {
        let tests = OwnershipMachineTests()
        let owner = tests.owner(.executor, by: tests.other, claim: 20)
        func operations(_ machine: OwnershipMachine, until isEnd: (Transaction) -> Bool) throws -> [Transaction
            .Operation]
        {
            var machine = machine
            let (_, directive) = try #require(tests.run(&machine, from: tests.start, for: .seconds(9)))
            let transaction = try tests.transaction(directive)
            #expect(isEnd(transaction))
            return transaction.operations.filter { $0.touches(OwnershipKey.takes) }
        }
        func asks(_ transaction: Transaction) -> Bool {
            transaction.operations.contains { $0.puts(OwnershipKey.handover) }
        }
        let taking = TakesRecord(reach: .machine, kinds: ["test/1"])

        var rules = OwnershipRules()
        rules.takesBatons = ["test/1"]
        func main(_ rules: OwnershipRules, _ entries: Entry...) -> OwnershipMachine {
            var machine = OwnershipMachine(
                for: Participation(session: tests.session, role: .main, name: "me", process: tests.process(1)),
                rules: rules, seed: 1, at: tests.start)
            machine.goal = .own
            machine.view.apply(tests.view(40, entries), at: tests.start)
            return machine
        }
        #expect(
            try operations(main(rules, owner), until: asks) == [.put(OwnershipKey.takes, taking.bytes, .session)])
        #expect(try operations(main(OwnershipRules(), owner), until: asks) == [.delete(OwnershipKey.takes)])

        // A request that insists, and one that announces the kill, keep their kinds.
        let request = HandoverRecord(
            name: "me", askedAt: tests.start, deadline: .milliseconds(500), takesOverMain: false)
        let standing = entry(OwnershipKey.handover, request, by: tests.session, claim: 30)
        let call = entry(
            OwnershipKey.activities,
            ActivitiesRecord(epoch: epoch, activities: [Activity(.call, id: "1", begun: tests.start)]), by: tests.other,
            claim: 25)
        var insisting = main(rules, owner, standing, call)
        _ = insisting.step(at: tests.start)
        insisting.insists = true
        #expect(try operations(insisting, until: asks) == [])
        #expect(try operations(main(rules, owner, standing), until: asks) == [])

        // A request that its author withdraws, and one that ends because its author acquires.
        var withdrawn = main(rules, standing)
        withdrawn.goal = .nothing(because: .nothingAsked)
        let gone: [Transaction.Operation] = [.delete(OwnershipKey.takes)]
        #expect(try operations(withdrawn) { $0.operations.contains(.delete(OwnershipKey.handover)) } == gone)
        #expect(
            try operations(main(rules, standing)) { $0.operations.contains { $0.puts(OwnershipKey.owner) } } == gone)
    }

    @Test("C17, C25: what ends an ownership removes what moves beside the activities")
    func endsOfOwnership() throws {
        let tests = OwnershipMachineTests()
        var owner = tests.machine(.executor)
        owner.view.apply(tests.view(20, [tests.owner(.executor, by: tests.session, claim: 20)]), at: tests.start)
        owner.core = LocalCore(epoch: epoch, phase: .ended)
        let release = try tests.transaction(owner.step(at: tests.start))
        var next = tests.machine(.executor)
        next.view.apply(tests.view(20, [tests.owner(.executor, by: tests.other, claim: 20)]), at: tests.start)
        let standing = try #require(next.view.owner)
        let superseding = try tests.transaction(
            next.supersede(standing, at: tests.start, provided: [], as: .unanswered, because: "test"))
        for transaction in [release, superseding] {
            #expect(transaction.operations.contains(.delete(OwnershipKey.activities)))
            #expect(transaction.operations.contains(.delete(OwnershipKey.moving)))
        }
    }
}

extension Transaction.Operation {
    fileprivate func puts(_ key: Key) -> Bool { if case .put(key, _, _) = self { true } else { false } }

    fileprivate func touches(_ key: Key) -> Bool { puts(key) || self == .delete(key) }
}
