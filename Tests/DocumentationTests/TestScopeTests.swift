internal import Foundation
internal import Testing

@Suite("The page on the tests says what runs when")
struct TestScopeTests {
    private let page = Result { try Repository.text("Docs/Testing.md") }

    @Test("Each test of `make check` alone has a row, and each row is such a test")
    func rows() throws {
        var titles: Set<String> = []
        let attribute = #/@(?:Suite|Test)\(\s*"((?:[^"\\]|\\.)*)"([^{]*?)(?:struct|func) /#
        for path in try Repository.files(below: "Tests", ending: "Tests.swift") {
            for match in try Repository.text(path).matches(of: attribute) where match.2.contains("TestScope.isCheck") {
                titles.insert(String(match.1))
            }
        }
        // Backends of the conformance suite stand in a table of their own.
        let backends = try firstCells(of: "## The conformance suite")
        let rows = try firstCells(of: "## In `make check` alone")
        #expect(rows.count > 10)
        #expect(Set(rows) == titles.subtracting(backends))
        #expect(titles.intersection(backends).count == 3)
    }

    @Test("The long cases of the conformance suite are those that the page names")
    func longCases() throws {
        let source = try Repository.text("Tests/Support/TestScope.swift")
        let list = try #require(source.firstMatch(of: /let longCases: Set = \[([^\]]*)\]/)).1
        let sentence = try #require(try page.get().firstMatch(of: /The long cases are ([^.]*)\./)).1
        let id = /[A-Z][0-9]+[a-z]/
        let ids = list.matches(of: id).map { String($0.0) }
        #expect(ids.count > 3)
        #expect(ids.sorted() == sentence.matches(of: id).map { String($0.0) }.sorted())
    }

    /// The first column of the table under a heading, without the table's head.
    private func firstCells(of heading: String) throws -> [String] {
        let text = try page.get()
        let part = text[try #require(text.range(of: heading)).upperBound...].split(separator: "\n## ")[0]
        return part.split(separator: "\n").filter { $0.hasPrefix("|") }.dropFirst(2).map {
            $0.split(separator: "|")[0].trimmingCharacters(in: .whitespaces)
        }
    }
}
