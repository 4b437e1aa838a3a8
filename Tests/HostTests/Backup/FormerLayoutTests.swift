internal import CoreAPITesting
internal import Foundation
internal import Platform
internal import TestSupport
internal import Testing

/// A directory that a program of layout 3 has left, at the shell of this one.
@Suite("A group of an earlier layout", .timeLimit(.minutes(10)))
struct FormerLayoutTests {
    /// Every command that opens a group, with the status of its refusal.
    private static let commands: [([String], Int32)] = [
        (["store", "get", "greeting"], 78), (["store", "list"], 78), (["store", "put", "k", "v"], 78),
        (["store", "delete", "greeting"], 78), (["store", "watch"], 78), (["notify", "post", "news"], 78),
        (["notify", "state", "news"], 78), (["notify", "observe", "news"], 78),
        (["mailbox", "send", "jobs", #""text""#], 78),
        (["mailbox", "read", "jobs"], 78), (["mailbox", "take", "jobs"], 78), (["mailbox", "clear", "jobs"], 78),
        (["main"], 78), (["executor", "--call-id", "1"], 78), (["exclusive", "--role", "main", "--", "true"], 125),
        (["push", "1"], 78), (["status"], 78), (["timeline"], 78), (["check"], 78),
        (["application", "background"], 78), (["backup", "copy"], 78), (["restore", "whole"], 78),
    ]

    private func files(in path: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in TemporaryDirectory.names(in: path) where name == "sessions" || name.hasPrefix("journal-") {
            let file = try OpenFile(path: path + "/" + name, .read)
            files[name] = try file.read(count: file.status().byteCount, at: 0)
        }
        return files
    }

    /// A program with a group `default` of layout 3; the group's directory.
    private func program() async throws -> (HostProgram, String) {
        let program = try HostProgram()
        try program.makeDirectory("state/sharedcore")
        let path = program.directory.path(of: "state/sharedcore/default")
        try await LayoutThreeGroup.write(to: path)
        return (program, path)
    }

    @Test(
        "S11: every command refuses it with the commands that convert it, and leaves it as it was",
        arguments: ["file", "zmq"])
    func refused(backend: String) async throws {
        let (program, path) = try await program()
        let files = try files(in: path)
        #expect(try await program.run("store", "put", "k", "v", "--group", "whole").status == 0)
        #expect(try await program.run("backup", "whole", "--group", "whole").status == 0)
        for (command, status) in Self.commands {
            let ended = try await program.run(command + ["--backend", backend])
            #expect(ended.status == status, "\(command): \(ended.status) \(ended.errors)")
            for part in [
                "layout version 3", "version 5", "“sharedcore salvage DIRECTORY --into NEW”",
                "“sharedcore restore NEW”",
            ] {
                #expect(ended.errors.contains(part), "\(command): \(ended.errors)")
            }
            #expect(try self.files(in: path) == files, "\(command)")
        }
    }

    @Test("S11: what the message says brings over all that it holds")
    func converted() async throws {
        let (program, path) = try await program()
        let ended = try await program.shell(
            """
            mv '\(path)' OLD && sharedcore salvage OLD --into NEW && sharedcore restore NEW
            """)
        #expect(ended.status == 0, "\(ended.output) \(ended.errors)")
        for (key, value) in [
            ("empty", ""), ("greeting", "hello again"), ("large", String(repeating: "L", count: 6000)),
            ("ключ", "значение"),
        ] {
            #expect(try await program.run("store", "get", key).output == value)
        }
        #expect(try await program.run("store", "get", "gone").status == 1)
        #expect(try await program.run("notify", "state", "news", "--json").objects().first?["state"] == .number(7))
        #expect(try await program.run("mailbox", "take", "jobs").status == 0)
        #expect(try await program.run("check").status == 0)
    }
}
