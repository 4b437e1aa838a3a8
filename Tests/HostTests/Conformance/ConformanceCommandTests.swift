internal import CoreAPITesting
internal import Subprocess
internal import TestSupport
internal import Testing

@Suite("The command `conformance`")
struct ConformanceCommandTests {
    @Test("A line a case with its fields, and a summary that counts them", arguments: ["memory", "file"])
    func lines(backend: String) async throws {
        let ended = try await HostProgram().run("--json", "--backend", backend, "conformance", "--only", "S1")
        #expect(ended.status == 0, "\(ended.errors)")
        let lines = try ended.objects()
        let expected = ConformanceSuite.cases(matching: "S1")
        #expect(lines.dropLast().map { $0["id"] } == expected.map { .text($0.id) })
        for line in lines.dropLast() {
            #expect(Set(line.keys) == ["id", "title", "result", "ms", "message"])
            #expect(line["result"] == .text("passed"))
        }
        let summary = try #require(lines.last)
        #expect(Set(summary.keys) == ["event", "backend", "passed", "failed", "unsupported", "skipped", "interrupted"])
        #expect(summary["event"] == .text("summary"))
        #expect(summary["passed"] == .number(UInt64(expected.count)) && summary["failed"] == .number(0))
        #expect(summary["interrupted"] == .number(0))
    }

    @Test("Without --json it prints the table, also into a pipe")
    func table() async throws {
        let ended = try await HostProgram().run("--backend", "memory", "conformance", "--only", "S1")
        #expect(ended.status == 0)
        #expect(ended.output.hasPrefix("✓ S1a   ") && !ended.output.contains("{"), "\(ended.output)")
        #expect(ended.output.contains("memory: ") && ended.errors.isEmpty)
    }

    @Test("A pattern that no case has is wrong usage, and says which rules there are")
    func noCase() async throws {
        let ended = try await HostProgram().run("conformance", "--only", "nothing like this")
        #expect(ended.status == 64)
        #expect(ended.errors.contains("S1, "))
    }

    @Test("Interrupted, it shows what was done, and that is no failure", arguments: [(2, 130), (15, 143)])
    func interrupted(signal: Int32, status: Int32) async throws {
        let ended = try await HostProgram().running("--json", "--backend", "memory", "conformance") {
            try await $0.untilOutput(has: 2)
            try $0.send(Signal(rawValue: signal))
        }
        #expect(ended.status == status, "\(ended)")
        let lines = try ended.objects()
        let summary = try #require(lines.last)
        #expect(summary["event"] == .text("summary") && summary["failed"] == .number(0))
        let results = lines.dropLast().map { $0["result"] }
        #expect(!results.contains(.text("failed")) && results.prefix(2) == [.text("passed"), .text("passed")])
        #expect(results.dropLast().allSatisfy { $0 != .text("interrupted") })
        let ran = results.count { $0 != .text("interrupted") }
        #expect(summary["interrupted"] == .number(UInt64(ConformanceSuite.cases.count - ran)))
    }

    @Test("It leaves nothing behind")
    func nothingIsLeft() async throws {
        var program = try HostProgram()
        try program.makeDirectory("tmp")
        program.environment["TMPDIR"] = program.directory.path(of: "tmp")
        let ended = try await program.run("conformance", "--only", "S1a")
        #expect(ended.status == 0)
        #expect(try await program.shell("ls tmp").output.isEmpty)
    }
}
