internal import CoreAPITesting
internal import FoundationEssentials
internal import Subprocess
internal import TestSupport
internal import Testing

/// `status --watch`, at a terminal and in a pipe.
@Suite("The status as it changes")
struct StatusWatchTests {
    private static let enter = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l"
    private static let leave = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"

    private func withGroup() async throws -> HostProgram {
        let program = try HostProgram()
        #expect(try await program.run("put", "first", "1").status == 0)
        return program
    }

    /// Runs it at a terminal of 12 rows and 50 columns. The script finds its output in the file `screen`, its pid in
    /// `pid`, and has `until_screen PATTERN`; it has to make it end.
    private func atTerminal(
        _ program: HostProgram, variables: String = "TERM=xterm", _ script: String
    ) async throws -> (ended: HostProgram.Ended, screen: String) {
        let ended = try await program.shell(
            """
            set -u
            until_screen() { until grep -qF -- "$1" screen 2>/dev/null; do sleep 0.05; done; }
            until_state() { until grep -q "^State:.$1" /proc/$(cat pid)/status; do sleep 0.05; done; }
            exec 9<>hold
            rm -f screen pid
            \(variables) script -qefc 'stty rows 12 cols 50; echo $$ >pid; exec sharedcore status --watch' screen \\
                <hold >shown 2>&1 &
            terminal=$!
            until_screen owner
            \(script)
            wait $terminal
            echo "ended $?"
            """, fifo: "hold")
        let screen = try String(contentsOf: URL(filePath: program.directory.path(of: "screen")), encoding: .utf8)
        return (ended, screen)
    }

    /// The rows of each frame, without the sequences that colour and clear.
    private func frames(of screen: String) throws -> [[String]] {
        let escape = try Regex("\u{1b}\\[[0-9;?]*[A-Za-z]")
        return screen.components(separatedBy: "\u{1b}[H").dropFirst().map { frame in
            let text = frame.components(separatedBy: "\u{1b}[J")[0].replacing(escape, with: "")
            // The terminal puts a carriage return before each line feed, also where there is one already.
            return String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\r" }))
                .components(separatedBy: "\n")
        }
    }

    @Test("A terminal is drawn in place, within its size, and is given back")
    func screen() async throws {
        let program = try await withGroup()
        let (ended, screen) = try await atTerminal(
            program,
            """
            sharedcore application foreground 2>/dev/null
            revision=$(sharedcore --json put later 1 | sed 's/.*"revision":\\([0-9]*\\).*/\\1/')
            until_screen "$((revision + 1))"
            # One after the other, since stty sets them one by one too: the first frame of 5 rows has 20 columns.
            stty -F /proc/$(cat pid)/fd/1 cols 20
            stty -F /proc/$(cat pid)/fd/1 rows 5
            until_screen "more)"
            kill -INT $(cat pid)
            """)
        #expect(ended.output.contains("ended 0"), "\(ended)")
        let body = try #require(screen.firstRange(of: Self.enter))
        let end = try #require(screen.firstRange(of: Self.leave))
        #expect(body.upperBound < end.lowerBound)
        // If the screen were cleared as a whole, it would flicker.
        #expect(!screen.contains("\u{1b}[2J"))
        let frames = try frames(of: String(screen[body.upperBound..<end.lowerBound]))
        #expect(frames.count >= 3)
        let first = try #require(frames.first)
        #expect(first.contains { $0.hasPrefix("owner") && $0.hasSuffix("none") }, "\(first)")
        #expect(frames.allSatisfy { $0.count <= 12 && $0.allSatisfy { $0.count <= 50 } })
        let last = try #require(frames.last)
        #expect(last.count == 5 && last[4].hasPrefix("… (") && last.allSatisfy { $0.count <= 20 }, "\(last)")
        #expect(screen.contains("\u{1b}[2mowner\u{1b}[0m"), "colours")
    }

