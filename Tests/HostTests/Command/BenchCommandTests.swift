internal import CoreAPITesting
internal import FoundationEssentials
internal import Glibc
internal import Platform
internal import Subprocess
internal import SystemPackage
internal import TestSupport
internal import Testing

/// `bench` is a separate program that users do not install.
@Suite("bench")
struct BenchCommandTests {
    /// `sharedcore` alone in a directory, with programs that the test adds.
    private let programs: TemporaryDirectory

    init() async throws {
        programs = try TemporaryDirectory()
        let built = try HostProgram().path
        // The program finds others beside the path that it was started by. The directory may be on another file system.
        guard link(built, programs.path(of: "sharedcore")) != 0 else { return }
        // Not copied by this process: a program that another test starts meanwhile would have the copy open for
        // writing, and a file that is open for writing cannot be executed.
        let copy = try ChildProcess("cp", [built, programs.path(of: "sharedcore")])
        try #require(await copy.end() == .exited(0))
    }

    private func run(_ arguments: [String], file: String? = nil) async throws -> HostProgram.Ended {
        let host = try HostProgram()
        if let file { try host.write(file, to: "sharedcore.yaml") }
        var configuration = try host.configuration(arguments)
        configuration.executable = .path(FilePath(programs.path(of: "sharedcore")))
        let whole = configuration
        return try await withTimeout(TestTimeout.long, "the end of sharedcore \(arguments.joined(separator: " "))") {
            let result = try await Subprocess.run(
                whole, input: .none, output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
            return HostProgram.Ended(
                status: result.terminationStatus.number, output: result.standardOutput, errors: result.standardError)
        }
    }

    /// Puts a script in the place of `sharedcore-bench`.
    private func install(_ script: String) throws {
        let path = programs.path(of: "sharedcore-bench")
        let file = try OpenFile(path: path, .createNew)
        try file.write(Array(("#!/bin/sh\n" + script + "\n").utf8), at: 0)
        chmod(path, 0o700)
    }

    @Test("If sharedcore-bench is not installed, the command ends with 69 and says how to build it")
    func absent() async throws {
        let ended = try await run(["bench", "handover"])
        #expect(ended.status == 69 && ended.output.isEmpty)
        #expect(ended.errors.contains("sharedcore-bench is missing") && ended.errors.contains("make release"))
        #expect(ended.errors.split(separator: "\n").count == 1)
    }

    @Test("It becomes sharedcore-bench, which gets the arguments and the configuration; its status is the command's")
    func present() async throws {
        try install(
            #"printf '%s\n' "$@" "$SHAREDCORE_EXECUTOR_MEMORY" "$SHAREDCORE_CONFIG"; echo problem >&2; exit 42"#)
        let ended = try await run(
            ["--backend", "memory", "bench", "handover", "--json", "store.get", "--samples", "7"],
            file: "durability: disk\nexecutor:\n  memory: 48MiB\n")
        #expect(ended.status == 42 && ended.errors == "problem\n", "\(ended.errors)")
        let lines = ended.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        try #require(lines.count > 11, "\(ended.output)")
        #expect(
            Array(lines.prefix(10)) == [
                "--backend", "memory", "--durability", "disk", "--json", "--samples", "7", "--", "handover",
                "store.get",
            ])
        #expect(lines[10] == "48MiB", "what the program starts in turn has the same configuration")
        #expect(lines[11] == "/dev/null", "and reads no file")
    }

    @Test("A signal of the user is the measuring program's, and it is listened to there")
    func signals() async throws {
        try install("grep -E '^Sig(Blk|Ign)' /proc/self/status; kill -TERM $$; sleep 60")
        let ended = try await run(["bench"])
        #expect(ended.status == 128 + SIGTERM)
        let masks = ended.output.split(separator: "\n").map { $0.split(separator: "\t").last.map(String.init) }
        #expect(masks.count == 2)
        for mask in masks {
            let bits = try #require(UInt64(mask ?? "", radix: 16))
            for signal in [SIGINT, SIGTERM, SIGPIPE] { #expect(bits >> (signal - 1) & 1 == 0) }
        }
    }

    @Test("A wrong configuration is refused before anything is measured")
    func misconfigured() async throws {
        try install("echo measured")
        let ended = try await run(["bench"], file: "backend: carrier-pigeon\n")
        #expect(ended.status == 78 && ended.output.isEmpty, "\(ended.errors)")
    }
}
