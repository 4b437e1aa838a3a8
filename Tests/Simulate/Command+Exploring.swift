internal import Simulation

extension Command {
    /// Explores all states of the groups with no more states than the limit. Returns false if a rule was broken.
    func explore() async -> Bool {
        var isWell = true
        for (setting, (report, time)) in zip(settings, await reports()) {
            let extent = report.isComplete ? "all \(report.stateCount)" : "only \(report.stateCount)"
            let seconds = time.components.seconds
            print("\(setting.name): \(extent) states, \(report.actionCount) steps, \(seconds) s")
            if let violation = report.violation {
                isWell = false
                print("  \(violation), after:")
                for line in report.timelineEvent { print("    \(line)") }
            }
        }
        return isWell
    }

    /// Explores the settings on all workers. Returns the reports in the order of the settings, with the time of each.
    private func reports() async -> [(Exploration.Report, Duration)] {
        let next = Counter(0)
        return await withTaskGroup(of: [(Int, Exploration.Report, Duration)].self) { group in
            for _ in 0..<workers {
                group.addTask {
                    var done: [(Int, Exploration.Report, Duration)] = []
                    while true {
                        let index = Int(next.take(1))
                        guard index < settings.count else { return done }
                        let start = ContinuousClock.now
                        let report = Exploration(settings[index], damagedBy: mutant, limit: states).run()
                        done.append((index, report, start.duration(to: .now)))
                    }
                }
            }
            var all: [(Int, Exploration.Report, Duration)] = []
            for await part in group { all += part }
            return all.sorted { $0.0 < $1.0 }.map { ($0.1, $0.2) }
        }
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
