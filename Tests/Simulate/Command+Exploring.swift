internal import Simulation

extension Command {
    /// Explores all states of the groups with no more states than the limit. Returns false if a rule was broken.
    func explore() -> Bool {
        var isWell = true
        for setting in settings {
            let start = ContinuousClock.now
            let report = Exploration(setting, damagedBy: mutant, limit: states).run()
            let extent = report.isComplete ? "all \(report.stateCount)" : "only \(report.stateCount)"
            let seconds = start.duration(to: .now).components.seconds
            print("\(setting.name): \(extent) states, \(report.actionCount) steps, \(seconds) s")
            if let violation = report.violation {
                isWell = false
                print("  \(violation), after:")
                for line in report.timelineEvent { print("    \(line)") }
            }
        }
        return isWell
    }

    /// Explores the states of each mutant until one breaks a rule. Returns true if all mutants were caught.
    func exploreMutants() -> Bool {
        var survivors = 0
        let mutants = isUnscheduled ? Exploration.unscheduledMutants : Exploration.mutants
        for mutant in mutant.map({ [$0] }) ?? mutants {
            var found: (Exploration.Setting, Exploration.Report)?
            let known = settings.filter { $0.name == Exploration.placesFound[mutant.name] }.map { ($0, states) }
            // Most are found among few states of one setting or another.
            let attempts = [min(20_000, states), states].flatMap { limit in settings.map { ($0, limit) } }
            for (setting, limit) in known + attempts where found == nil {
                let report = Exploration(setting, damagedBy: mutant, limit: limit).run()
                if report.violation != nil { found = (setting, report) }
            }
            guard let (setting, report) = found else {
                survivors += 1
                print("SURVIVED: \(mutant.name)")
                continue
            }
            print(
                "caught after \(report.stateCount) states of “\(setting.name)”: \(mutant.name) (\(report.violation ?? ""))"
            )
        }
        return survivors == 0
    }
}
