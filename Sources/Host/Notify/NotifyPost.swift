internal import ArgumentParser
internal import CoreAPI
internal import ProgramOutput

/// `notify post`: wakes the observers of a name.
struct NotifyPost: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "post", abstract: "Wake the observers of a name.")

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The name.")
    var name: String

    @Option(help: "The new state word, 64 bits; without one it stays as it is.")
    var state: UInt64?

    func run(in context: CommandContext) async throws {
        let name = try NotificationName(name)
        try await context.withGroup(for: "notify post") { group in
            let revision = try await group.post(name, state: state)
            try await context.output.confirm(
                text: "revision \(revision)",
                json: ["name": .text(name.text), "revision": .natural(revision.rawValue)])
        }
    }
}
