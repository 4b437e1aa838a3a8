internal import CoreAPITesting
internal import Foundation
internal import TestSupport
internal import Testing

@Suite("The page on the tests says what runs when")
struct TestScopeTests {
    private let page = Result { try Repository.text("Docs/Internals/Testing.md") }

    @Test("Each test of `make check` alone has a row, and each row is such a test")
    func rows() throws {
        let titles = try Set(tests().filter { $0.attribute.contains(".enabled(if: TestScope.isCheck)") }.map(\.title))
        // Backends of the conformance suite stand in a table of their own.
        let backends = try firstCells(of: "## The conformance suite")
        let rows = try firstCells(of: "## In `make check` alone")
        #expect(rows.count > 10)
        #expect(Set(rows) == titles.subtracting(backends))
        #expect(titles.intersection(backends).count == 3)
    }

    @Test("Each test of which `make test` runs less has a row, and each row is such a test")
    func reduced() throws {
        // In two parts: the whole would make a row of this test.
        let choice = "TestScope.isCheck" + " ?"
        let titles = try Set(tests().filter { ($0.attribute + $0.body).contains(choice) }.map(\.title))
        let rows = try firstCells(of: "## Less of it in `make test`")
        #expect(rows.count > 3)
        #expect(Set(rows) == titles)
    }

    @Test("Each case of the conformance suite stands in the table of what tries it")
    func cases() throws {
        let expected = Self.table()
        let found = try part(of: "## The cases of the conformance suite").filter { $0.hasPrefix("|") }
        #expect(found == expected, "the table is:\n\(expected.joined(separator: "\n"))")
        // `make test` leaves out no rule.
        let rules = Set(ConformanceSuite.cases.map(\.rule))
        let left = ConformanceSuite.cases.filter { !TestScope.longestCases.contains($0.id) }
        #expect(Set(left.map(\.rule)) == rules)
    }

    /// A row for each rule of the suite.
    private static func table() -> [String] {
        var rows = [
            "| rule | `make test`, on each backend | in memory | `make check` alone |", "|---|---|---|---|",
        ]
        var rules: [String] = []
        for conformanceCase in ConformanceSuite.cases where rules.last != conformanceCase.rule {
            rules.append(conformanceCase.rule)
        }
        for rule in rules {
            let ids = ConformanceSuite.cases.filter { $0.rule == rule }.map(\.id)
            let once = TestScope.casesOnce.filter { $0.rule == rule }.map(\.id)
            let longest = ids.filter(TestScope.longestCases.contains)
            let cells = [[rule], once, ids.filter { !(once + longest).contains($0) }, longest]
            rows.append("| " + cells.map { $0.joined(separator: ", ") }.joined(separator: " | ") + " |")
        }
        return rows
    }

    /// A test or a suite in the sources.
    private struct Declared {
        let title: String
        /// The text between the title and the declaration.
        let attribute: String
        /// The text from the declaration to the next test or suite.
        let body: String
    }

    private func tests() throws -> [Declared] {
        let attribute = #/@(?:Suite|Test)\(\s*"((?:[^"\\]|\\.)*)"([\s\S]*?)(?:struct|func) /#
        return try Repository.files(below: "Tests", ending: "Tests.swift").flatMap { path -> [Declared] in
            let text = try Repository.text(path)
            let matches = text.matches(of: attribute)
            return matches.enumerated().map { index, match in
                let end = index + 1 < matches.count ? matches[index + 1].range.lowerBound : text.endIndex
                return Declared(
                    title: String(match.1), attribute: String(match.2), body: String(text[match.range.upperBound..<end])
                )
            }
        }
    }

    /// The lines under a heading, up to the next heading.
    private func part(of heading: String) throws -> [String] {
        let text = try page.get()
        let part = text[try #require(text.range(of: heading + "\n")).upperBound...].split(separator: "\n## ")[0]
        return part.split(separator: "\n").map(String.init)
    }

    /// The first column of the table under a heading, without the table's head.
    private func firstCells(of heading: String) throws -> [String] {
        try part(of: heading).filter { $0.hasPrefix("|") }.dropFirst(2).map {
            $0.split(separator: "|")[0].trimmingCharacters(in: .whitespaces)
        }
    }
}
