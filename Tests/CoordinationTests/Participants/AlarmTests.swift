import CoreAPI
import Mailboxes
import SharedCoreTesting
import TestSupport
import Testing

@testable import Coordination

/// How the alarms of a participant move.
struct AlarmTests {
    private let clock = ManualClock()
    private let executor = ParticipantThread.shared

    @Test("An alarm that is moved wakes at its new instant alone, earlier or later than the one before")
    func moves() async throws {
        let event = AsyncEvent()
        var alarm = Alarm(signalling: event, by: clock, on: executor)
        defer { alarm.stop() }
        for milliseconds in [280, 530, 400, 780] {
            let instant = clock.now().advanced(by: .milliseconds(milliseconds))
            alarm.move(to: instant)
            try await eventually("\(milliseconds) is the next wake") { [clock] in clock.nextWake == instant }
        }
        clock.advance(by: .milliseconds(780))
        try await withTimeout(TestTimeout.usual, "it rings") { await event.wait() }
    }

    @Test("An alarm that is set again keeps the earlier instant")
    func isSet() async throws {
        let event = AsyncEvent()
        var alarm = Alarm(signalling: event, by: clock, on: executor)
        defer { alarm.stop() }
        let instant = clock.now().advanced(by: .milliseconds(250))
        alarm.set(to: instant)
        try await eventually("it sleeps") { [clock] in clock.nextWake == instant }
        alarm.set(to: instant.advanced(by: .milliseconds(30)))
        clock.advance(to: instant)
        try await withTimeout(TestTimeout.usual, "it rings") { await event.wait() }
    }
}
