internal import Platform
internal import Subprocess
internal import TestSupport
internal import Testing

/// The lines of `check` on the files.
@Suite("check reads a group's files", .timeLimit(.minutes(10)))
struct CheckFilesTests {
    private static let value = "<mark>" + String(repeating: "0123456789", count: 900)

    /// Changes a bit in the last part of the value in the group's journal.
    private func damage(_ program: HostProgram) throws {
        let file = try OpenFile(path: program.directory.path(of: "state/sharedcore/default/journal-1"), .write)
        let content = try file.read(count: file.status().byteCount, at: 0)
        let mark = Array(Self.value.utf8.prefix(20))
        let start = try #require(content.indices.first { content[$0...].starts(with: mark) })
        try file.write([content[start + 8000] ^ 1], at: start + 8000)
    }

    /// Checks that `check` reports the damage, with its place.
    private func expectFound(_ program: HostProgram) async throws {
        let ended = try await program.run("check", "--json")
        #expect(ended.status == 69 && ended.output.isEmpty, "\(ended.output) \(ended.errors)")
        for part in ["damaged at byte", "state/sharedcore/default/journal-1", "sharedcore salvage"] {
            #expect(ended.errors.contains(part), "\(ended.errors)")
        }
    }

    @Test("Damage in a large value is found while a Main goes on with the group, and when nothing does (contract S11)")
    func files() async throws {
        let program = try HostProgram()
        #expect(try await program.run("store", "put", "large", Self.value).status == 0)
        _ = try await program.running("main") { main in
            try await main.untilOutput(has: 1)
            let whole = try #require(try await program.run("check", "--json").objects().first)
            #expect(whole["event"] == .text("files") && whole["journals"] == .number(1))
            guard case .number(let count)? = whole["bytes"] else { return }
            #expect(count > 9000)
            #expect(try await program.run("check").output.contains("all as written\n"))
            var other = program
            other.environment["SHAREDCORE_FAIL_POINT"] = "openat(O_DIRECT):fail=22*"
            #expect(try await other.run("check").output.contains("all as written in the system's cache: "))
            #expect(try await other.run("check", "--json").objects().first?["fromDisk"] == .flag(false))
            try damage(program)
            try await expectFound(program)
            try main.send(.terminate)
        }
        try await expectFound(program)
    }

    @Test("Damage is found in the files behind a hub, with the place (contract S11)")
    func hub() async throws {
        try await HostProgram.using("zmq") { program in
            #expect(try await program.run("store", "put", "large", Self.value).status == 0)
            #expect(try await program.run("store", "put", "small", "v").status == 0)
            #expect(
                try await program.run("check", "--json").objects().map { $0["event"] } == [
                    .text("files"), .text("summary"),
                ])
            try damage(program)
            try await expectFound(program)
            var other = program
            other.environment["SHAREDCORE_ZMQ_STORAGE"] = "memory"
            #expect(try await program.run("hub", "--stop").status == 0)
            // Such a hub does not serve the files.
            #expect(try await other.run("store", "put", "k", "v").status == 0)
            #expect(try await other.run("check", "--json").objects().map { $0["event"] } == [.text("summary")])
        }
    }
}
