internal import CoreAPITesting
internal import FoundationEssentials
internal import Subprocess
internal import Testing

/// The timeline as a person sees it.
@Suite("The timeline at a terminal")
struct TimelineCommandTests {
    /// A program with a group that has a short history.
    private func withHistory() async throws -> HostProgram {
        let program = try HostProgram()
        #expect(try await program.run("exclusive", "--role", "main", "--name", "painter", "--", "true").status == 0)
        return program
    }

    @Test("A terminal shows colours, unless NO_COLOR is set; a pipe shows none")
    func colours() async throws {
        let program = try await withHistory()
        let painted = try await program.shell("TERM=xterm script -qec 'sharedcore timeline' /dev/null")
        #expect(painted.output.contains("\u{1b}[32mMain “painter”"), "\(painted.output)")
        for plain in [
            "NO_COLOR=1 TERM=xterm script -qec 'sharedcore timeline' /dev/null",
            "TERM=dumb script -qec 'sharedcore timeline' /dev/null", "sharedcore timeline",
        ] {
            let ended = try await program.shell(plain)
            #expect(ended.output.contains("Main “painter”") && !ended.output.contains("\u{1b}"), "\(plain)")
        }
    }

    @Test("JSON has the date and the time in UTC, text the local ones")
    func times() async throws {
        let program = try await withHistory()
        let start = Date.now.addingTimeInterval(-3600)
        let lines = try await program.run("timeline", "--json").objects()
        #expect(!lines.isEmpty)
        for line in lines {
            guard case .text(let at) = line["at"] else {
                Issue.record("no time: \(line)")
                continue
            }
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            let date = try style.parse(at)
            #expect(at.hasSuffix("Z") && date > start && date <= Date.now, "\(at)")
        }
        // Fourteen hours before UTC, where the date is another one most of the time.
        let told = try await program.shell(
            "export TZ=XXX-14; date +%F; sharedcore timeline | head -n 1; date +%F")
        let words = told.output.split(separator: "\n")
        try #require(words.count == 3)
        #expect(words[1].hasPrefix(words[0] + " ") || words[1].hasPrefix(words[2] + " "), "\(told)")
        #expect(words[1].dropFirst(11).prefix(12).filter { $0 == ":" }.count == 2)
    }

    @Test("Following it notices that its reader has gone, though nothing happens")
    func closedPipe() async throws {
        // All lines that there are, so that no further write could be refused.
        let ended = try await withHistory().shell("sharedcore timeline --follow | head -n 6; echo ${PIPESTATUS[0]}")
        #expect(ended.output.hasSuffix("\n0\n"), "\(ended.output)")
        #expect(ended.errors.isEmpty)
    }

    @Test("Ctrl-C ends following it, with status 0")
    func interrupted() async throws {
        let ended = try await withHistory().running("timeline", "--follow") {
            try await $0.untilOutput(has: 6)
            try $0.send(.interrupt)
        }
        #expect(ended.status == 0)
    }

    @Test("A printed timeline can be checked later; the result says which rule was broken where (contract C15)")
    func saved() async throws {
        let program = try await withHistory()
        let stored = try await program.run("check", "--json")
        let saved = try await program.shell("sharedcore timeline --json > saved; sharedcore check saved --json")
        // In a timeline of files, only the group itself can be asked for this.
        let lines = try stored.objects()
        #expect(lines.map { $0["event"] } == [.text("files"), .text("summary")])
        #expect(try saved.status == 0 && saved.objects() == Array(lines.dropFirst()))
        #expect(try await program.shell("sharedcore check - --json < saved").output == saved.output)

        // The released epoch has no acquisition.
        let broken = try await program.shell("grep -v acquired saved > broken; sharedcore check broken --json")
        #expect(broken.status == 1)
        let rules = try broken.objects().filter { $0["event"] == .text("violation") }
        #expect(rules.contains { $0["rule"] == .text("C5") })
        let release = try saved.output.isEmpty ? nil : program.objects(in: "saved").last
        #expect(rules.last?["revision"] == release?["revision"])

        let absent = try await program.run("check", "absent")
        #expect(absent.status == 64 && absent.errors.contains("absent"))
    }
}
