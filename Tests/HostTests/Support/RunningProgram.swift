internal import CoreAPITesting
internal import FoundationEssentials
internal import Subprocess
internal import Synchronization
internal import TestSupport

/// A run of the program that continues while the test observes it.
struct RunningProgram: Sendable {
    let output: LineCollector
    let errors: LineCollector
    let pid: Int32
    let send: @Sendable (Signal) throws -> Void

    /// The lines of standard output so far, as objects.
    func objects() throws -> [[String: JSONField]] {
        try output.lines.map { try JSONDecoder().decode([String: JSONField].self, from: Data($0.utf8)) }
    }

    /// Waits until standard output has so many lines.
    func untilOutput(has count: Int) async throws {
        try await eventually("\(count) lines, not \(output.lines); errors: \(errors.lines)", timeout: TestTimeout.long)
        {
            output.lines.count >= count
        }
    }

    /// Waits until a line of standard error contains a text, for example that the program has begun to watch.
    func untilErrors(contain text: String) async throws {
        try await eventually("“\(text)” in \(errors.lines)", timeout: TestTimeout.long) {
            errors.lines.contains { $0.contains(text) }
        }
    }
}

/// The lines of a stream as they come.
final class LineCollector: Sendable {
    private let state = Mutex<[String]>([])

    var lines: [String] { state.withLock { $0 } }

    func collect(_ stream: SubprocessOutputSequence) async throws {
        for try await line in stream.strings() { state.withLock { $0.append(line) } }
    }
}

/// A program that did not end in time, with its output by then.
struct ProgramStood: Error, CustomStringConvertible {
    let arguments: [String]
    let output: [String]
    let errors: [String]

    var description: String {
        "sharedcore \(arguments.joined(separator: " ")) did not end:\n"
            + (output + errors).joined(separator: "\n")
    }
}

extension HostProgram {
    /// Starts the program and calls `body` while it runs. The body has to make it end.
    @discardableResult
    func running(
        _ arguments: String..., body: @escaping @Sendable (RunningProgram) async throws -> Void
    ) async throws -> Ended {
        try await running(arguments, body: body)
    }

    /// Starts the program and calls `body` while it runs. The body has to make it end.
    @discardableResult
    func running(
        _ arguments: [String], body: @escaping @Sendable (RunningProgram) async throws -> Void
    ) async throws -> Ended {
        let configuration = try configuration(arguments)
        let output = LineCollector()
        let errors = LineCollector()
        do {
            let status = try await withTimeout(TestTimeout.long, "the end") {
                try await Self.run(configuration, collecting: output, errors, body: body)
            }
            return Ended(
                status: status, output: output.lines.joined(separator: "\n"),
                errors: errors.lines.joined(separator: "\n"))
        } catch is ConditionNotMet {
            throw ProgramStood(arguments: arguments, output: output.lines, errors: errors.lines)
        }
    }

    private static func run(
        _ configuration: Subprocess.Configuration, collecting output: LineCollector, _ errors: LineCollector,
        body: @escaping @Sendable (RunningProgram) async throws -> Void
    ) async throws -> Int32 {
        try await Subprocess.run(configuration, input: .none, output: .sequence, error: .sequence) { execution in
            let program = RunningProgram(
                output: output, errors: errors, pid: execution.processIdentifier.value,
                send: { try execution.send(signal: $0) })
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await output.collect(execution.standardOutput) }
                group.addTask { try await errors.collect(execution.standardError) }
                do {
                    try await body(program)
                } catch {
                    try? execution.send(signal: .kill)
                    throw error
                }
                try await group.waitForAll()
            }
        }.terminationStatus.number
    }
}
