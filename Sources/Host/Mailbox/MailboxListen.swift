internal import ArgumentParser
internal import CoreAPI
internal import Logging
internal import SharedCoreConfiguration
internal import Wormholes

/// `mailbox listen`: prints the events of a mailbox as they come.
struct MailboxListen: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen", abstract: "Print what is sent to a mailbox as it comes, and leave it there.",
        usage: "sharedcore mailbox listen [<options>] <id>",
        discussion: HelpPage.text(
            """
            A line an event: message, cleared, undecodable, or lagged with how many were passed over. Status 1 when the \
            time is over before the wanted number of lines, or any, has come.
            """, examples: ["sharedcore mailbox listen mood --replay latest"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions
    @OptionGroup var mailbox: NamedMailbox

    @Option(
        help: "The present messages that come first: none, latest or pending (default: none).",
        completion: .list(["none", "latest", "pending"]),
        transform: { text in
            guard let replay = ReplayPolicy(rawValue: text) else {
                throw ValidationError("--replay is none, latest or pending, not “\(text)”.")
            }
            return replay
        })
    var replay = ReplayPolicy.none

    @Option(help: "End after this many lines, 1 or more.")
    var count: Int?

    @Option(help: .duration("End after this time, such as 10s."), transform: DurationText.argument)
    var timeout: Duration?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more, not \(count).") }
    }

    func run(in context: CommandContext) async throws {
        let deadline = CommandDeadline(after: timeout, by: context.clock)
        try await context.withGroup(for: "mailbox listen", until: deadline) { group in
            let wormhole = mailbox.options.wormhole(in: group)
            let events =
                mailbox.queue
                ? try await wormhole.listen(to: QueueID(mailbox.id, codec: JSONText.codec), replay: replay)
                : try await wormhole.listen(to: MailboxID(mailbox.id, codec: JSONText.codec), replay: replay)
            context.logger.info("listening")
            try await context.output.whileRead {
                var limit = LineLimit(count: count.map { UInt64($0) }, until: deadline) { events.cancel() }
                defer { limit.end() }
                for try await event in events {
                    let line = MailboxLine(mailbox.id, event)
                    try await context.output.emit(data: line.text, json: line.json)
                    if limit.isReached() { return }
                }
                try limit.judge()
            }
        }
    }
}
