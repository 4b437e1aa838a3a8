import CoreAPI
import CoreAPITesting
import Synchronization
import TestSupport
import Testing

@testable import Lifecycle

/// The actor that runs the keep-alive, with a clock that a test moves.
struct KeepAliveTests {
    /// Records its calls, and returns at once, when it is cancelled, or when it is released.
    private final class Handler: KeepAliveHandler {
        let runs = Mutex<[KeepAliveRun]>([])
        let warnings = Mutex<[KeepAliveRun]>([])
        let cancellations = Mutex(0)
        private let isSlow: Bool
        private let fails: Bool

        init(isSlow: Bool = false, fails: Bool = false) {
            self.isSlow = isSlow
            self.fails = fails
        }

        var count: Int { runs.withLock(\.count) }

        func keepAlive(_ run: KeepAliveRun) async throws {
            runs.withLock { $0.append(run) }
            if isSlow {
                try? await untilCancelled()
                cancellations.withLock { $0 += 1 }
            }
            if fails { throw CancellationError() }
        }

        func timeIsNearlyOver(_ run: KeepAliveRun) {
            warnings.withLock { $0.append(run) }
        }
    }

    private final class Kept: Sendable {
        let records = Mutex<[KeepAliveRecord]>([])
        let reports = Mutex<[KeepAliveReport]>([])

        var last: KeepAliveRecord? { records.withLock(\.last) }
        var outcomes: [KeepAliveReport.Outcome] { reports.withLock { $0.map(\.outcome) } }
    }

    private func keepAlive(_ clock: ManualClock, _ kept: Kept, restoring record: KeepAliveRecord? = nil) throws
        -> KeepAlive
    {
        try KeepAlive(
            restoring: record, clock: clock, save: { record in kept.records.withLock { $0.append(record) } },
            report: { report in kept.reports.withLock { $0.append(report) } })
    }

    /// Moves the clock once a task waits for it.
    private func pass(_ duration: Duration, _ clock: ManualClock) async throws {
        try await eventually("the keep-alive waits") { clock.sleeperCount == 1 }
        clock.advance(by: duration)
    }

    @Test("P4, scenario 35: refused under 600 s")
    func refused() async throws {
        let keepAlive = try keepAlive(ManualClock(), Kept())
        await #expect(throws: LifecycleError.self) {
            try await keepAlive.add("a", every: .seconds(599), handler: Handler())
        }
    }

    @Test("P4, scenario 35: called once in each interval")
    func called() async throws {
        let (clock, kept, handler) = (ManualClock(), Kept(), Handler())
        let keepAlive = try keepAlive(clock, kept)
        try await keepAlive.add("a", every: .seconds(600), handler: handler)
        for count in 1...5 {
            try await pass(.seconds(599), clock)
            #expect(handler.count == count - 1)
            clock.advance(by: .seconds(1))
            try await eventually("it was called") { kept.outcomes.count == count }
        }
        #expect(kept.outcomes.allSatisfy { $0 == .finished })
        await keepAlive.close()
    }

    @Test("P4, scenario 35: over its 10 s a handler is told, then cut off")
    func cutOff() async throws {
        let (clock, kept, handler) = (ManualClock(), Kept(), Handler(isSlow: true))
        let keepAlive = try keepAlive(clock, kept)
        try await keepAlive.add("a", every: .seconds(600), handler: handler)
        try await pass(.seconds(600), clock)
        try await eventually("it was called") { handler.count == 1 }
        try await eventually("its warning is waited for") { clock.nextWake == clock.now().advanced(by: .seconds(8)) }
        clock.advance(by: .seconds(8))
        try await eventually("it is told") { handler.warnings.withLock(\.count) == 1 }
        #expect(kept.outcomes.isEmpty)
        try await pass(.seconds(2), clock)
        try await eventually("it is cut off") { kept.outcomes == [.cutOff] }
        try await eventually("it has ended") { handler.cancellations.withLock { $0 == 1 } }
        try await pass(.seconds(590), clock)
        try await eventually("it is called again") { handler.count == 2 }
        await keepAlive.close()
        try await eventually("its close ends it") { handler.cancellations.withLock { $0 == 2 } }
        #expect(kept.outcomes == [.cutOff])
    }

    @Test("P4: a failure is reported")
    func failure() async throws {
        let (clock, kept) = (ManualClock(), Kept())
        let keepAlive = try keepAlive(clock, kept)
        try await keepAlive.add("a", every: .seconds(600), handler: Handler(fails: true))
        try await pass(.seconds(600), clock)
        try await eventually("it has failed") { kept.outcomes == [.failed("CancellationError()")] }
    }

    @Test("P4: what was saved is restored, and what is due is due")
    func restart() async throws {
        let (clock, kept, handler) = (ManualClock(), Kept(), Handler())
        let first = try keepAlive(clock, kept)
        try await first.add("a", every: .seconds(600), handler: handler)
        try await first.registered("sip", for: .seconds(3600))
        #expect(await first.prepareForBackground(interval: .seconds(600)).isReady)
        await first.traffic(on: "sip")
        await first.close()
        clock.advance(by: .seconds(650))
        #expect(handler.count == 0)

        let second = try keepAlive(clock, kept, restoring: kept.last)
        #expect(!(await second.prepareForBackground(interval: .seconds(3_000)).isReady))
        try await second.add("a", every: .seconds(600), handler: handler)
        try await eventually("it is called at once") { handler.count == 1 }
        #expect(handler.runs.withLock { $0[0].toRefresh } == ["sip"])
        await second.unregistered("sip")
        #expect(await second.record.registrations.isEmpty)
        await second.remove("a")
        #expect(kept.last?.handlers.isEmpty == true)
        await second.close()
        await #expect(throws: LifecycleError.self) {
            try await second.add("b", every: .seconds(600), handler: handler)
        }
    }
}
