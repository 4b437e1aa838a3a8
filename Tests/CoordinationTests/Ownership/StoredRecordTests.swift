import CoreAPI
import CoreAPITesting
import InMemoryBackend
import TestSupport
import Testing

@testable import Coordination

/// The records under the keys of coordination.
struct StoredRecordTests {
    private let process = ProcessIdentity(bootID: BootID(high: 7, low: 9), pid: 4711, startTime: 12345)

    private var owner: OwnerRecord {
        OwnerRecord(
            role: .executor, state: .stopping, name: "käse", process: process, since: BootInstant(nanoseconds: 99),
            processNamespace: 4_026_531_836)
    }

    @Test("every record is read as it was written")
    func roundTrips() {
        func same<Record: StoredRecord>(_ record: Record) -> Bool { Record(bytes: record.bytes) == record }
        #expect(same(owner))
        #expect(
            same(
                HandoverRecord(
                    name: "main", askedAt: BootInstant(nanoseconds: 5), deadline: .milliseconds(500),
                    takesOverMain: true, isKilling: true, process: owner.process)))
        var insisting = HandoverRecord(
            name: "main", askedAt: BootInstant(nanoseconds: 5), deadline: .milliseconds(500), takesOverMain: true,
            isKilling: true, process: owner.process)
        #expect(insisting.bytes.first == 1)
        let older = insisting.bytes
        insisting.insists = true
        #expect(same(insisting))
        #expect(insisting.bytes == [2] + older.dropFirst() + [1])
        #expect(HandoverRecord(bytes: [2] + older.dropFirst()) == .unreadable)
        #expect(HandoverRecord(bytes: [3] + older.dropFirst() + [1]) == .unreadable)
        let begun = BootInstant(nanoseconds: 5)
        let activities = [
            Activity(.call, id: "käse", begun: begun, expectedEnd: begun.advanced(by: .seconds(9))),
            Activity(.custom("index", bound: .seconds(90)), id: "1", begun: begun),
        ]
        #expect(same(ActivitiesRecord(epoch: Revision(rawValue: 8), activities: activities)))
        #expect(same(CriticalRecord(epoch: Revision(rawValue: 8), bound: .seconds(2))))
        #expect(same(ChallengeRecord(claim: Revision(rawValue: 8), first: Revision(rawValue: 6))))
        #expect(same(ChallengeRecord(claim: Revision(rawValue: 8))))
        #expect(same(AnswerRecord(claim: Revision(rawValue: 8), challenge: Revision(rawValue: 9))))
        #expect(same(Expectation(bootID: BootID(high: 1, low: 2), deadline: BootInstant(nanoseconds: 3))))
    }

    @Test("C17: an activity whose beginning lies ahead has its bound from when it was seen first")
    func beginningAhead() throws {
        let now = BootInstant(nanoseconds: 1_000_000_000_000)
        let epoch = Revision(rawValue: 8)
        func activity(_ id: String, begun: BootInstant) -> Activity {
            Activity(.custom("work", bound: .seconds(10)), id: id, begun: begun)
        }
        func snapshot(_ revision: UInt64, _ activities: [Activity]) -> Snapshot {
            let entry = Entry(
                key: OwnershipKey.activities, value: ActivitiesRecord(epoch: epoch, activities: activities).bytes,
                revision: Revision(rawValue: revision), creationRevision: epoch, lifetime: .session,
                origin: SessionID(rawValue: 3))
            return Snapshot(revision: Revision(rawValue: revision), entries: activities.isEmpty ? [] : [entry])
        }
        let ahead = activity("1", begun: BootInstant(nanoseconds: .max))
        let past = activity("2", begun: now.advanced(by: .seconds(-7)))
        var view = OwnershipView()
        view.apply(snapshot(9, [ahead, past]), at: now)
        view.apply(snapshot(10, [past, ahead]), at: now.advanced(by: .seconds(5)))
        #expect(view.activities(of: epoch)?.activities == [past, activity("1", begun: now)])
        #expect(view.activities(of: epoch)?.last?.latestEnd == now.advanced(by: .seconds(10)))
        view.apply(snapshot(11, []), at: now)
        view.apply(snapshot(12, [ahead]), at: now.advanced(by: .seconds(6)))
        #expect(view.activities(of: epoch)?.last?.begun == now.advanced(by: .seconds(6)))
    }

    @Test("C17: a record of activities that keeps a core too long, or cannot be read, protects nothing")
    func damagedActivities() {
        let begun = BootInstant(nanoseconds: 5)
        func bytes(_ bound: Duration, count: Int = 1) -> [UInt8] {
            let activity = Activity(.custom("work", bound: bound), id: "1", begun: begun)
            return ActivitiesRecord(
                epoch: Revision(rawValue: 8), activities: Array(repeating: activity, count: count)
            ).bytes
        }
        #expect(ActivitiesRecord(bytes: bytes(.seconds(4 * 3600))).activities.count == 1)
        #expect(ActivitiesRecord(bytes: bytes(.seconds(4 * 3600 + 1))) == .unreadable)
        #expect(ActivitiesRecord(bytes: bytes(.seconds(1), count: 16)).activities.count == 16)
        #expect(ActivitiesRecord(bytes: bytes(.seconds(1), count: 17)) == .unreadable)
        #expect(ActivitiesRecord(bytes: bytes(.seconds(1)).dropLast()) == .unreadable)
        let ofCall = Activity(.call, id: String(repeating: "i", count: 512), begun: begun)
        let record = ActivitiesRecord(epoch: Revision(rawValue: 8), activities: [ofCall])
        #expect(ActivitiesRecord(bytes: record.bytes) == record)
        for (kind, id) in [
            ("", "1"), ("work", ""), ("work", String(repeating: "i", count: 129)),
            (String(repeating: "k", count: 65), "1"), ("call", String(repeating: "i", count: 513)),
        ] {
            let activity = Activity(.custom(kind, bound: .seconds(1)), id: id, begun: begun)
            let record = ActivitiesRecord(epoch: Revision(rawValue: 8), activities: [activity])
            #expect(ActivitiesRecord(bytes: record.bytes) == .unreadable, "\(kind.count) \(id.count)")
        }
    }

    @Test(
        "E2: damaged bytes never trap; what stands there counts as a holder that cannot answer",
        arguments: Seed.several(4))
    func damagedBytes(seed: Seed) {
        var random = SeededRandom(seed)
        let bytes = owner.bytes
        for length in bytes.indices { #expect(OwnerRecord(bytes: Array(bytes[..<length])) == .unreadable) }
        #expect(OwnerRecord(bytes: bytes + [0]) == .unreadable)
        for _ in 0..<2000 {
            var damaged = bytes
            damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            _ = OwnerRecord(bytes: damaged)
            let noise = random.bytes(Int.random(in: 0..<80, using: &random))
            _ = (HandoverRecord(bytes: noise), ChallengeRecord(bytes: noise), Expectation(bytes: noise))
            _ = ActivitiesRecord(bytes: noise)
        }
    }

    @Test("C5: a view names the session of every stored record, so that the end of that session is noticed")
    func sessionsOfView() async throws {
        let space = MemorySpace()
        let keys = [
            OwnershipKey.owner, OwnershipKey.handover, OwnershipKey.lease, OwnershipKey.critical,
            OwnershipKey.activities,
            OwnershipKey.moving, OwnershipKey.takes, OwnershipKey.refusal, OwnershipKey.baton, OwnershipKey.challenge,
            OwnershipKey.answer, OwnershipKey.rest, OwnershipKey.wake, OwnershipKey.holder, OwnershipKey.batonHost,
        ]
        var sessions: Set<SessionID> = []
        var handles: [any SharedStore] = []
        for key in keys {
            let handle = try await space.open("group")
            try await handle.put(key, [1])
            sessions.insert(handle.session.id)
            handles.append(handle)
        }
        var view = OwnershipView()
        view.apply(try await handles[0].list(OwnershipKey.path), at: BootInstant(nanoseconds: 1))
        #expect(view.sessions == sessions)
        // No record of the view is missing above.
        let records = Mirror(reflecting: view).children.filter { "\(type(of: $0.value))".contains("Standing<") }
        #expect(records.count == keys.count)
    }
}
