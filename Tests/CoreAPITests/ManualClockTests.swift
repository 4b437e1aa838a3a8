internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("The clock of the tests is exact")
struct ManualClockTests {
    @Test("Sleepers wake at their instant, never before, and those of one advance in the order of their instants")
    func sleepersWakeExactly() async throws {
        let clock = ManualClock()
        let start = clock.now()
        let woken = Box<[Int]>([])
        let sleepers = [30, 10, 20].map { seconds in
            Task {
                try await clock.sleep(until: start.advanced(by: .seconds(seconds)))
                woken.update { $0.append(seconds) }
            }
        }
        try await eventually("three sleep") { clock.sleeperCount == 3 }
        #expect(clock.nextWake == start.advanced(by: .seconds(10)))
        clock.advance(by: .seconds(10) - .nanoseconds(1))
        #expect(clock.sleeperCount == 3)
        clock.advance(by: .nanoseconds(1))
        #expect(clock.sleeperCount == 2)
        try await sleepers[1].value
        #expect(woken.value == [10])
        clock.advance(by: .seconds(60))
        for sleeper in sleepers { try await sleeper.value }
        #expect(Set(woken.value) == [10, 20, 30])
        try await clock.sleep(until: start)
    }

    @Test("A cancelled sleeper throws at once and is forgotten")
    func cancellationWakes() async throws {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(until: clock.now().advanced(by: .seconds(1))) }
        try await eventually("one sleeps") { clock.sleeperCount == 1 }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.sleeperCount == 0)

        let early = Task {
            try await clock.sleep(until: clock.now().advanced(by: .seconds(1)))
        }
        early.cancel()
        await #expect(throws: CancellationError.self) { try await early.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("A reboot gives another boot id and starts the time again")
    func rebootStartsAgain() async throws {
        let clock = ManualClock()
        let before = (clock.bootID, clock.now())
        clock.reboot()
        #expect(clock.bootID != before.0)
        #expect(clock.now() < before.1)
    }

    @Test("A condition that never holds ends the wait with what was waited for")
    func waitsEnd() async throws {
        let error = await #expect(throws: ConditionNotMet.self) {
            try await eventually("pigs fly", timeout: .milliseconds(20)) { false }
        }
        #expect(error?.description.contains("pigs fly") == true)
        let hung = await #expect(throws: ConditionNotMet.self) {
            try await withTimeout(.milliseconds(20), "an answer") { await Promise<Void>().pass() }
        }
        #expect(hung?.expectation == "an answer")
        #expect(try await withTimeout(.seconds(30), "an answer") { 42 } == 42)
    }
}
