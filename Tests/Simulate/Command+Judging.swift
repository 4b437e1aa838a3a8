internal import Simulation

extension Command {
    /// Prints what a campaign came to. Gives whether no rule was broken and no transition is missing.
    func judge(_ report: Campaign.Report) -> Bool {
        print(
            "\(report.schedules) schedules with \(report.events) events, \(report.histories.count) distinct histories")
        print("faults:")
        for fault in Fault.allCases { print("  \(report.faults[fault] ?? 0) \(fault.rawValue)") }
        let missing = MachineTransition.required.filter { report.coverage[$0] == 0 }
        print(
            "\(MachineTransition.required.count - missing.count) of \(MachineTransition.required.count) transitions taken"
        )
        for transition in missing { print("never taken: \(transition)") }
        for failure in report.failures.prefix(10) {
            print("seed \(failure.seed): \(failure.violation)")
        }
        return missing.isEmpty && report.failures.isEmpty
    }

    /// Runs schedules of each mutant until one breaks a rule. Gives whether all were caught.
    func tryMutants() async -> Bool {
        var survivors = 0
        for mutant in Mutant.all {
            let limit = schedules ?? 20_000
            let report = Campaign(seeds: first..<first + limit, damagedBy: mutant, patience: 1).run()
            if let failure = report.failures.first {
                print("caught after \(report.schedules) schedules: \(mutant.name) (\(failure.violation))")
            } else {
                survivors += 1
                print("SURVIVED \(report.schedules) schedules: \(mutant.name)")
            }
        }
        return survivors == 0
    }
}
