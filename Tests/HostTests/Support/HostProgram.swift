internal import CoreAPITesting
internal import FoundationEssentials
internal import Glibc
internal import Platform
internal import Subprocess
internal import SystemPackage
internal import TestSupport

/// The built program `sharedcore`, run as a user runs it, in a directory and an environment of the test's own.
struct HostProgram: Sendable {
    /// The result of a run.
    struct Ended: Sendable {
        let status: Int32
        let output: String
        let errors: String

        /// The lines of standard output as objects.
        func objects() throws -> [[String: JSONField]] {
            try output.split(separator: "\n").map { line in
                try JSONDecoder().decode([String: JSONField].self, from: Data(line.utf8))
            }
        }
    }

    /// The directory that the program is called in, and that holds everything it writes.
    let directory: TemporaryDirectory
    /// The environment beside `PATH` and the user's directories.
    var environment: [String: String] = [:]

    /// The program's name.
    private let name: String

    init(named name: String = "sharedcore") throws {
        self.init(named: name, in: try TemporaryDirectory())
    }

    /// A program in the directory of another.
    init(named name: String, in directory: TemporaryDirectory) {
        BrokenPipes.areErrors
        self.name = name
        self.directory = directory
        try? BackgroundHubs.shared.get().add(directory.path)
    }

    /// The path of the program: beside the bundle that holds this test.
    var path: String { get throws { try ChildProcess.built(name) } }

    /// Writes a file into the program's directory.
    func write(_ content: String, to name: String) throws {
        try write(bytes: Array(content.utf8), to: name)
    }

    /// Writes a file of any bytes into the program's directory.
    ///
    /// Not by Foundation: its descriptor is inherited by a program that another test starts meanwhile. A core leaves a
    /// message alone while a process has it open for writing.
    func write(bytes: [UInt8], to name: String) throws {
        let file = try OpenFile(path: directory.path(of: name), .create)
        try file.truncate(to: 0)
        try file.write(bytes, at: 0)
        // The mask of the tests may let a group write: a configuration that others can write is refused.
        chmod(directory.path(of: name), 0o644)
    }

    /// The lines of a file in the program's directory as objects.
    func objects(in name: String) throws -> [[String: JSONField]] {
        let text = try String(contentsOf: URL(filePath: directory.path(of: name)), encoding: .utf8)
        return try text.split(separator: "\n").map { line in
            try JSONDecoder().decode([String: JSONField].self, from: Data(line.utf8))
        }
    }

    /// Makes a directory in the program's directory.
    func makeDirectory(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: directory.path(of: name), withIntermediateDirectories: true)
    }

    /// Runs the program to its end.
    func run(_ arguments: String..., input: String = "") async throws -> Ended {
        try await run(arguments, input: input)
    }

    /// Runs the program to its end.
    func run(_ arguments: [String], input: String = "") async throws -> Ended {
        let configuration = try configuration(arguments)
        return try await withTimeout(TestTimeout.long, "the end of sharedcore \(arguments.joined(separator: " "))") {
            let result = try await Subprocess.run(
                configuration, input: .string(input), output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
            return Ended(
                status: result.terminationStatus.number, output: result.standardOutput,
                errors: result.standardError)
        }
    }

    /// Runs a script of the shell that finds the program by its name.
    ///
    /// - Parameter fifo: The name of a pipe to make in the directory first.
    func shell(_ script: String, fifo: String? = nil) async throws -> Ended {
        if let fifo { mkfifo(directory.path(of: fifo), 0o600) }
        let program = try configuration([])
        let folder = try path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
        let configuration = Subprocess.Configuration(
            executable: .path("/bin/bash"), arguments: ["-c", script],
            environment: program.environment.updating(["PATH": folder + ":/usr/bin:/bin"]),
            workingDirectory: program.workingDirectory)
        return try await withTimeout(TestTimeout.long, "the end of “\(script)”") {
            let result = try await Subprocess.run(
                configuration, input: .none, output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
            return Ended(
                status: result.terminationStatus.number, output: result.standardOutput,
                errors: result.standardError)
        }
    }

    /// All of the environment.
    var variables: [String: String] {
        [
            "PATH": "/usr/bin:/bin", "HOME": directory.path, "XDG_STATE_HOME": directory.path(of: "state"),
            "XDG_CONFIG_HOME": directory.path(of: "config"), "LC_ALL": "C.UTF-8",
        ].merging(environment) { $1 }
    }

    /// The configuration that starts the program with these arguments.
    func configuration(_ arguments: [String]) throws -> Subprocess.Configuration {
        var variables: [Subprocess.Environment.Key: String] = [:]
        for (name, value) in self.variables { variables[.init(stringLiteral: name)] = value }
        return Subprocess.Configuration(
            executable: .path(FilePath(try path)), arguments: Arguments(arguments),
            environment: .custom(variables), workingDirectory: FilePath(directory.path))
    }
}

extension TerminationStatus {
    /// The exit status; for an end by a signal, the status that a shell reports.
    var number: Int32 {
        switch self {
        case .exited(let code): code
        case .signaled(let signal): 128 + signal
        }
    }
}
