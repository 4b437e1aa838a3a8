internal import ArgumentParser
internal import BackendRegistry
internal import Platform
internal import ProgramOutput

/// `version`: the version, and the backends of this build. It reads no configuration.
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Print the version.",
        discussion: HelpPage.text(
            "With --json, “version” and the “backends” of this build.", examples: ["sharedcore version --json"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    func run() throws {
        let backends = SharedCoreProgram.registry.names.map { JSONValue.text($0) }
        let object: JSONObject = ["version": .text(PackageVersion.text), "backends": .array(backends)]
        try OwnOutput.print(global.json ? object.line : PackageVersion.text)
    }
}

/// `completion`: prints the script with which a shell completes command lines.
struct CompletionCommand: ParsableCommand {
    static let name = "completion"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Print a shell's script that completes command lines.",
        discussion: HelpPage.text(
            "Packages install the scripts. The names of groups and keys are completed by asking this program.",
            examples: [
                "source <(sharedcore completion bash)",
                "sharedcore completion fish > ~/.config/fish/completions/sharedcore.fish",
            ]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(
        help: "The shell: bash, zsh or fish.", completion: .list(CompletionShell.allCases.map(\.rawValue)),
        transform: Self.shell)
    var shell: CompletionShell

    func run() throws {
        let script = GlobalOptions.$writesCompletions.withValue(true) { SharedCoreCommand.completionScript(for: shell) }
        try OwnOutput.print(script)
    }

    private static func shell(_ name: String) throws -> CompletionShell {
        guard let shell = CompletionShell(rawValue: name) else {
            throw ValidationError("It must be bash, zsh or fish.")
        }
        return shell
    }
}

/// Standard output for commands that run without a ``CommandFrame``: they open no group and read no configuration.
enum OwnOutput {
    /// Writes a text and a newline.
    ///
    /// - Throws: With status 74 if standard output cannot be written.
    static func print(_ text: String) throws(CommandFailure) {
        do throws(SystemCallError) {
            try StandardStream.output.write(text: text + "\n")
        } catch {
            throw CommandFailure(.output, "\(error.location): \(error.text)")
        }
    }
}
