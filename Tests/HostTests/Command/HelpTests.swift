internal import ArgumentParser
internal import FoundationEssentials
internal import SharedCoreConfiguration
internal import Testing

@testable internal import SharedCoreHost

@Suite("Help")
struct HelpTests {
    /// The visible commands with their words.
    private static func commands() -> [(words: [String], type: any ParsableCommand.Type)] {
        func below(_ type: any ParsableCommand.Type, _ words: [String]) -> [(
            words: [String], type: any ParsableCommand.Type
        )] {
            [(words, type)]
                + type.configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap {
                    below($0, words + [$0._commandName])
                }
        }
        return below(SharedCoreCommand.self, [])
    }

    private static func page(of type: any ParsableCommand.Type) -> String {
        HelpPage.arranged(SharedCoreCommand.helpMessage(for: type, columns: HelpPage.maximumWidth))
    }

    @Test("No line is wider than 80 columns, and each command has examples at its end")
    func pages() throws {
        let commands = Self.commands()
        #expect(commands.count > 50)
        for (words, type) in commands {
            let page = Self.page(of: type)
            for line in page.split(separator: "\n") {
                #expect(line.count <= HelpPage.maximumWidth, "\(words): \(line)")
            }
            let end = try #require(page.components(separatedBy: "EXAMPLES:\n").last)
            #expect(end.hasPrefix("  ") && end.contains("sharedcore"), "\(words): \(page)")
            guard type.configuration.subcommands.isEmpty else { continue }
            #expect(page.contains("sharedcore help options") && !page.contains("--backend <"), "\(words)")
        }
        for topic in [OptionsTopic.self, SettingsTopic.self] as [any ParsableCommand.Type] {
            for line in Self.page(of: topic).split(separator: "\n") { #expect(line.count <= HelpPage.maximumWidth) }
        }
    }

    @Test("An example is the same command at each width", arguments: [40, 50, 72])
    func narrowExamples(columns: Int) {
        func examples(_ page: String) -> [Substring] {
            page.components(separatedBy: "EXAMPLES:\n").dropFirst().joined().split(separator: "\n")
                .filter { $0.hasPrefix("  ") }
        }
        for (words, type) in Self.commands() {
            let wide = Self.page(of: type)
            let narrow = HelpPage.arranged(SharedCoreCommand.helpMessage(for: type, columns: columns))
            #expect(examples(narrow) == examples(wide), "\(words)")
        }
    }

    @Test("The program prints no help and no usage that is wider than 80 columns")
    func printed() async throws {
        let program = try HostProgram()
        for words in Self.commands().map(\.words) + [["help"], ["help", "options"], ["help", "settings"]] {
            let page = try await program.run(words + ["--help"]).output
            #expect(!page.isEmpty && page.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(words): \(page)")
            let refused = try await program.run(words + ["--bogus"]).errors
            let usage = try #require(
                refused.components(separatedBy: "Usage: ").dropFirst().first, "\(words): \(refused)")
            #expect(usage.split(separator: "\n").allSatisfy { $0.count <= 73 }, "\(words): \(refused)")
        }
    }

    @Test("In a terminal that is too narrow for help it is 40 columns wide", arguments: ["20", "1", "0", "-5"])
    func narrow(columns: String) async throws {
        var program = try HostProgram()
        program.environment["COLUMNS"] = columns
        for arguments in [["--help"], ["get", "--help"], ["help", "exclusive"], ["help", "settings"]] {
            let ended = try await program.run(arguments)
            #expect(ended.status == 0 && !ended.output.isEmpty && ended.errors.isEmpty, "\(arguments): \(ended)")
        }
    }

    @Test("The usage that an error repeats has one line of at most 80 columns for each way to call the command")
    func usage() {
        for (words, type) in Self.commands() {
            let usage = SharedCoreCommand.usageString(for: type).split(separator: "\n")
            #expect(usage.count <= 3 && usage.allSatisfy { $0.count <= 73 }, "\(words): \(usage)")
        }
    }

    @Test("The options of all commands stand in the program's help and in a page of their own, with their defaults")
    func globalOptions() async throws {
        let program = try HostProgram()
        for arguments in [["--help"], ["help", "options"]] {
            let page = try await program.run(arguments).output
            let words = page.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(page.contains("GLOBAL OPTIONS:\n") && !page.contains("help options"))
            let directory = "(default: $XDG_STATE_HOME/sharedcore, or ~/.local/state/sharedcore where that is unset)"
            for part in ["(default: file)", directory, "(default: notice)"] {
                #expect(words.contains(part), "\(part)")
            }
        }
        let page = try await program.run("help", "get").output
        #expect(page.hasPrefix("OVERVIEW: Print the value under a key.\n"))
        #expect(page.hasSuffix("for the options that every command takes.\n"))
        #expect(try await program.run("config", "--help").output.split(separator: "\n").count < 40)
        #expect(
            try await program.run("help", "settings").output
                .contains("\n\nhandover.timeout\n    duration (default: 500ms); SHAREDCORE_HANDOVER_TIMEOUT\n    "))
    }

    @Test("In the list of settings each key has a line of its own, and all else is indented", arguments: [40, 57, 80])
    func settings(width: Int) {
        let page = HelpPage.arranged(
            SharedCoreCommand.helpMessage(for: SettingsTopic.self, columns: width), width: width)
        let names = Settings.all.map(\.name)
        let list = page.components(separatedBy: "\n\n" + names[0] + "\n").last.map { names[0] + "\n" + $0 } ?? ""
        #expect(list.split(separator: "\n").filter { !$0.hasPrefix("    ") }.map(String.init) == names, "\(page)")
        // A word that is wider than the page, such as a variable, has a line of its own.
        for line in list.split(separator: "\n") {
            #expect(line.count <= width || line.split(separator: " ").count == 1, "\(line)")
        }
    }

    @Test("In the locale C, messages and help have no typographic characters, and content stays as it is")
    func plain() async throws {
        var program = try HostProgram()
        #expect(try await program.run("set", "“k”", "“v”").status == 0)
        for locale in ["C", "POSIX", "de_DE.ISO-8859-1"] {
            program.environment["LC_ALL"] = locale
            let absent = try await program.run("get", "k")
            #expect(absent.errors == "sharedcore: there is nothing under the key \"k\"\n", "\(absent.errors)")
            let wrong = try await program.run("stoer")
            #expect(
                wrong.errors.hasPrefix("sharedcore: no command is \"stoer\"; did you mean \"store\"?\n"),
                "\(wrong.errors)")
            for arguments in [["set", "--help"], ["help", "settings"], ["status"]] {
                let shown = try await program.run(arguments)
                #expect(shown.status == 0 && shown.output.utf8.allSatisfy { $0 < 0x80 }, "\(shown.output)")
            }
            #expect(try await program.run("ls").output == "“k”\t“v”\n")
        }
        program.environment["LC_ALL"] = ""
        program.environment["LANG"] = "en_US.utf8"
        #expect(try await program.run("get", "k").errors.contains("“k”"))
    }
}
