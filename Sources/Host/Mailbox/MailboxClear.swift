internal import ArgumentParser
internal import ProgramOutput
internal import Wormholes

/// `mailbox clear`: removes what stands in a mailbox.
struct MailboxClear: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Remove the message of a mailbox, or all of a queue.",
        discussion: "Listeners are told. Status 1 when there was nothing.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var options: MailboxOptions

    @Argument(help: "The mailbox.")
    var id: String

    @Flag(help: "The queue of this name.")
    var queue = false

    func run(in context: CommandContext) async throws {
        try await context.withGroup(for: "mailbox clear") { group in
            let wormhole = options.wormhole(in: group)
            let hadSome =
                queue
                ? try await wormhole.clear(QueueID(id, codec: JSONText.codec))
                : try await wormhole.clear(MailboxID(id, codec: JSONText.codec))
            guard hadSome else { throw CommandFailure(.no, "there was nothing in “\(id)”") }
            try await context.output.confirm(text: "cleared", json: ["id": .text(id), "cleared": true])
        }
    }
}
