internal import BundledHarnesses
internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
package import Platform
internal import TestSupport

/// A case that is tried on the file backend in a process of its own, which may have a defect, as the processes that it
/// starts have. Only the debug build of the second process of the tests can do that.
package struct FileTrial: Sendable {
    /// The outcome of a trial.
    package struct Report: Sendable {
        /// `passed`, `failed`, `unsupported` or `skipped`.
        package let word: String
        package let message: String
    }

    private static let command = "try"

    private let program: String
    private let conformanceCase: ConformanceCase
    private let timeout: Duration
    private let directory: String

    /// The trial that the arguments of a process name; nil if they name none.
    package init?(_ arguments: [String]) {
        guard arguments.count == 5, arguments[1] == Self.command, let conformanceCase = FileCases.named(arguments[2]),
            let seconds = Int(arguments[3])
        else { return nil }
        program = arguments[0]
        self.conformanceCase = conformanceCase
        timeout = .seconds(seconds)
        directory = arguments[4]
    }

    /// Tries the case and writes its report.
    package func run() async {
        let harness = FileHarness(durability: .process, in: directory, peer: PeerProgram(path: program))
        let result = await TestTimeout.$usual.withValue(timeout) {
            await conformanceCase.run(on: harness, seed: 1, timeout: TestTimeout.long)
        }
        // One line, as the other side reads lines.
        let message = (result.outcome.message ?? "").split(separator: "\n").joined(separator: " | ")
        let bytes = Array("\(result.outcome.word) \(message)\n".utf8)
        _ = write(STDOUT_FILENO, bytes, bytes.count)
    }

    /// Tries a case in another process.
    ///
    /// - Parameters:
    ///   - patience: How long the case waits for an event that must come.
    ///   - defect: The defect of the processes; nil for none.
    ///   - place: The fail points that are armed from the start.
    package static func report(
        on caseID: String, timeout: Duration, defect: Defect? = nil, arming place: String? = nil
    ) async throws -> Report {
        let directory = try TemporaryDirectory()
        var environment: [String: String] = [:]
        if let defect { environment["SHAREDCORE_DEFECT"] = "\(defect)" }
        if let place { environment["SHAREDCORE_FAIL_POINT"] = place }
        let process = try ChildProcess(
            try ChildProcess.built("sharedcore-test-peer"),
            [command, caseID, "\(timeout.components.seconds)", directory.path], environment: environment)
        let end = try await withTimeout(TestTimeout.long + TestTimeout.usual, "the trial of \(caseID) ends") {
            await process.end()
        }
        guard let line = process.lines.last, let space = line.firstIndex(of: " ") else {
            return Report(word: "failed", message: "nothing was reported: \(end)")
        }
        return Report(word: String(line[..<space]), message: String(line[line.index(after: space)...]))
    }
}
