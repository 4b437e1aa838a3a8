internal import ArgumentParser
internal import CoreAPI

/// `store list`: the entries under a prefix.
struct StoreList: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print the entries under a prefix, in the order of their keys.",
        discussion: "The prefix “a/b” selects the key “a/b” and the keys under “a/b/”.")

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The prefix; without one, everything.")
    var prefix = ""

    @Flag(help: "Also show the keys that the coordination keeps for itself.")
    var all = false

    func run(in context: CommandContext) async throws {
        let selection = try KeyPrefix(prefix)
        let showsReserved = all || ReservedPath.isAskedFor(by: prefix)
        try await context.withPresentGroup(for: "store list") { group in
            let entries = try await group.list(selection).entries
            try await context.output.emit(
                each: entries.lazy.filter { showsReserved || !ReservedPath.contains($0.key) }, text: StoreLine.text,
                json: StoreLine.json)
        }
    }
}
