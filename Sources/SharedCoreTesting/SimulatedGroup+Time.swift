internal import CoreAPI
internal import TestInstruments

extension SimulatedGroup {
    /// Returns when every process waits: for the clock, for the test, or for something outside of the simulation, such
    /// as a socket. No time passes.
    ///
    /// - Throws: `ConditionNotMet` when something runs on for longer than `TestTimeout.usual`, in real time.
    public func runUntilIdle() async throws {
        try await thread.untilIdle()
    }

    /// Lets time pass. Each sleeping process wakes at its time, and does its work before time passes further.
    ///
    /// If several tasks of a test let time pass at once, the same time counts for all of them: each returns at its own
    /// end.
    ///
    /// - Throws: `SharedCoreError.Code.invalidArgument` for a negative duration.
    public func advance(by duration: Duration) async throws {
        guard duration >= .zero else {
            throw SharedCoreError(.invalidArgument, "Time does not go back.", at: "test")
        }
        let end = clock.now().advanced(by: duration)
        while clock.now() < end {
            try await thread.whenIdle { [clock] in clock.advance(to: min(clock.nextWake ?? end, end)) }
        }
        try await runUntilIdle()
    }

    /// Lets time pass until a condition holds. The condition is checked whenever all processes wait.
    ///
    /// - Parameters:
    ///   - expectation: The condition in words, for messages.
    ///   - timeout: The longest time, by the group's clock.
    ///   - condition: Returns whether it holds. It must have no effect.
    /// - Throws: ``SimulationStalled`` if it does not hold by then, or if no process would wake any more; the errors of
    ///   the condition.
    public func advance(
        until expectation: @autoclosure () -> String, timeout: Duration = .seconds(600),
        _ condition: () async throws -> Bool
    ) async throws {
        let start = clock.now()
        let end = start.advanced(by: timeout)
        while true {
            let seen = clock.now()
            try await runUntilIdle()
            if try await condition() { return }
            // The condition may have woken a process, so this waits until all processes wait again.
            let step = try await thread.whenIdle { [clock] in Self.step(clock, from: seen, to: end) }
            guard step == .taken else {
                throw SimulationStalled(
                    expectation: expectation(), timePassed: start.duration(to: clock.now()),
                    timedOut: step == .beyondLimit, timeline: try await timeline().description)
            }
        }
    }

    private enum Step {
        case taken, beyondLimit, nobodySleeps
    }

    /// Advances to the next time at which a process wakes, unless another task has let time pass since the condition
    /// was checked: then the condition may hold now.
    private static func step(_ clock: ManualClock, from seen: BootInstant, to end: BootInstant) -> Step {
        guard clock.now() == seen else { return .taken }
        guard let next = clock.nextWake else { return .nobodySleeps }
        guard next <= end else { return .beyondLimit }
        clock.advance(to: next)
        return .taken
    }
}

/// The error of a wait for a condition that did not hold in the group's time.
public struct SimulationStalled: Error, CustomStringConvertible {
    /// The condition that was waited for.
    public let expectation: String
    /// How much of the group's time passed.
    public let timePassed: Duration
    /// True if the time limit was reached. False if no process sleeps any more: all wait for the test or for something
    /// outside of the group.
    public let timedOut: Bool
    /// The timeline of the ownership, in sentences.
    public let timeline: String

    public var description: String {
        let reason = timedOut ? "" : ", and nobody sleeps: every process waits for the test or for the world outside"
        return "This did not happen within \(timePassed) of the group's time\(reason): \(expectation)\n\(timeline)"
    }
}
