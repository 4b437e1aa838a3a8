internal import FoundationEssentials
internal import Subprocess
internal import Synchronization
internal import TestSupport

/// A run of the program that goes on while the test looks at it.
struct RunningProgram: Sendable {
    let output = LineCollector()
    let errors = LineCollector()
    let pid: Int32
    let send: @Sendable (Signal) throws -> Void

    /// The lines of standard output so far, as objects.
    func objects() throws -> [[String: JSONField]] {
        try output.lines.map { try JSONDecoder().decode([String: JSONField].self, from: Data($0.utf8)) }
    }

    /// Waits until standard output has so many lines.
    func untilOutput(has count: Int) async throws {
        try await eventually("\(count) lines, not \(output.lines); errors: \(errors.lines)") {
            output.lines.count >= count
        }
    }

    /// Waits until a line of standard error contains a text, such as that the program has begun to watch.
    func untilErrors(contain text: String) async throws {
        try await eventually("“\(text)” in \(errors.lines)") { errors.lines.contains { $0.contains(text) } }
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

extension HostProgram {
    /// Starts the program and calls `body` while it runs. The body has to make it end.
    func running(
        _ arguments: String..., body: @escaping @Sendable (RunningProgram) async throws -> Void
    ) async throws -> Ended {
        let configuration = try configuration(arguments)
        return try await within(Patience.long, "the end of sharedcore \(arguments.joined(separator: " "))") {
            let result = try await Subprocess.run(
                configuration, input: .none, output: .sequence, error: .sequence
            ) { execution in
                let program = RunningProgram(
                    pid: execution.processIdentifier.value, send: { try execution.send(signal: $0) })
                return try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await program.output.collect(execution.standardOutput) }
                    group.addTask { try await program.errors.collect(execution.standardError) }
                    do {
                        try await body(program)
                    } catch {
                        try? execution.send(signal: .kill)
                        throw error
                    }
                    try await group.waitForAll()
                    return (program.output.lines, program.errors.lines)
                }
            }
            let status = result.terminationStatus.number
            let (output, errors) = result.takeClosureResult()
            return Ended(
                status: status, output: output.joined(separator: "\n"), errors: errors.joined(separator: "\n"))
        }
    }
}
