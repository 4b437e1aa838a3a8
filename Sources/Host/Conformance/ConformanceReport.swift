internal import CoreAPI
internal import CoreAPITesting
internal import ProgramOutput

/// The results of the cases, for programs and for people.
struct ConformanceReport {
    let backend: String
    /// How many cases there are to try.
    let caseCount: Int
    private(set) var results: [CaseResult] = []

    init(backend: String, caseCount: Int) {
        self.backend = backend
        self.caseCount = caseCount
    }

    mutating func add(_ result: CaseResult) {
        results.append(result)
    }

    /// Returns the number of cases with an outcome, named by its word in ``CaseOutcome``.
    func count(of word: String) -> Int {
        results.count { $0.outcome.word == word }
    }

    /// How many cases did not run to their end, because the command was interrupted.
    var interrupted: Int { caseCount - results.count { $0.outcome != .interrupted } }

    /// Returns the result of one case as JSON.
    static func json(_ result: CaseResult) -> JSONObject {
        [
            "id": .text(result.conformanceCase.id), "title": .text(result.conformanceCase.title),
            "result": .text(result.outcome.word), "ms": .natural(result.duration.wholeMilliseconds),
            "message": result.message.map { .text($0) } ?? .null,
        ]
    }

    /// The last line, for programs.
    var json: JSONObject {
        [
            "event": "summary", "backend": .text(backend), "passed": .integer(Int64(count(of: "passed"))),
            "failed": .integer(Int64(count(of: "failed"))), "unsupported": .integer(Int64(count(of: "unsupported"))),
            "skipped": .integer(Int64(count(of: "skipped"))), "interrupted": .integer(Int64(interrupted)),
        ]
    }

    /// The table for users: a line for each case, then the cases that did not pass, then the totals.
    var lines: [String] {
        var lines: [String] = []
        for result in results {
            let mark = Self.marks[result.outcome.word] ?? "?"
            let id = result.conformanceCase.id
            lines.append(
                "\(mark) \(id)\(String(repeating: " ", count: max(1, 6 - id.count)))\(result.conformanceCase.title)"
                    + "  \(result.duration.wholeMilliseconds) ms")
            guard let message = result.message else { continue }
            for line in message.split(separator: "\n") { lines.append("        \(line)") }
        }
        lines.append("")
        lines.append(
            "\(backend): \(count(of: "passed")) passed, \(count(of: "failed")) failed, "
                + "\(count(of: "unsupported")) unsupported, \(count(of: "skipped")) skipped"
                + (interrupted > 0 ? "; interrupted: \(interrupted) of \(caseCount) did not run to their end" : ""))
        return lines
    }

    private static let marks = ["passed": "✓", "failed": "✗", "unsupported": "–", "skipped": "?", "interrupted": "…"]
}

extension CaseResult {
    /// The reason why the case did not pass; for a case that passed, its remarks, if it has any.
    fileprivate var message: String? {
        outcome.message ?? (remarks.isEmpty ? nil : remarks.joined(separator: "; "))
    }
}
