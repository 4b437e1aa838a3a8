internal import ArgumentParser
internal import CoreAPI
internal import ProgramOutput

/// `store delete`: removes a key.
struct StoreDelete: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Remove a key.",
        discussion: "Done, with status 0, also when there was nothing to remove.")

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The key.")
    var key: String

    func run(in context: CommandContext) async throws {
        let key = try Key(key)
        try ReservedPath.refuse(key)
        try await context.withGroup(for: "store delete") { group in
            let commit = try await group.delete(key)
            try await context.output.confirm(
                text: commit.changed ? "revision \(commit.revision)" : "there was nothing",
                json: [
                    "key": .text(key.text), "revision": .natural(commit.revision.rawValue),
                    "changed": .flag(commit.changed),
                ])
        }
    }
}
