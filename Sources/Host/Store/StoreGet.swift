internal import ArgumentParser
internal import CoreAPI
internal import Glibc
internal import ProgramOutput

/// `store get`: the value under a key.
struct StoreGet: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the value under a key.",
        discussion: """
            Status 1 when there is none. Without --json the value's bytes are printed as they are, and nothing else: only on \
            a terminal a line feed follows.
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The key.")
    var key: String

    func run(in context: CommandContext) async throws {
        let key = try Key(key)
        try await context.withPresentGroup(for: "store get") { group in
            guard let entry = try await group.get(key) else {
                throw CommandFailure(.no, "there is nothing under the key “\(key)”")
            }
            if context.output.json {
                try await context.output.emit(text: "", json: StoreLine.json(entry))
            } else {
                let end = isatty(STDOUT_FILENO) == 1 ? [UInt8(ascii: "\n")] : []
                try await context.output.write(entry.value + end)
            }
        }
    }
}
