internal import CoreAPITesting

extension CaseResult {
    /// Says what the case ran with, which neither framework has a place for in a test that passes.
    func printRemarks() {
        for remark in remarks { print("\(conformanceCase.id): \(remark)") }
    }
}
