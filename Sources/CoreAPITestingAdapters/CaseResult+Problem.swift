internal import CoreAPITesting

extension CaseResult {
    /// Returns the reason why a test fails with this result; nil if the test passes.
    func problem(leavingOut gaps: [String: String]) -> String? {
        let id = conformanceCase.id
        switch outcome {
        case .passed:
            return gaps[id].map { "\(id) is said to be left out (\($0)), but it passes." }
        case .failed(let message):
            return "\(id): \(message)"
        case .interrupted:
            return "\(id) was interrupted"
        case .unsupported(let reason), .skipped(let reason):
            return gaps[id] == nil ? "\(id) was \(outcome.word): \(reason)" : nil
        }
    }
}

extension CaseResult {
    /// The case, its place among all, its outcome and its duration: `S6a (41 of 205): passed after 31 ms`.
    var line: String {
        let cases = ConformanceSuite.cases
        let place = cases.firstIndex(of: conformanceCase).map { " (\($0 + 1) of \(cases.count))" } ?? ""
        return "\(conformanceCase.id)\(place): \(outcome.word) after \(Int(duration / .milliseconds(1))) ms"
    }

    /// Prints the progress and the remarks, which neither framework has a place for in a test that passes.
    func printReport() {
        print(line)
        for remark in remarks { print("\(conformanceCase.id): \(remark)") }
    }
}
