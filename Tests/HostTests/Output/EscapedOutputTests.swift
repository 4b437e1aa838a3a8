internal import CoreAPI
internal import ProgramOutput
internal import Testing
internal import ZMQBackend

@testable internal import SharedCoreHost

/// Foreign texts command no terminal: not by error messages, not by the log, not by results.
@Suite("Output to a terminal (contract E2)")
struct EscapedOutputTests {
    @Test(
        "No bracket, quote or backslash is left as it is, also with a mark that makes one character of both",
        arguments: ["", "\u{301}", "\u{600}", "\u{d4e}", "\u{110bd}", "\u{200d}"])
    func marked(mark: String) {
        #expect(
            DesktopAlerts.markup("\(mark)<img src=x\(mark)>\(mark)&\(mark)\0")
                == "\(mark)&lt;img src=x\(mark)&gt;\(mark)&amp;\(mark) ")
        #expect(
            PrometheusName.escaped("\(mark)\"\(mark)\\\(mark)\n\(mark)") == "\(mark)\\\"\(mark)\\\\\(mark)\\n\(mark)")
    }

    /// Erases the screen, sets a colour, begins a line, and turns the direction of the following text.
    private static let hostile =
        "a\u{1b}[2J\u{9b}31m\u{7}\r\u{85}\u{2028}\u{2029}\u{202e}\u{2066}\u{2069}\u{200e}\u{200f}\u{61c}b"

    @Test("Each character of the threat model is escaped, and those beside them are not")
    func each() {
        let named: [ClosedRange<UInt32>] = [
            0x00...0x1f, 0x7f...0x9f, 0x61c...0x61c, 0x200e...0x200f, 0x2028...0x2029, 0x202a...0x202e, 0x2066...0x2069,
        ]
        for number in (0...0x2100 as ClosedRange<UInt32>) {
            guard let scalar = Unicode.Scalar(number) else { continue }
            let (text, isEscaped) = (String(scalar), named.contains { $0.contains(number) })
            let shown = ProgramText.oneLine(text)
            #expect(
                isEscaped ? shown.hasPrefix("\\") && shown.utf8.allSatisfy { $0 > 0x1f && $0 < 0x7f } : shown == text)
        }
    }

    private func expectHarmless(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let controls = text.unicodeScalars.filter { scalar in
            let isFormat =
                ["\u{61c}", "\u{200e}", "\u{200f}", "\u{2028}", "\u{2029}"].contains(scalar)
                || ("\u{202a}"..."\u{202e}").contains(scalar) || ("\u{2066}"..."\u{2069}").contains(scalar)
            return isFormat || (scalar.properties.generalCategory == .control && scalar != "\n" && scalar != "\t")
        }
        #expect(controls.isEmpty, "\(text.debugDescription)", sourceLocation: sourceLocation)
    }

    @Test("An error message shows control characters escaped")
    func errors() async throws {
        let ended = try await HostProgram().run("--backend", Self.hostile, "store", "list")
        #expect(ended.status == 64 && ended.errors.contains("\\u{1B}"))
        expectHarmless(ended.errors)
        #expect(ended.errors.split(separator: "\n").count == 1)
        let long = try await HostProgram().run("--backend", String(repeating: "\u{1b}", count: 10_000), "store", "list")
        #expect(long.errors.utf8.count < 4_200 && long.errors.contains("bytes more)"))
    }

    @Test(
        "An argument without an end makes no line of a message without one",
        arguments: [
            ["status", "--"], ["timeline", "--"], ["application", ""], ["--log-level", ""], ["store", "-"],
            ["store", "x"],
        ])
    func longArguments(_ words: [String]) async throws {
        var arguments = words
        arguments[1] += String(repeating: "x", count: 100_000)
        if words[0] == "--log-level" { arguments.append("status") }
        let ended = try await HostProgram().run(arguments)
        #expect(ended.status == 64 && !ended.errors.isEmpty)
        let lines = ended.errors.split(separator: "\n")
        #expect(lines.allSatisfy { $0.utf8.count < 4_200 }, "\(lines.map(\.utf8.count))")
        #expect(lines.contains { $0.contains("bytes more)") })
        let many = try await HostProgram().run("status", "--" + String(repeating: "x\n", count: 10_000))
        #expect(many.status == 64 && many.errors.split(separator: "\n").count < 250)
    }

    @Test("Several lines keep their tabs, each is cut, and those that are too many are counted")
    func severalLines() {
        #expect(ProgramText.lines("a\tb\n\u{1b}\n", atMost: 5, upTo: 20) == "a\tb\n\\u{1B}\n")
        #expect(ProgramText.lines("abcdef\nab", atMost: 2, upTo: 4) == "abcd… (2 bytes more)\nab")
        #expect(ProgramText.lines("a\nb\nc", atMost: 1, upTo: 4) == "a\n… (2 lines more)")
    }

    @Test("A line of the log is one line, without control characters, and of bounded length")
    func log() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_\(Self.hostile)\nforged"] = "1"
        program.environment["SHAREDCORE_" + String(repeating: "X", count: 100_000)] = "1"
        let ended = try await program.run("config", "show")
        #expect(ended.status == 0)
        expectHarmless(ended.errors)
        let lines = ended.errors.split(separator: "\n")
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains("unknown variable SHAREDCORE_") })
        #expect(lines.allSatisfy { $0.utf8.count < 5_000 })
        #expect(lines.contains { $0.contains("bytes more") })
    }

    @Test("A stored key and value are shown escaped, and a JSON line has them whole and harmless")
    func results() async throws {
        let program = try HostProgram()
        #expect(try await program.run("store", "put", "k\(Self.hostile)", Self.hostile).status == 0)
        for arguments in [["store", "list"], ["store", "list", "--json"]] {
            let ended = try await program.run(arguments)
            expectHarmless(ended.output)
            #expect(ended.output.split(separator: "\n").count == 1)
        }
        let value = try await program.run("store", "list", "--json").objects().first?["value"]
        #expect(value == .text(Self.hostile))
        #expect(try await program.run("store", "list", "--json").output.contains("\\u001b"))
        // A value is printed unescaped: the user asked for it.
        #expect(try await program.run("store", "get", "k\(Self.hostile)").output.contains(Self.hostile))
    }

    @Test("No two keys are shown alike, and behind the first tab of a line is the value")
    func keysInLines() async throws {
        let program = try HostProgram()
        let shown = [
            "a\tb": #"a\tb"#, #"a\tb"#: #"a\\tb"#, "a\nb": #"a\nb"#, #"a\nb"#: #"a\\nb"#, #"a\"#: #"a\\"#,
            "a\u{1b}": #"a\u{1B}"#, #"a\u{1B}"#: #"a\\u{1B}"#, "ä “b”": "ä “b”",
        ]
        for key in shown.keys { #expect(try await program.run("set", key, #"v\n"#).status == 0) }
        let list = try await program.run("ls")
        let listed = list.output.split(separator: "\n").map(String.init)
        #expect(Set(listed) == Set(shown.values.map { $0 + "\t" + #"v\n"# }), "\(list)")
        let watch = try await program.run("watch", "--from", "0", "--count", "\(shown.count)")
        let lines = watch.output.split(separator: "\n").map { $0.split(separator: "\t") }
        #expect(Set(lines.map { String($0[2]) }) == Set(shown.values), "\(watch)")
    }

    @Test("Colours of a foreign text are escaped, those of the program are not")
    func foreignColours() async throws {
        let foreign = "\u{1b}[31mred\u{1b}[0m"
        var program = try HostProgram()
        program.environment["SHAREDCORE_CORE_MAILDIR"] = "/tmp/\(foreign)"
        let ended = try await program.run("config", "show")
        #expect(ended.status == 0 && ended.output.contains("\\u{1B}[31mred"))
        expectHarmless(ended.output)
        let escaped = "\\u{1B}[31mred\\u{1B}[0m"
        let shown = (Paint(isOn: true).in(.green, foreign) + "  " + Paint.none.in(.green, foreign)).shown
        #expect(shown == "\u{1b}[32m\(escaped)\u{1b}[0m  \(escaped)")
    }

    @Test("The names that a client gives a hub are shown escaped, in the hub's log and by commands")
    func clients() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_BACKEND"] = "zmq"
        let endpoint = try HubEndpoint("ipc://" + program.socket)
        let ended = try await program.running("hub") { [program] hub in
            try await hub.untilErrors(contain: "listens at")
            let refused = await #expect(throws: SharedCoreError.self) {
                _ = try await ZMQGroup.open(endpoint, group: Self.hostile)
            }
            #expect(refused?.code == .forbidden)
            try await hub.untilErrors(contain: "This hub serves")
            #expect(hub.errors.lines.contains { $0.contains("not “a\\u{1B}[2J") })
            for line in hub.errors.lines { expectHarmless(line) }
            let client = try await ZMQGroup.open(
                endpoint, group: "default", as: SessionDescription(role: .main, name: Self.hostile))
            for arguments in [["status"], ["status", "--json"]] {
                let shown = try await program.run(arguments)
                #expect(shown.status == 0 && shown.output.contains("[2J"), "\(shown)")
                expectHarmless(shown.output)
            }
            await client.close()
            #expect(try await program.run("hub", "--stop").status == 0)
        }
        #expect(ended.status == 0)
    }
}
