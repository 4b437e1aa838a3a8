internal import Simulation

extension Command {
    /// Tells the story of one schedule, in its shortest form when it breaks a rule. Gives whether it breaks none.
    func tell(_ seed: UInt64) -> Bool {
        var schedule = Schedule(seed: seed)
        var coverage = Coverage()
        let first = Run(schedule, damagedBy: mutant, coverage: &coverage)
        if let violation = first.violation, !isWhole {
            let rule = violation.prefix { $0 != ":" }
            var runs = 0
            let whole = schedule.incidents.count
            schedule = schedule.shrunk { candidate in
                runs += 1
                return Run(candidate, damagedBy: mutant, coverage: &coverage).violation?.hasPrefix(rule) == true
            }
            print("Shrunk from \(whole) incidents to \(schedule.incidents.count) in \(runs) runs.")
        }
        let run = Run(schedule, damagedBy: mutant, coverage: &coverage, isTold: true)
        for line in run.lines { print(line) }
        print(run.violation.map { "seed \(seed) breaks a rule. \($0)" } ?? "seed \(seed) breaks no rule.")
        return run.violation == nil
    }
}
