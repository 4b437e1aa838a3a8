internal import Simulation

/// What the program is asked to do.
struct Command {
    static let usage = """
        usage: sharedcore-simulate [--schedules N] [--first SEED] [--workers N]   run schedules, judge, count
               sharedcore-simulate --seed SEED [--mutant NAME] [--whole]          tell the story of one, shrunk when it fails
               sharedcore-simulate --mutants [--schedules N]                      how many schedules each mutant survives
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
            case "--mutant":
                guard let name = rest.popFirst(), let known = Mutant.all.first(where: { $0.name == name }) else {
                    throw CommandLineProblem(
                        sentence: "--mutant takes one of these names:\n"
                            + Mutant.all.map { "  " + $0.name }.joined(separator: "\n"))
                }
                mutant = known
            default: throw CommandLineProblem(sentence: "“\(option)” is no option.")
            }
        }
    }

    /// Gives whether all is well.
    func run() async -> Bool {
        if let seed { return tell(seed) }
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
