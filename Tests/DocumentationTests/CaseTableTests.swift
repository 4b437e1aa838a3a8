internal import CoreAPITesting
internal import FileCases
internal import Testing

@Suite("The contract lists the cases that test it")
struct CaseTableTests {
    @Test("Each case has one row in the tables of the contract, in its order, with the words of the case")
    func rows() throws {
        let page = try Repository.text("Docs/Reference/Contract.md")
        let rows = page.split(separator: "\n").compactMap { line -> String? in
            let cells = line.split(separator: "|").map { $0.drop { $0 == " " } }
            guard cells.count >= 4, let match = cells[1].wholeMatch(of: #/((?:F-)?[A-Z]\d+[a-z]) /#) else { return nil }
            return "\(match.1): \(cells[2])"
        }
        let cases = (ConformanceSuite.cases + FileCases.all).map { "\($0.id): \($0.title) " }
        let missing = cases.filter { !rows.contains($0) }
        let unknown = rows.filter { !cases.contains($0) }
        #expect(!cases.isEmpty && missing.isEmpty && unknown.isEmpty)
        let isInOrder = rows == cases
        #expect(isInOrder)
    }
}