    @Test("NO_COLOR has no colours, and a terminal without a screen has plain reports")
    func plainTerminals() async throws {
        let program = try await withGroup()
        let colourless = try await atTerminal(program, variables: "NO_COLOR=1 TERM=xterm", "kill -TERM $(cat pid)")
        #expect(colourless.screen.contains(Self.enter) && colourless.screen.contains(Self.leave))
        #expect(try !colourless.screen.contains(Regex("\u{1b}\\[[0-9;]*m")), "\(colourless.screen)")
        let dumb = try await atTerminal(program, variables: "TERM=dumb", "kill -TERM $(cat pid)")
        #expect(!dumb.screen.contains("\u{1b}"), "\(dumb.screen)")
        #expect(dumb.ended.output.contains("ended 0") && colourless.ended.output.contains("ended 0"))
    }

    @Test("Each signal that ends it gives the screen back", arguments: ["TERM", "HUP", "QUIT"])
    func signals(name: String) async throws {
        let (ended, screen) = try await atTerminal(try await withGroup(), "kill -\(name) $(cat pid)")
        #expect(ended.output.contains("ended 0"), "\(ended)")
        #expect(screen.contains(Self.leave))
    }

    @Test("Control-Z restores the screen of the shell, and the program draws again when it continues")
    func stopped() async throws {
        let (ended, screen) = try await atTerminal(
            try await withGroup(),
            """
            kill -TSTP $(cat pid)
            until_state T
            grep -c 1049h screen
            # “script” stops with the program in it, at once or later.
            while kill -CONT $terminal; do sleep 0.05; done 2>/dev/null &
            kill -CONT $(cat pid)
            until [ $(grep -o '1049h' screen | wc -l) -ge 2 ]; do sleep 0.05; done
            kill -INT $(cat pid)
            """)
        #expect(ended.output.contains("ended 0"), "\(ended)")
        let parts = screen.components(separatedBy: Self.leave)
        #expect(parts.count == 3, "left at the stop and at the end")
        #expect(parts.dropLast().allSatisfy { $0.contains(Self.enter) })
    }

    @Test("In a pipe each change is a report, separated by an empty line")
    func piped() async throws {
        let program = try await withGroup()
        let ended = try await program.running("status", "--watch") { watch in
            try await watch.untilOutput(has: 5)
            _ = try await program.run("put", "second", "1")
            try await eventually("a second report", timeout: TestTimeout.long) {
                watch.output.lines.contains("")
            }
            try await eventually("its owner", timeout: TestTimeout.long) {
                watch.output.lines.split(separator: "").last?.contains { $0.hasPrefix("owner") } == true
            }
            try watch.send(.interrupt)
        }
        #expect(ended.status == 0 && !ended.output.contains("\u{1b}"))
        let reports = ended.output.components(separatedBy: "\n\n")
        #expect(reports.count >= 2 && reports.allSatisfy { $0.hasPrefix("backend   file\n") })
        #expect(Set(reports).count == reports.count, "a report is a change")
    }

    @Test("With --json each change is one document, and what only grows older is none")
    func documents() async throws {
        let program = try await withGroup()
        let ended = try await program.running("status", "--watch", "--json") { watch in
            for number in 1...3 {
                try await watch.untilOutput(has: number)
                _ = try await program.run("put", "key", "\(number)")
            }
            try await watch.untilOutput(has: 4)
            try watch.send(.terminate)
        }
        #expect(ended.status == 0)
        let revisions = try ended.objects().map { $0["revision"] }
        #expect(revisions.count >= 4 && Set(revisions).count >= 4)
        let stored = try await program.run("status", "--json").objects()
        #expect(stored.first?.keys.sorted() == (try ended.objects().last?.keys.sorted()))
    }

    @Test("A group that is not there ends it as “status”; one that goes away is waited for")
    func absent() async throws {
        let program = try await withGroup()
        let other = try await program.run("status", "--watch", "--group", "absent")
        #expect(other.status == 1 && other.errors.contains("no such group"))
        let state = program.directory.path(of: "state")
        let ended = try await program.running("status", "--watch", "--json") { watch in
            try await watch.untilOutput(has: 1)
            try FileManager.default.moveItem(atPath: state, toPath: state + ".former")
            try await watch.untilErrors(contain: "no such group")
            let count = watch.output.lines.count
            _ = try await program.run("put", "new", "1")
            try await watch.untilOutput(has: count + 1)
            try watch.send(.interrupt)
        }
        #expect(ended.status == 0)
    }
}
