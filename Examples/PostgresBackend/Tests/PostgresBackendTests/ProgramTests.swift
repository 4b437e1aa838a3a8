import Foundation
import Testing

extension AllTests {
    /// `postgres-core`, which is `sharedcore` with this backend: five lines of its own.
    @Suite("The program with the PostgreSQL backend", .serialized)
    struct ProgramTests {
        private let group = "program-\(UUID().uuidString)"
        private let directory = FileManager.default.temporaryDirectory.appending(path: "program-\(UUID().uuidString)")

        @Test("Values that one process writes are read by another, in the tables")
        func values() throws {
            defer { try? FileManager.default.removeItem(at: directory) }
            #expect(try run("set", "greeting", "hello").status == 0)
            #expect(try run("get", "greeting").output == "hello")
            #expect(try TestServer.query("SELECT count(*) FROM sharedcore.log WHERE name = '\(group)'") == "1")
            #expect(try run("backends").output.contains("postgres  added"))
        }

        @Test("A push is served by an Executor that is the same program")
        func push() async throws {
            defer { try? FileManager.default.removeItem(at: directory) }
            let host = try start("serve", "--json").process
            defer {
                host.terminate()
                host.waitUntilExit()
            }
            #expect(try await until { try run("status", "--json").output.contains("\"host\":{") })
            #expect(try run("push", "first").status == 0)
            #expect(try await until { try run("timeline").output.contains("first") })
            #expect(try run("check").status == 0)
        }

        @Test(
            "A setting that is none ends the program with the setting's name, and no password is printed",
            arguments: [
                ("schema", "Robert'); DROP", "schema"), ("connection", "host=/nonexistent password=hunter2", "reached"),
                ("connection", "postgresql://user:hunter2@localhost:1/chat", "reached"),
                ("connection", "host=/tmp hunter2", "connection"),
                // libpq takes a part of the password for the host, or for the port.
                ("connection", "postgresql://user:p@hunter2@localhost:1/chat", "reached"),
                ("connection", "postgresql://user:hunter2/x@localhost:1/chat", "reached"),
            ])
        func settings(key: String, value: String, word: String) throws {
            defer { try? FileManager.default.removeItem(at: directory) }
            let (process, output) = try start(
                ["set", "a", "b"], with: ["SHAREDCORE_POSTGRES_\(key.uppercased())": value])
            process.waitUntilExit()
            #expect(process.terminationStatus != 0)
            let text = output.wait()
            #expect(text.contains("postgres") && text.lowercased().contains(word), "\(text)")
            #expect(!text.contains("hunter2"), "\(text)")
        }

        private func start(_ arguments: String...) throws -> (process: Process, output: BuiltProgram.Output) {
            try start(arguments)
        }

        private func start(
            _ arguments: [String], with variables: [String: String] = [:]
        ) throws -> (process: Process, output: BuiltProgram.Output) {
            let environment = [
                "PATH": "/usr/bin:/bin", "HOME": directory.path, "SHAREDCORE_CONFIG": "/dev/null",
                "SHAREDCORE_POSTGRES_CONNECTION": TestServer.connection,
            ]
            let program = [
                BuiltProgram.path(of: "postgres-core"), "--backend", "postgres", "--group", group, "--state-directory",
                directory.path,
            ]
            return try BuiltProgram.start(
                "/bin/sh", ["-c", "exec \"$@\" 2>&1", "sh"] + program + arguments,
                environment: environment.merging(variables) { $1 })
        }

        private func run(_ arguments: String...) throws -> (status: Int32, output: String) {
            let (process, output) = try start(arguments)
            process.waitUntilExit()
            return (process.terminationStatus, output.wait())
        }
    }
}
