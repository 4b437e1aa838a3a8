import CoreAPI
import Mailboxes
import Testing

@testable import Coordination

/// What a core still runs for.
struct DemandTests {
    private let boot = BootID(high: 1, low: 1)
    private let start = BootInstant(nanoseconds: 1_000_000_000)

    private func demand() throws -> Demand {
        Demand(of: try QueueKeys(path: Inbox.path), in: boot)
    }

    private func expectation(
        _ callID: String, by session: UInt64, until milliseconds: Int, in boot: BootID? = nil
    ) throws -> Entry {
        let record = Expectation(
            bootID: boot ?? self.boot, deadline: start.advanced(by: .milliseconds(milliseconds)))
        return entry(
            try Expectation.key(of: ItemName(callID), for: SessionID(rawValue: session)), record.bytes, session)
    }

    private func entry(_ key: Key, _ value: [UInt8], _ session: UInt64) -> Entry {
        Entry(
            key: key, value: value, revision: Revision(rawValue: 1), creationRevision: Revision(rawValue: 1),
            lifetime: .session, origin: SessionID(rawValue: session))
    }

    private func inbox(_ callID: String, _ part: QueueKeys.Part) throws -> Key {
        try QueueKeys(path: Inbox.path).key(of: part, for: ItemName(callID))
    }

    private func event(_ revision: UInt64, put entries: [Entry] = [], delete keys: [Key] = []) -> WatchEvent {
        .changes(
            ChangeSet(
                revision: Revision(rawValue: revision), origin: SessionID(rawValue: 1),
                changes: entries.map { Change(key: $0.key, kind: .put, old: nil, new: $0) }
                    + keys.map { Change(key: $0, kind: .deleted, old: nil, new: nil) }))
    }

    @Test("C9: demand lasts until the latest deadline of those who wait for what is not there")
    func latestDeadline() throws {
        var demand = try demand()
        #expect(demand.openUntil(after: start) == nil)
        demand.apply(
            event(2, put: [try expectation("a", by: 5, until: 100), try expectation("a", by: 6, until: 300)]))
        demand.apply(event(3, put: [try expectation("b", by: 5, until: 200)]))
        #expect(demand.openUntil(after: start) == start.advanced(by: .milliseconds(300)))
        #expect(demand.openUntil(after: start.advanced(by: .milliseconds(300))) == nil)
    }

    @Test("C9, C10, C11: what is stored, or has left a mark, is no demand; a take changes nothing")
    func answeredIsNoDemand() throws {
        var demand = try demand()
        demand.apply(
            event(2, put: [try expectation("a/b%", by: 5, until: 100), try expectation("c", by: 5, until: 50)]))
        demand.apply(event(3, put: [entry(try inbox("a/b%", .take), [], 5)]))
        #expect(demand.openUntil(after: start) == start.advanced(by: .milliseconds(100)))
        demand.apply(event(4, put: [entry(try inbox("a/b%", .message), [], 5)]))
        #expect(demand.openUntil(after: start) == start.advanced(by: .milliseconds(50)))
        demand.apply(event(5, put: [entry(try inbox("c", .mark), [], 5)]))
        #expect(demand.openUntil(after: start) == nil)
        demand.apply(event(6, delete: [try inbox("a/b%", .message)]))
        #expect(demand.openUntil(after: start) == start.advanced(by: .milliseconds(100)))
    }

    @Test("scenario 20: an expectation of another run of the machine is nobody's; one that ends is gone")
    func otherRunsAndEnds() throws {
        var demand = try demand()
        let old = try expectation("a", by: 5, until: 100, in: BootID(high: 1, low: 2))
        let present = try expectation("b", by: 5, until: 100)
        demand.apply(event(2, put: [old, present]))
        demand.apply(event(3, delete: [present.key]))
        #expect(demand.openUntil(after: start) == nil)
        demand.apply(.lagged(Snapshot(revision: Revision(rawValue: 9), entries: [present])))
        #expect(demand.openUntil(after: start) == start.advanced(by: .milliseconds(100)))
    }
}
