internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@testable internal import StoreEngine

@Suite("S8: lifetimes in the engine")
struct LifetimeTests {
    private let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)

    private func state(with lifetime: Lifetime, at instant: BootInstant) throws -> (StoreState, Effect) {
        var state = StoreState()
        let opening = state.opening(SessionOpening(process: process, description: SessionDescription()), at: instant)
        state.apply(opening)
        let transaction = Transaction(operations: [.put("k", [1], lifetime)])
        let session = SessionID(rawValue: opening.revision.rawValue)
        guard case .record(let effect, _) = try state.decide(transaction, of: session, at: instant) else {
            throw SharedCoreError(.invalidArgument, "The put is not recorded.", at: "test")
        }
        state.apply(effect)
        return (state, effect)
    }

    @Test(
        "S8: every duration is the same for the writer and for each reader of the journal, and never early",
        arguments: [
            Duration.nanoseconds(1), .seconds(Int64.max), .nanoseconds(Int64.max),
            .nanoseconds(Int64.max) + .nanoseconds(1),
            Duration(secondsComponent: 0, attosecondsComponent: 1),
            Duration(secondsComponent: 3, attosecondsComponent: 1_500_000_000),
            .milliseconds(1500),
        ])
    func durationsAreTheSameEverywhere(duration: Duration) throws {
        let begin = BootInstant(nanoseconds: 1_000)
        let (written, effect) = try state(with: .expiring(after: duration), at: begin)
        guard case .effect(let read) = try JournalRecord(try effect.payload()[...]) else { return }
        var replica = StoreState()
        replica.apply(written.opening(SessionOpening(process: process, description: SessionDescription()), at: begin))
        replica.apply(read)
        let lifetime = written.entry("k")?.lifetime
        #expect(replica.entry("k")?.lifetime == lifetime)
        #expect(replica.entry("k")?.expiry == written.entry("k")?.expiry)
        var copy = written
        let next = copy.nextExpiry()
        let expiry = try #require(next)
        #expect(expiry > begin)
        #expect(begin.duration(to: expiry) >= min(duration, .nanoseconds(Int64.max)))
        let early = copy.expiry(at: BootInstant(nanoseconds: expiry.nanoseconds - 1))
        #expect(early == nil)
    }

    @Test("S8: a start of the machine adds at most one full duration, and ends every session")
    func restartAddsOneDuration() throws {
        let (written, _) = try state(with: .expiring(after: .seconds(10)), at: BootInstant(nanoseconds: 50_000_000_000))
        var state = written
        let before = state.revision
        for boot in 1...3 as ClosedRange<UInt64> {
            let now = BootInstant(nanoseconds: boot)
            state.apply(state.restarting(in: BootID(high: 7, low: boot), at: now))
            let next = state.nextExpiry()
            #expect(next == now.advanced(by: .seconds(10)))
        }
        #expect(state.sessions.isEmpty)
        #expect(state.revision.rawValue >= before.rawValue + 3 << 32)
        let due = state.expiry(at: BootInstant(nanoseconds: 3).advanced(by: .seconds(10)))
        let effect = try #require(due)
        state.apply(effect)
        #expect(state.entryCount == 0)
    }

    @Test("S8: entries that are refreshed for ever keep a bounded queue of deadlines")
    func refreshingIsBounded() throws {
        let (written, _) = try state(with: .expiring(after: .seconds(10)), at: BootInstant(nanoseconds: 1))
        var state = written
        let session = try #require(state.sessions.keys.first)
        var now = BootInstant(nanoseconds: 1)
        for _ in 0..<20_000 {
            now = now.advanced(by: .milliseconds(1))
            let transaction = Transaction(operations: [.put("k", [1], .expiring(after: .seconds(3600)))])
            guard case .record(let effect, _) = try state.decide(transaction, of: session, at: now) else { return }
            state.apply(effect)
        }
        #expect(state.expiries.count < 200)
        let next = state.nextExpiry()
        #expect(next == now.advanced(by: .seconds(3600)))
        let early = state.expiry(at: BootInstant(nanoseconds: now.nanoseconds + 3_599_999_999_999))
        #expect(early == nil)
    }
}
