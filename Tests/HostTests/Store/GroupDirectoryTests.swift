internal import CoreAPITesting
internal import Glibc
internal import TestSupport
internal import Testing

/// Scenario 39: a directory that cannot be used.
@Suite("The directory of groups")
struct GroupDirectoryTests {
    @Test("A directory that others may write to is refused with what is wrong and where it was named")
    func tooOpen() async throws {
        let program = try HostProgram()
        try program.makeDirectory("groups/default")
        chmod(program.directory.path(of: "groups/default"), 0o777)
        try program.write("stateDirectory: groups\n", to: "sharedcore.yaml")
        let ended = try await program.run("store", "list")
        #expect(ended.status == 78)
        #expect(ended.errors.contains("sharedcore.yaml:1:17: stateDirectory is “groups”"))
        #expect(ended.errors.contains(program.directory.path(of: "groups/default")))
        #expect(ended.errors.split(separator: "\n").count == 1)
    }

    @Test("A directory of another user is refused", .enabled(if: getuid() == 0, "needs root to act as another user"))
    func foreign() async throws {
        let program = try HostProgram()
        chmod(program.directory.path, 0o755)
        #expect(try await program.run("store", "put", "k", "v", "--state-directory", "groups").status == 0)
        let command = try
            "exec setpriv --reuid 65534 --regid 65534 --clear-groups \(program.path) store get k --state-directory groups"
        let ended = try await program.shell(command)
        #expect(ended.status == 78)
        #expect(ended.errors.contains("--state-directory: stateDirectory is “groups”"))
        #expect(ended.errors.split(separator: "\n").count == 1)
        #expect(try await program.run("store", "get", "k", "--state-directory", "groups").output == "v")
    }

    @Test("A file in the directory's place is refused")
    func noDirectory() async throws {
        let program = try HostProgram()
        try program.write("", to: "groups")
        let ended = try await program.run("store", "get", "k", "--state-directory", "groups")
        #expect(ended.status == 64)
        #expect(ended.errors.contains("--state-directory: stateDirectory is “groups”"))
        #expect(ended.errors.split(separator: "\n").count == 1)
    }

    @Test("Damaged files end with a message and status 69, and stay as they are (contract S11, E2)")
    func damaged() async throws {
        let program = try HostProgram()
        #expect(try await program.run("store", "put", "k", "v").status == 0)
        let journal = "state/sharedcore/default/journal-1"
        try program.write(String(repeating: "garbage", count: 1000), to: journal)
        let ended = try await program.run("store", "get", "k")
        #expect(ended.status == 69 || ended.status == 78)
        #expect(ended.errors.contains("journal-1"))
        #expect(ended.errors.split(separator: "\n").count == 1)
    }

    @Test(
        "A command that prints what stands makes no group: a mistyped one ends with status 1 and leaves nothing",
        arguments: [
            ["check"], ["status"], ["timeline"], ["store", "get", "k"], ["store", "list"], ["notify", "state", "n"],
            ["mailbox", "read", "m"],
        ], ["file", "zmq"])
    func mistyped(command: [String], backend: String) async throws {
        let program = try HostProgram()
        let ended = try await program.run(command + ["--group", "mistyped", "--backend", backend])
        #expect(ended.status == 1)
        #expect(ended.output.isEmpty)
        #expect(ended.errors.contains("there is no such group"))
        #expect(ended.errors.contains("mistyped"))
        #expect(!TemporaryDirectory.names(in: program.directory.path(of: "state/sharedcore")).contains("mistyped"))
    }
}
