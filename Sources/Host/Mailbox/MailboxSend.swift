internal import ArgumentParser
internal import CoreAPI
internal import Mailboxes
internal import ProgramOutput
internal import SharedCoreConfiguration
internal import Wormholes

/// `mailbox send`: puts a message into a mailbox.
struct MailboxSend: HostCommand, TakesBytes {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Put a message into a mailbox, in place of the one before.",
        usage: "sharedcore mailbox send [<options>] <id> <message>",
        discussion: HelpPage.text(
            "With --queue: behind those before. Status 1 when the queue is full and refuses.",
            examples: [
                "sharedcore mailbox send mood '\"good\"'",
                "sharedcore mailbox send jobs '{\"file\": 7}' --queue --capacity 100",
            ]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions
    @OptionGroup var options: MailboxOptions

    @Argument(help: "The mailbox.")
    var id: String

    @Argument(help: "The message, as JSON; “-” reads it from standard input.")
    var message: ArgumentBytes

    var values: [ArgumentBytes] { [message] }

    @Flag(help: "Into the queue of this name, which keeps all messages.")
    var queue = false

    @Option(help: "The most messages that the queue keeps.")
    var capacity: Int?

    @Flag(help: "Drop the oldest messages when the queue is full, instead of refusing.")
    var dropOldest = false

    @Option(
        name: .customLong("ttl"), help: .duration("How long the message is kept, such as 90s."),
        transform: DurationText.argument)
    var lifetime: Duration?

    func validate() throws {
        if !queue, capacity != nil || dropOldest {
            throw ValidationError("--capacity and --drop-oldest belong to a --queue.")
        }
        if let capacity, capacity < 1 { throw ValidationError("--capacity must be 1 or more, not \(capacity).") }
        if dropOldest, capacity == nil { throw ValidationError("--drop-oldest needs a --capacity.") }
    }

    func run(in context: CommandContext) async throws {
        try await context.withGroup(for: "mailbox send") { group in
            let limit = group.capabilities.limits.valueByteCount
            let bytes = try await InputValue.bytes(message, limit: limit)
            let text: JSONText
            do { text = try JSONText(bytes) } catch {
                throw CommandFailure.usage("the message is not JSON; write text in double quotes, such as '\"hello\"'")
            }
            let wormhole = options.wormhole(in: group)
            let kept = lifetime.map { Lifetime.expiring(after: $0) } ?? .persistent
            if queue {
                // Check the whole record first: otherwise a message that is too large would be refused as if the queue
                // were full.
                let count = try wormhole.byteCount(of: text, in: QueueID(id, codec: JSONText.codec))
                if count > limit {
                    throw CommandFailure(
                        .unavailable,
                        "A message has at most \(limit) bytes with the queue's record, this one would have \(count)."
                            .ending(withCode: SharedCoreError.Code.limitExceeded))
                }
                try await send(text, kept: kept, through: wormhole, printing: context.output)
            } else {
                let revision = try await wormhole.send(
                    text, to: MailboxID(id, codec: JSONText.codec, lifetime: kept))
                try await context.output.confirm(
                    text: "revision \(revision)",
                    json: ["id": .text(id), "revision": .natural(revision.rawValue)])
            }
        }
    }

    private func send(
        _ text: JSONText, kept: Lifetime, through wormhole: Wormhole, printing output: Output
    ) async throws {
        let options = QueueOptions(
            capacity: capacity, overflow: dropOldest ? .dropOldest : .refuse, lifetime: kept)
        let receipt: SendReceipt
        do throws(WormholeError) {
            receipt = try await wormhole.send(text, to: QueueID(id, codec: JSONText.codec, options: options))
        } catch {
            guard let cause = error.cause, cause.code == .limitExceeded else { throw error }
            throw CommandFailure(.no, cause.message.ending(withCode: cause.code))
        }
        try await output.confirm(
            text: "revision \(receipt.revision)"
                + (receipt.dropped.isEmpty ? "" : ", \(receipt.dropped.count) were dropped for it"),
            json: [
                "id": .text(id), "revision": .natural(receipt.revision.rawValue),
                "dropped": .natural(UInt64(receipt.dropped.count)),
            ])
    }
}
