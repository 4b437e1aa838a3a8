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
    /// Says what the case ran with, which neither framework has a place for in a test that passes.
    func printRemarks() {
        for remark in remarks { print("\(conformanceCase.id): \(remark)") }
    }
}
