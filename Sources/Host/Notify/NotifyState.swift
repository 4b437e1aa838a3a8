internal import ArgumentParser
internal import CoreAPI
internal import ProgramOutput

/// `notify state`: what stands under a name.
struct NotifyState: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "state", abstract: "Print the state word of a name and how often it was posted.")

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The name.")
    var name: String

    func run(in context: CommandContext) async throws {
        let name = try NotificationName(name)
        try await context.withPresentGroup(for: "notify state") { group in
            let state = try await group.state(of: name)
            try await context.output.emit(
                text: "state \(state.state), posted \(state.count) times",
                json: [
                    "name": .text(name.text), "state": .natural(state.state), "count": .natural(state.count),
                    "revision": .natural(state.revision.rawValue), "origin": .optional(state.origin?.description),
                ])
        }
    }
}
