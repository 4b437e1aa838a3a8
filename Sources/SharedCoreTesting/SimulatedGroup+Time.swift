internal import CoreAPI
internal import TestInstruments

extension SimulatedGroup {
    /// Returns when every process waits: for the time, for the test, or for the world outside. No time passes.
    ///
    /// - Throws: `ConditionNotMet` when something runs on for longer than `Patience.usual`.
    public func runUntilIdle() async throws {
        try await thread.untilIdle()
    }

    /// Lets time pass. Whoever sleeps wakes at its moment, and does what it has to do before the time goes on.
    public func advance(by duration: Duration) async throws {
        let end = clock.now().advanced(by: duration)
        try await runUntilIdle()
        while let next = clock.nextWake, next <= end {
            clock.advance(by: clock.now().duration(to: next))
            try await runUntilIdle()
        }
        clock.advance(by: clock.now().duration(to: end))
    }

    /// Lets time pass until a condition holds, no longer than it takes. It is looked at whenever every process waits.
    ///
    /// - Parameters:
    ///   - expectation: What is waited for, for people.
    ///   - limit: The longest, in the group's time.
    ///   - condition: Whether it is there. It must have no effect.
    /// - Throws: ``SimulationStalled`` when it does not hold by then, or when nobody would ever wake; whatever the condition
    ///   throws.
    public func advance(
        until expectation: @autoclosure () -> String, within limit: Duration = .seconds(600),
        _ condition: () async throws -> Bool
    ) async throws {
        let start = clock.now()
        let end = start.advanced(by: limit)
        while true {
            try await runUntilIdle()
            if try await condition() { return }
            // Looking may have woken somebody.
            try await runUntilIdle()
            guard let next = clock.nextWake, next <= end else {
                throw SimulationStalled(
                    expectation: expectation(), timePassed: start.duration(to: clock.now()),
                    wasLimit: clock.nextWake != nil, timeline: try await timeline().description)
            }
            clock.advance(by: clock.now().duration(to: next))
        }
    }
}
