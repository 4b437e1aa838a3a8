internal import ArgumentParser
internal import ProgramOutput
internal import Wormholes

/// `mailbox clear-all`: removes what stands in all mailboxes of a wormhole.
struct MailboxClearAll: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear-all", abstract: "Remove what stands in all mailboxes and queues of the wormhole.",
        discussion: "Nothing else of the group is touched.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var options: MailboxOptions

    func run(in context: CommandContext) async throws {
        try await context.withGroup(for: "mailbox clear-all") { group in
            let count = try await options.wormhole(in: group).clearAll()
            try await context.output.confirm(
                text: "\(count) mailboxes cleared", json: ["cleared": .natural(UInt64(count))])
        }
    }
}
