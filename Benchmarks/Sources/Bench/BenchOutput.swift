internal import Platform
internal import ProgramOutput
internal import Synchronization

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
