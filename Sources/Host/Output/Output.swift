internal import Platform
internal import ProgramOutput

/// Standard output, a line at a time: JSON for programs or text for people.
///
/// Writing happens on a thread of its own, because a pipe with a slow reader blocks.
final class Output: Sendable {
    /// True if lines are JSON objects.
    let json: Bool

    private let thread = SerialThread(name: "output")

    init(json: Bool) {
        self.json = json
    }

    /// Prints a result as text or JSON, as the user chose. A text is one line and may have tabs. Other control
    /// characters are escaped, so that foreign text can neither control the terminal nor begin a line. In a locale
    /// without UTF-8, typographic characters of a text become ASCII.
    ///
    /// - Throws: ``OutputClosed`` when the reader has closed the pipe, ``OutputFailed`` when the result cannot be written.
    func emit(text: @autoclosure () -> String, json object: @autoclosure () -> JSONObject) async throws {
        try await write(line: json ? object().line : ProgramText.inLocale(ProgramText.columns(text())))
    }

    /// Prints content of the group, as ``emit(text:json:)`` does, but without replacing characters for the locale.
    ///
    /// - Throws: As ``emit(text:json:)``.
    func emit(data: @autoclosure () -> String, json object: @autoclosure () -> JSONObject) async throws {
        try await write(line: json ? object().line : ProgramText.columns(data()))
    }

    /// Prints a result of several text lines. Characters are escaped as in ``emit(text:json:)``, and tabs too. On a
    /// terminal, a line that is too wide is wrapped below itself.
    ///
    /// - Throws: As ``emit(text:json:)``.
    func emit(lines: @autoclosure () -> [String], json object: @autoclosure () -> JSONObject) async throws {
        if json { return try await write(line: object().line) }
        let shown = lines().map { ProgramText.inLocale(ProgramText.oneLine($0)) }
        guard let width = columnCount else { return try await write(line: shown.joined(separator: "\n")) }
        try await write(line: shown.flatMap { LineWrap.lines(of: $0, width: width) }.joined(separator: "\n"))
    }

    /// The number of columns of the terminal; nil for JSON, and if the output is no terminal.
    var columnCount: Int? { json ? nil : StandardStream.output.columnCount }

    /// Prints a result with a text in this program's colours.
    ///
    /// - Throws: As ``emit(text:json:)``.
    func emit(text: @autoclosure () -> PaintedText, json object: @autoclosure () -> JSONObject) async throws {
        try await write(line: json ? object().line : ProgramText.inLocale(text().shown))
    }

    /// The bytes of results that are printed at once.
    private static let batchByteCount = 64 << 10

    /// Prints many results as ``emit(text:json:)`` does, without a change of threads and a system call for each.
    ///
    /// - Throws: As ``emit(text:json:)``; `CancellationError` between two batches of a cancelled task.
    func emit<Element>(
        each elements: some Sequence<Element>, text: (Element) -> String, json object: (Element) -> JSONObject
    ) async throws {
        var bytes: [UInt8] = []
        for element in elements {
            bytes += (json ? object(element).line : ProgramText.columns(text(element))).utf8
            bytes.append(UInt8(ascii: "\n"))
            guard bytes.count >= Self.batchByteCount else { continue }
            try Task.checkCancellation()
            try await write(bytes)
            bytes = []
        }
        if !bytes.isEmpty { try await write(bytes) }
    }

    /// Prints a line without copying it: a line with the text of a message can have megabytes, and an Executor's memory
    /// is limited.
    private func write(line: consuming String) async throws {
        line.append("\n")
        let text = line
        try await print { () throws(SystemCallError) in try StandardStream.output.write(text: text) }
    }

    /// Prints the confirmation of a change, as ``emit(text:json:)`` prints results.
    ///
    /// - Throws: ``OutputFailed``, also if the reader has closed the pipe, because it does not learn that the change
    ///   was made.
    func confirm(text: @autoclosure () -> String, json object: @autoclosure () -> JSONObject) async throws {
        try await Self.requiringReader { try await emit(text: text(), json: object()) }
    }

    /// Prints the receipt of a change that returns content of the group, as ``emit(data:json:)`` prints it.
    ///
    /// - Throws: As ``confirm(text:json:)``.
    func confirm(data: @autoclosure () -> String, json object: @autoclosure () -> JSONObject) async throws {
        try await Self.requiringReader { try await emit(data: data(), json: object()) }
    }

    private static func requiringReader(_ print: () async throws -> Void) async throws {
        do {
            try await print()
        } catch is OutputClosed {
            throw OutputFailed(
                SystemCallError("write", number: SystemCallError.Number.brokenPipe, at: "standard output"))
        }
    }

    /// Runs `body` for as long as another process may read the output.
    ///
    /// - Throws: ``OutputClosed`` when the last reader of a pipe has gone; the errors of `body`.
    func whileRead(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let end = Task {
            try await Abandonable.run(on: SerialThread(name: "output-end"), grace: .zero) {
                StandardStream.output.waitForEndOfReader()
            }
        }
        try await Self.run(body, until: end)
    }

    /// Runs `body` until `end` returns that no reader is left.
    static func run(
        _ body: @escaping @Sendable () async throws -> Void, until end: Task<Bool, any Error>
    ) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                if try await Self.isClosed(by: end) { throw OutputClosed() }
                return false
            }
            group.addTask {
                try await body()
                return true
            }
            // When one of the two tasks ends, cancel the other.
            defer { group.cancelAll() }
            while let isOver = try await group.next(), !isOver {}
        }
    }

    /// Returns the result of `end`, which is true if no reader is left. Returns false if the wait is cancelled; then an
    /// error of printing shows whether the reader is gone.
    static func isClosed(by end: Task<Bool, any Error>) async throws -> Bool {
        do {
            return try await withTaskCancellationHandler {
                try await end.value
            } onCancel: {
                end.cancel()
            }
        } catch is CancellationError {
            return false
        }
    }

    /// Prints bytes unchanged.
    func write(_ bytes: [UInt8]) async throws {
        try await print { () throws(SystemCallError) in try StandardStream.output.write(bytes) }
    }

    private func print(_ write: @escaping @Sendable () throws(SystemCallError) -> Void) async throws {
        do {
            try await Abandonable.run(on: thread, grace: .seconds(1)) { try write() }
        } catch let error as SystemCallError {
            throw error.isBrokenPipe ? OutputClosed() : OutputFailed(error)
        }
    }
}

/// Standard output has no reader any more.
struct OutputClosed: Error {}

/// Standard output could not be written.
struct OutputFailed: Error {
    let cause: SystemCallError

    init(_ cause: SystemCallError) { self.cause = cause }
}
