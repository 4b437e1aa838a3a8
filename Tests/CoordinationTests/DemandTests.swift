import CoreAPI
import Mailboxes
import Testing

@testable import Coordination

/// The demand that keeps a core running.
struct DemandTests {
    private let boot = BootID(high: 1, low: 1)
    private let start = BootInstant(nanoseconds: 1_000_000_000)

    private func demand() throws -> Demand {
        Demand(of: try QueueKeys(path: Inbox.path, isNested: true), in: boot)
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

    @Test("C9: demand lasts until the latest deadline of the calls that wait for what is not there")
    func latestDeadline() throws {
        var demand = try demand()
        #expect(demand.openUntil(after: start) == nil)
        demand.apply(
            event(2, put: [try expectation("a", by: 5, until: 100), try expectation("a", by: 6, until: 300)]))
        demand.apply(event(3, put: [try expectation("b", by: 5, until: 200)]))
        #expect(demand.openUntil(after: start) == start.advanced(by: .milliseconds(300)))
        #expect(demand.openUntil(after: start.advanced(by: .milliseconds(300))) == nil)
    }

    @Test("C21: a wait with a sequence is answered by that one, or by a message without; details answer nothing")
    func sequences() throws {
        var demand = try demand()
        let keys = try QueueKeys(path: Inbox.path, isNested: true)
        func item(_ sequence: String?) throws -> ItemName {
            let callID = try CallID.of("a/b")
            return try #require(sequence.map { MessageID(callID, sequence: $0) } ?? MessageID(callID)).item
        }
        let record = Expectation(bootID: boot, deadline: start.advanced(by: .milliseconds(100)))
        let key = try Expectation.key(of: item("2"), for: SessionID(rawValue: 5))
        demand.apply(event(2, put: [entry(key, record.bytes, 5)]))
        let waits = start.advanced(by: .milliseconds(100))
        let other = try keys.key(of: .message, for: item("1"))
        demand.apply(event(3, put: [entry(other, [], 5), entry(try keys.key(of: .details, for: item("2")), [], 5)]))
        #expect(demand.openUntil(after: start) == waits)
        for answer in [try item("2"), try item(nil)] {
            let message = try keys.key(of: .message, for: answer)
            demand.apply(event(4, put: [entry(message, [], 5)]))
            #expect(demand.openUntil(after: start) == nil, "\(answer)")
            demand.apply(event(5, delete: [message]))
            #expect(demand.openUntil(after: start) == waits)
        }
        // A wait without a sequence is answered by any.
        demand.apply(event(6, put: [try expectation("a/b", by: 6, until: 900)], delete: [key]))
        #expect(demand.openUntil(after: start) == nil)
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

    @Test("scenario 20: an expectation of another run of the machine counts for none; one that ends is gone")
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

/// How long an Executor's core runs.
struct CoreRunPolicyTests {
    private let start = BootInstant(nanoseconds: 1_000_000_000)

    private func policy() -> CoreRunPolicy {
        CoreRunPolicy(budget: .seconds(30), linger: .milliseconds(250), from: start)
    }

    private func after(_ milliseconds: Int) -> BootInstant { start.advanced(by: .milliseconds(milliseconds)) }

    @Test("C9: it runs while a call waits, until the latest deadline or the end of the budget")
    func runsWhileAnybodyWaits() {
        var policy = policy()
        #expect(policy.decide(openUntil: after(5000), at: after(10)) == .run(until: after(5000)))
        #expect(policy.decide(openUntil: after(90_000), at: after(20)) == .run(until: after(30_000)))
        #expect(policy.decide(openUntil: after(90_000), at: after(30_000)) == .spent)
    }

    @Test("C9: when no call waits it goes on for a moment, which a new push ends")
    func lingers() {
        var policy = policy()
        #expect(policy.decide(openUntil: nil, at: after(100)) == .run(until: after(350)))
        #expect(policy.decide(openUntil: nil, at: after(349)) == .run(until: after(350)))
        #expect(policy.decide(openUntil: after(9000), at: after(349)) == .run(until: after(9000)))
        #expect(policy.decide(openUntil: nil, at: after(400)) == .run(until: after(650)))
        #expect(policy.decide(openUntil: nil, at: after(650)) == .done)
    }

    @Test("C17: it runs while an activity is open, past its budget too; a bound that has passed keeps nothing")
    func runsWhileAnActivityIsOpen() {
        var policy = policy()
        let bound = after(600_000)
        #expect(policy.decide(openUntil: nil, busyUntil: bound, at: after(100)) == .run(until: bound))
        #expect(policy.decide(openUntil: nil, busyUntil: bound, at: after(10_000)) == .run(until: bound))
        #expect(policy.decide(openUntil: nil, at: after(10_001)) == .run(until: after(10_251)))
        #expect(policy.decide(openUntil: after(20_000), busyUntil: bound, at: after(40_000)) == .run(until: bound))
        #expect(policy.decide(openUntil: nil, busyUntil: bound, at: bound) == .spent)
    }
}

/// The wait of one call for its message, step by step.
struct MessageWaitTests {
    private let start = BootInstant(nanoseconds: 1_000_000_000)

    private func after(_ milliseconds: Int) -> BootInstant { start.advanced(by: .milliseconds(milliseconds)) }

    private func wait() -> MessageWait {
        MessageWait(deadline: after(10_000), lookInterval: .milliseconds(250))
    }

    @Test("C10: what is there is taken, and what is known already is no wait")
    func thereAlready() throws {
        let message = try InboxMessage.text("a")
        #expect(wait().step(.stored(message), at: start) == .take)
        #expect(wait().step(.acknowledged, at: start) == .nothingToShow)
        #expect(wait().step(.nothingToShow, at: start) == .nothingToShow)
    }

    @Test("C8, C13: it lets others know, looks by itself every 250 ms, and asks for a core only for what is not there")
    func waiting() {
        var wait = wait()
        #expect(wait.step(.absent, at: start) == .expect)
        wait.isExpected = true
        #expect(wait.step(.absent, at: start) == .wait(until: after(250), needsCore: true))
        #expect(
            wait.step(.taken(by: SessionID(rawValue: 1)), at: start) == .wait(until: after(250), needsCore: false))
        #expect(wait.step(.absent, at: after(9900)) == .wait(until: after(10_000), needsCore: true))
    }

    @Test("C7: it ends exactly at its deadline; what comes with the deadline is taken")
    func deadline() throws {
        var wait = wait()
        wait.isExpected = true
        #expect(wait.step(.absent, at: after(10_000)) == .timeout)
        #expect(wait.step(.stored(try .text("a")), at: after(10_000)) == .take)
    }
}
