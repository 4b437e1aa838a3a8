/// What came of one schedule.
package struct Run: Sendable {
    package let violation: String?
    package let history: UInt64
    package let events: Int
    package let faults: [Fault: Int]
    /// What happened, one sentence in a line; empty unless it was to be told.
    package let lines: [String]

    package init(
        _ schedule: Schedule, damagedBy mutant: Mutant? = nil, coverage: inout Coverage, isTold: Bool = false
    ) {
        var simulation = Simulation(schedule, damagedBy: mutant, isTold: isTold)
        // Lent, so that nothing is copied.
        swap(&simulation.coverage, &coverage)
        simulation.run()
        swap(&simulation.coverage, &coverage)
        violation = simulation.narrative.violation
        history = simulation.history
        events = simulation.eventCount
        faults = simulation.faults
        lines = simulation.narrative.lines
    }
}
