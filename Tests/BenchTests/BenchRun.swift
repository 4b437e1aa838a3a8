internal import Foundation
internal import Platform
internal import TestSupport

/// A run of the built `sharedcore-bench`, with its temporary files in a directory of the test's own.
final class BenchRun: Sendable {
    /// A figure as a line of JSON tells it.
    struct Line: Decodable {
        let name, unit: String
        let p50, p99, ratio, peerRatio, limitP50, peerP50: Double?
        let samples: Int
        let limit, peer: String?
    }

    let program: ChildProcess
    let directory: TemporaryDirectory

    init(_ arguments: [String], in directory: TemporaryDirectory) throws {
        self.directory = directory
        // The leader of a process group, as a shell makes of a command at a terminal.
        program = try ChildProcess(
            "setsid", [ChildProcess.built("sharedcore-bench")] + arguments,
            environment: ["TMPDIR": directory.path, "LC_ALL": "C.UTF-8"], errors: directory.path(of: "errors"))
    }

    convenience init(_ arguments: String...) throws {
        try self.init(arguments, in: TemporaryDirectory())
    }

    convenience init(_ arguments: [String]) throws {
        try self.init(arguments, in: TemporaryDirectory())
    }

    /// Waits for its end.
    func status() async -> ProgramEnd { await program.end() }

    var text: String { program.lines.joined(separator: "\n") }

    var errors: String { (try? String(contentsOfFile: directory.path(of: "errors"), encoding: .utf8)) ?? "" }

    /// The printed lines, as figures.
    func lines() throws -> [Line] {
        try program.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    /// The names of the fields of each line.
    func fields() throws -> [Set<String>] {
        try program.lines.map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return Set(object.map { Array($0.keys) } ?? [])
        }
    }
}
