internal import ArgumentParser
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// The parser's help of a command, rearranged so that the examples are at the end.
enum HelpPage {
    /// The widest line.
    static let maximumWidth = 80
    /// The parser traps if the terminal is so narrow that its column of names leaves no room for texts.
    private static let minimumWidth = 40

    /// Sets a sufficient width for help if the terminal or COLUMNS is too narrow. Call it only while the process has
    /// one thread.
    static func makeRoom(for arguments: [String]) {
        guard arguments.prefix(while: { $0 != "--" }).contains(where: ["help", "--help", "-h"].contains) else { return }
        let width =
            OwnProcess.variable("COLUMNS").flatMap { Int(String(decoding: $0, as: UTF8.self)) }
            ?? StandardStream.output.columnCount
        if let width, width < minimumWidth { OwnProcess.set("COLUMNS", to: "\(minimumWidth)") }
    }

    private static let beginning = "OVERVIEW: "
    private static let examples = "\n\nExamples:\n\n"
    private static let usage = "\n\nUSAGE: "

    /// Returns the discussion of a command, with examples.
    ///
    /// - Parameter examples: Lines for a shell, at most 76 characters long.
    static func text(_ text: String = "", examples: [String]) -> String {
        text + Self.examples.dropFirst(text.isEmpty ? 2 : 0) + examples.map { "    \($0)" }.joined(separator: "\n")
    }

    /// Moves the examples of the parser's help to its end, and appends a reference to the global options; to the page
    /// of the settings, their list.
    static func arranged(_ help: String, width: Int = maximumWidth) -> String {
        var page = help
        var end = ""
        if let start = page.firstRange(of: examples) {
            let rest = page[start.upperBound...]
            let last = rest.firstRange(of: usage)?.lowerBound ?? page.endIndex
            var lines: [String] = []
            for line in page[start.upperBound..<last].split(separator: "\n") {
                if line.hasPrefix("    ") || lines.isEmpty {
                    lines.append(String(line.dropFirst(2)))
                } else {
                    // The parser has wrapped the example. Join its lines, because the wrapped text is not the same
                    // command.
                    lines[lines.count - 1] += " " + line
                }
            }
            end = "\n\nEXAMPLES:\n" + lines.joined(separator: "\n")
            page.removeSubrange(start.lowerBound..<last)
        }
        page = page.trimmingEnd + end
        // The parser has wrapped the page.
        let words = page.split(whereSeparator: \.isWhitespace)
        if words.starts(with: (beginning + SettingsTopic.configuration.abstract).split(separator: " ")) {
            page += "\n\n" + SettingsTopic.list(width: width)
        } else if !page.contains("\(GlobalOptions.title.uppercased()):\n") {
            page += "\n\n  See “sharedcore help options” for the options that every command takes."
        }
        return page.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix("  See '") ? MessageStyle.quoted(String(line)) : String(line)
        }.joined(separator: "\n")
    }

    /// Wraps the parser's line about an argument at the width of the help.
    static func wrapped(_ message: String) -> String {
        message.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            line.hasPrefix("Help:  ") ? LineWrap.lines(of: String(line), width: maximumWidth) : [String(line)]
        }.joined(separator: "\n")
    }

    /// Returns the answer to a request that the parser throws as an error, such as one for help. Help is printed in the locale's
    /// characters; other answers, such as a completion script, are read by programs and stay as they are.
    static func answer(to error: any Error, for arguments: [String]) -> String {
        let isScript = arguments.contains { $0.hasPrefix("--generate-completion-script") }
        let width = max(minimumWidth, min(maximumWidth, StandardStream.output.columnCount ?? maximumWidth))
        let answer = GlobalOptions.$writesCompletions.withValue(isScript) {
            SharedCoreCommand.fullMessage(for: error, columns: width)
        }
        return isHelp(answer) ? ProgramText.inLocale(arranged(answer, width: width)) : answer
    }

    /// Returns true if an answer of the parser is help.
    static func isHelp(_ answer: String) -> Bool { answer.hasPrefix(beginning) }
}

extension String {
    fileprivate var trimmingEnd: String {
        var text = self
        while text.last?.isNewline == true { text.removeLast() }
        return text
    }
}

/// `help options`: the options of all commands. It is a page of the help, not a command.
struct OptionsTopic: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "options", abstract: "The options that every command takes, before its name or after it.",
        usage: "sharedcore [<options>] <command> ...", shouldDisplay: false)

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions
}

/// `help settings`: all settings. It is a page of the help, not a command.
struct SettingsTopic: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "The settings of the configuration.", usage: "",
        discussion: """
            Each key is followed by its possible values, its default, its environment variable and its meaning. A duration \
            is a number with ms, s, m or h; a bare number means seconds.
            """,
        shouldDisplay: false)

    /// Returns a paragraph for each setting: its key, and indented lines of at most `width` characters. The parser,
    /// which would wrap them without the indentation, does not see them.
    static func list(width: Int) -> String {
        func indented(_ text: String) -> [String] { LineWrap.lines(of: "    " + text, width: width) }
        return Settings.all.map { setting in
            ([setting.name]
                + indented("\(setting.kindName) (default: \(setting.fallback.description)); \(setting.environmentName)")
                + indented(setting.summary))
                .joined(separator: "\n")
        }.joined(separator: "\n\n")
    }
}
