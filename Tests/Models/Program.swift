internal import Glibc

/// The models of designs, checked before the designs are implemented.
package enum Models {
    /// Each design, which has to break no rule, and each of its mutations, which has to break one.
    package static let cases: [ModelCase] =
        ActivityModel.cases + RestingModel.cases + BatonModel.cases + HubBatonModel.cases
}

/// Runs the models.
@main
enum Program {
    private static let usage = """
        usage: sharedcore-models          run every model: the design breaks no rule, each mutation breaks one
               sharedcore-models TEXT     run those whose name or mutation has the text, and print the shortest way to each broken rule
        """

    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        let text = arguments.first
        let chosen = Models.cases.filter { modelCase in
            guard let text else { return true }
            return modelCase.name.contains(text) || modelCase.mutation?.contains(text) == true
        }
        guard arguments.count <= 1, !chosen.isEmpty else {
            print(usage)
            exit(64)
        }
        var failures = 0
        for modelCase in chosen {
            let start = ContinuousClock.now
            let result = modelCase.run()
            let isWell = modelCase.isAsItShouldBe(result)
            if !isWell { failures += 1 }
            print(modelCase.line(of: result, after: start.duration(to: .now), isWell: isWell))
            guard text != nil || !isWell else { continue }
            for step in result.trace { print("    \(step)") }
            for landmark in result.missing { print("    never: \(landmark)") }
        }
        if failures > 0 { print("\(failures) of \(chosen.count) are not as they should be") }
        exit(failures == 0 ? 0 : 1)
    }
}

extension ModelCase {
    fileprivate func line(of result: Result, after time: Duration, isWell: Bool) -> String {
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        let extent =
            "\(result.isComplete ? "all " : "")\(result.stateCount) states, \(result.stepCount) steps, "
            + "\((seconds * 10).rounded() / 10) s"
        guard let mutation else {
            return "\(isWell ? "clean" : "BROKEN"): \(name): \(extent)" + (result.violation.map { " (\($0))" } ?? "")
        }
        return "\(isWell ? "found" : "SURVIVED"): \(mutation): \(name), \(extent), "
            + "\(result.trace.count) steps to it" + (result.violation.map { " (\($0))" } ?? "")
    }
}
