internal import Platform
internal import ProgramOutput
internal import Synchronization

/// The figures as a table for people: one line for each, and its rivals below it.
enum FigureTable {
    static func text(of results: [FigureResult]) -> String {
        var lines = [row("", "p50", "p99", "samples", "ratio")]
        for result in results {
            lines.append(
                row(
                    "\(result.name) (\(result.unit))", number(result.own.p50), number(result.own.p99),
                    String(result.own.count), ""))
            for (kind, rival) in result.rivals {
                if let absence = rival.absence {
                    lines.append("  \(kind): \(rival.name): \(absence)")
                    continue
                }
                lines.append(
                    row(
                        "  \(kind): \(rival.name)", number(rival.samples.p50), number(rival.samples.p99),
                        String(rival.samples.count), number(result.ratio(to: rival))))
            }
        }
        lines.append("")
        lines.append("A ratio below 1 says that SharedCore is faster, or smaller.")
        return lines.joined(separator: "\n")
    }

    private static func row(_ name: String, _ columns: String...) -> String {
        let padded = columns.map { String(repeating: " ", count: max(1, 11 - $0.count)) + $0 }
        return (name + String(repeating: " ", count: max(1, 52 - name.count)) + padded.joined()).trimmedEnd
    }

    /// About three significant digits.
    private static func number(_ value: Double?) -> String {
        guard let value else { return "–" }
        if value >= 100 { return String(Int(value.rounded())) }
        let scale: Double = value >= 10 ? 10 : value >= 1 ? 100 : 10000
        return ((value * scale).rounded() / scale).description
    }
}

extension String {
    fileprivate var trimmedEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}

/// Standard output: a line of JSON for each figure as it is told, or at the end a table for people.
final class BenchOutput: Sendable {
    private let json: Bool
    private let results = Mutex<[FigureResult]>([])

    init(json: Bool) {
        self.json = json
    }

    /// - Throws: The error of the write.
    @Sendable
    func add(_ result: FigureResult) throws {
        if json {
            try StandardStream.output.write(text: result.json.line + "\n")
        } else {
            results.withLock { $0.append(result) }
        }
    }

    /// Prints the table, where there is something for it.
    ///
    /// - Throws: The error of the write.
    func end() throws {
        let results = results.withLock { $0 }
        if !results.isEmpty { try StandardStream.output.write(text: FigureTable.text(of: results) + "\n") }
    }
}
