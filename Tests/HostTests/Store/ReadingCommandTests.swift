internal import CoreAPITesting
internal import FoundationEssentials
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// L4: a command that only reads the group leaves no trace of itself.
@Suite("The reading commands", .timeLimit(.minutes(10)))
struct ReadingCommandTests {
    private static let commands = [
        ["store", "get", "k", "--json"], ["store", "list", "--json"], ["status", "--json"], ["timeline", "--json"],
        ["check", "--json"], ["notify", "state", "n", "--json"], ["mailbox", "read", "m", "--json"],
        ["inbox", "--json"], ["calls", "--json"],
    ]

    /// Fills a group with content for each of the commands, and with an owner that has come and left.
    private func fill(_ program: HostProgram, backend: String = "file") async throws {
        let large = String(repeating: "large", count: 2_000)
        for command in [
            ["store", "put", "k", "v"], ["store", "put", "large", large], ["notify", "post", "n", "--state", "7"],
            ["mailbox", "send", "m", "\"hello\""], ["exclusive", "--role", "executor"],
        ] {
            let ended = try await program.run(
                command + ["--backend", backend] + (command[0] == "exclusive" ? ["--", "true"] : []))
            #expect(ended.status == 0, "\(command): \(ended.errors)")
        }
    }

    /// The content of a directory: for each file its bytes, and when it was written.
    private func content(of path: String) throws -> [String: String] {
        var content: [String: String] = [".": try time(of: path)]
        for name in TemporaryDirectory.names(in: path) {
            let file = path + "/" + name
            let bytes = (try? Data(contentsOf: URL(filePath: file))).map { Array($0) } ?? []
            content[name] = try "\(time(of: file)) \(bytes.count) \(bytes.hashValue)"
        }
        return content
    }

    private func time(of path: String) throws -> String {
        var found = stat()
        try #require(stat(path, &found) == 0)
        return "\(found.st_mtim.tv_sec).\(found.st_mtim.tv_nsec)"
    }

    @Test("each of them leaves every file of the group as it is, bytes and time")
    func leaveFiles() async throws {
        let program = try HostProgram()
        try await fill(program)
        let path = program.directory.path(of: "state/sharedcore/default")
        let before = try content(of: path)
        for command in Self.commands {
            let ended = try await program.run(command)
            #expect(ended.status == 0, "\(command): \(ended.errors)")
            #expect(!ended.output.isEmpty || ["inbox", "calls"].contains(command[0]), "\(command)")
            #expect(try content(of: path) == before, "\(command) changed a file")
        }
        #expect(try await program.run("store", "get", "large").output.utf8.count == 10_000)
        #expect(try await program.run("store", "get", "absent").status == 1)
        #expect(try content(of: path) == before)
    }

    @Test("each of them works on a group that cannot be written")
    func readOnlyMount() async throws {
        let program = try HostProgram()
        try await fill(program)
        let calls = Self.commands.map {
            "sharedcore " + $0.joined(separator: " ") + " --state-directory mount; echo $?"
        }
        let ended = try await program.shell(
            """
            mkdir mount && unshare --user --map-root-user --mount bash -c '
                mount -t tmpfs none mount && cp -a state/sharedcore/. mount/ && mount -o remount,ro mount || exit 9
                touch mount/default/made 2>/dev/null && exit 8
                { \(calls.joined(separator: "\n")); } 2>&1
            '
            """)
        #expect(ended.status == 0, "\(ended.errors)")
        let lines = ended.output.split(separator: "\n")
        #expect(lines.count { $0 == "0" } == Self.commands.count, "\(ended.output)")
        #expect(ended.output.contains(#""value":"v""#))
    }

    @Test("through a hub none of them takes a session or a revision, and without one none starts it")
    func leaveHub() async throws {
        try await HostProgram.using("zmq") { program in
            try await fill(program, backend: "zmq")
            let before = try await revision(program)
            for command in Self.commands {
                let ended = try await program.run(command)
                #expect(ended.status == 0, "\(command): \(ended.errors)")
            }
            #expect(try await revision(program) == before)

            #expect(try await program.run("hub", "--stop").status == 0)
            for command in Self.commands {
                let ended = try await program.run(command)
                #expect(ended.status == 0, "\(command): \(ended.errors)")
            }
            #expect(try await program.run("hub", "--stop").status == 1, "none of them has started a hub")
        }
    }

    private func revision(_ program: HostProgram) async throws -> JSONField? {
        try await program.run("status", "--json").objects().first?["revision"]
    }

    @Test("a directory without a group is no such group, with status 1, and stays empty")
    func emptyDirectory() async throws {
        let program = try HostProgram()
        try program.makeDirectory("state/sharedcore/default")
        chmod(program.directory.path(of: "state/sharedcore/default"), 0o700)
        for command in Self.commands {
            let ended = try await program.run(command)
            #expect(ended.status == 1, "\(command): \(ended.errors)")
            #expect(ended.errors.contains("there is no such group"), "\(ended.errors)")
        }
        #expect(TemporaryDirectory.names(in: program.directory.path(of: "state/sharedcore/default")).isEmpty)
    }

    @Test("a group of which a killed process has made only a part is no such group either, and stays as it is")
    func begunGroup() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_FAIL_POINT"] = "first.beforeList:kill"
        #expect(try await program.run("store", "put", "k", "v").status != 0)
        program.environment["SHAREDCORE_FAIL_POINT"] = nil
        let path = program.directory.path(of: "state/sharedcore/default")
        let before = try content(of: path)
        #expect(before["sessions"] != nil)
        for command in Self.commands {
            let ended = try await program.run(command)
            #expect(ended.status == 1, "\(command): \(ended.errors)")
            #expect(ended.errors.contains("there is no such group"), "\(ended.errors)")
        }
        #expect(try content(of: path) == before)
    }
}
