import Coordination
import CoreAPI
import CoreAPITesting
import Platform
import TestSupport
import Testing

@testable import SharedCoreHost

/// The reports to people while a participant waits.
struct WaitReportTests {
    private let clock = ManualClock()
    private let told = Box<[OwnershipWaitReason]>([])

    private func report() -> WaitReport {
        WaitReport(by: clock) { [told] reason in told.update { $0.append(reason) } }
    }

    private func wait(for number: Int) -> OwnershipWaitReason {
        .request(ofMain: "main \(number)", process: .current)
    }

    /// Lets time pass as soon as the report waits for it.
    private func pass(_ time: Duration) async throws {
        let due = clock.now().advanced(by: WaitReport.delay)
        try await eventually("the report waits") { clock.nextWake == due }
        clock.advance(by: time)
    }

    @Test("a reason that is unchanged for a second is reported, once until another one was reported")
    func standing() async throws {
        let report = report()
        for (number, count) in [(1, 1), (1, 1), (2, 2), (1, 3)] {
            report.hear(wait(for: number))
            try await pass(.seconds(1))
            try await eventually("it is told") { told.value.count >= count || number == 1 && count == 1 }
        }
        await report.end()
        #expect(told.value == [wait(for: 1), wait(for: 2), wait(for: 1)])
    }

    @Test("of the reasons of a burst, which change faster, only the last is told")
    func burst() async throws {
        let report = report()
        for number in 1...300 {
            report.hear(wait(for: number))
            clock.advance(by: .milliseconds(100))
        }
        clock.advance(by: .milliseconds(900))
        try await eventually("the last is told") { told.value == [wait(for: 300)] }
        report.hear(wait(for: 301))
        await report.end()
        #expect(told.value == [wait(for: 300)])
    }

    @Test("the rest after a failure of the core is told at once, and the start of a core is not")
    func rest() async throws {
        let report = report()
        let rest = OwnershipWaitReason.rest(.seconds(1), after: "it broke")
        report.hear(wait(for: 1))
        report.hear(rest)
        report.hear(.coreStart)
        await report.end()
        #expect(told.value == [rest])
    }
}
