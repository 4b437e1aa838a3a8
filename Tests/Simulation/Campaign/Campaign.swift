/// A series of schedules, one per seed.
package struct Campaign: Sendable {
    /// The combined outcome of the schedules.
    package struct Report: Sendable {
        package var schedules = 0
        package var events = 0
        package var histories: Set<UInt64> = []
        package var faults: [Fault: Int] = [:]
        package var coverage = Coverage()
        /// The first seeds that broke a rule, with the rule.
        package var failures: [(seed: UInt64, violation: String)] = []

        package init() {}
    }

    package let seeds: Range<UInt64>
    let mutant: Mutant?
    /// The number of failures after which to stop.
    let waitingTime: Int

    package init(seeds: Range<UInt64>, damagedBy mutant: Mutant? = nil, waitingTime: Int = 10) {
        self.seeds = seeds
        self.mutant = mutant
        self.waitingTime = waitingTime
    }

    /// Runs the seeds one after the other.
    package func run() -> Report {
        var report = Report()
        for seed in seeds {
            let run = Run(Schedule(seed: seed), damagedBy: mutant, coverage: &report.coverage)
            report.schedules += 1
            report.events += run.events
            report.histories.insert(run.history)
            for (fault, count) in run.faults { report.faults[fault, default: 0] += count }
            if let violation = run.violation { report.failures.append((seed, violation)) }
            if report.failures.count >= waitingTime { break }
        }
        return report
    }
}

extension Campaign.Report {
    /// Adds the report of another part of the same campaign.
    package mutating func add(_ other: Campaign.Report) {
        schedules += other.schedules
        events += other.events
        histories.formUnion(other.histories)
        for (fault, count) in other.faults { faults[fault, default: 0] += count }
        coverage.add(other.coverage)
        failures += other.failures
    }
}

/// The outcome of one schedule.
package struct Run: Sendable {
    package let violation: String?
    package let history: UInt64
    package let events: Int
    package let faults: [Fault: Int]
    /// The events, one sentence per line; empty unless narration was requested.
    package let lines: [String]

    package init(
        _ schedule: Schedule, damagedBy mutant: Mutant? = nil, coverage: inout Coverage, isTold: Bool = false
    ) {
        var simulation = Simulation(schedule, damagedBy: mutant, isTold: isTold)
        // The coverage is swapped in, not copied.
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
