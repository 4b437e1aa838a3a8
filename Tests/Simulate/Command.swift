internal import Simulation
internal import Synchronization

/// The parsed arguments of the program.
struct Command {
    static let usage = """
        usage: sharedcore-simulate [--schedules N] [--first SEED] [--workers N]   run schedules, judge, count
               sharedcore-simulate --seed SEED [--mutant NAME] [--whole]          tell the story of one, shrunk when it fails
               sharedcore-simulate --mutants [--mutant NAME] [--schedules N]       how many schedules each mutant survives
               sharedcore-simulate --explore [--mutants] [--states N] [--of WORDS]  explore every state of small groups whose name has the words
                   --unscheduled   with --mutants: those that no schedule detects
               sharedcore-simulate --transitions [--schedules N]                  list the transitions that were taken

        """

    var schedules: UInt64?
    var first: UInt64 = 0
    var workers = 2
    var seed: UInt64?
    var mutant: Mutant?
    var isWhole = false
    var triesMutants = false
    var listsTransitions = false
    var explores = false
    /// True to explore only the mutants that no schedule detects.
    var isUnscheduled = false
    var states = 5_000_000
    var settings = Exploration.Setting.all

    init(_ arguments: [String]) throws(CommandLineProblem) {
        var rest = arguments[...]
        func number(of option: String) throws(CommandLineProblem) -> UInt64 {
            guard let text = rest.popFirst(), let number = UInt64(text) else {
                throw CommandLineProblem(sentence: "\(option) takes a number.")
            }
            return number
        }
        while let option = rest.popFirst() {
            switch option {
            case "--schedules": schedules = try number(of: option)
            case "--first": first = try number(of: option)
            case "--workers": workers = Int(clamping: max(1, try number(of: option)))
            case "--seed": seed = try number(of: option)
            case "--whole": isWhole = true
            case "--mutants": triesMutants = true
            case "--transitions": listsTransitions = true
            case "--explore": explores = true
            case "--unscheduled": isUnscheduled = true
            case "--states": states = Int(clamping: try number(of: option))
            case "--of":
                guard let words = rest.popFirst() else { throw CommandLineProblem(sentence: "--of takes words.") }
                settings = settings.filter { $0.name.contains(words) }
            case "--mutant":
                guard let name = rest.popFirst(),
                    let known = (Mutant.every + Mutant.ofRest).first(where: { $0.name == name })
                else {
                    throw CommandLineProblem(
                        sentence: "--mutant takes one of these names:\n"
                            + Mutant.every.map { "  " + $0.name }.joined(separator: "\n"))
                }
                mutant = known
            default: throw CommandLineProblem(sentence: "“\(option)” is no option.")
            }
        }
    }

    /// Runs the command. Returns false for a broken rule, a mutant that survives or a required transition that was
    /// never taken.
    func run() async -> Bool {
        if let seed { return tell(seed) }
        if explores { return triesMutants ? exploreMutants() : await explore() }
        if triesMutants { return await tryMutants() }
        let report = await campaign(schedules ?? 100_000)
        if listsTransitions {
            for transition in report.coverage.taken() {
                print("\(report.coverage[transition])\t\(transition)")
            }
            return true
        }
        return judge(report)
    }
}

/// An error in the arguments.
struct CommandLineProblem: Error {
    let sentence: String
}

/// Hands out seeds.
final class Counter: Sendable {
    private let next: Atomic<UInt64>

    init(_ first: UInt64) {
        next = Atomic(first)
    }

    func take(_ count: UInt64) -> UInt64 {
        next.add(count, ordering: .relaxed).oldValue
    }
}

extension Command {
    /// Prints the history of one schedule, in its shortest form if it breaks a rule. Returns true if it breaks none.
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

extension Command {
    /// Prints the results of a campaign. Returns true if no rule was broken and no transition is missing.
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

    /// Runs schedules of each mutant until one breaks a rule. Returns true if all mutants were caught.
    func tryMutants() async -> Bool {
        var survivors = 0
        for mutant in mutant.map({ [$0] }) ?? Mutant.every {
            var report = Campaign.Report()
            if let seed = Mutant.seedsFound[mutant.name] {
                report = Campaign(seeds: seed..<seed + 1, damagedBy: mutant, waitingTime: 1).run()
            }
            if report.failures.isEmpty {
                report.add(await campaign(schedules ?? 100_000, damagedBy: mutant, waitingTime: 1))
            }
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

extension Command {
    /// Runs schedules on all workers. Each worker takes the next part when it is done with one.
    func campaign(_ schedules: UInt64, damagedBy mutant: Mutant? = nil, waitingTime: Int = 10) async -> Campaign.Report
    {
        let end = first + schedules
        let next = Counter(first)
        let part: UInt64 = 250
        var report = Campaign.Report()
        await withTaskGroup(of: Campaign.Report.self) { group in
            for _ in 0..<workers {
                group.addTask {
                    var sum = Campaign.Report()
                    while sum.failures.count < waitingTime {
                        let start = next.take(part)
                        guard start < end else { break }
                        let seeds = start..<min(start + part, end)
                        sum.add(Campaign(seeds: seeds, damagedBy: mutant, waitingTime: waitingTime).run())
                    }
                    // Nothing is left to the other workers.
                    _ = next.take(schedules)
                    return sum
                }
            }
            for await part in group { report.add(part) }
        }
        report.failures.sort { $0.seed < $1.seed }
        return report
    }
}
