internal import ArgumentParser
internal import CoreAPI
internal import Logging
internal import ProgramOutput
internal import SharedCoreConfiguration
internal import Wormholes

/// `mailbox take`: takes messages from a queue.
struct MailboxTake: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "take", abstract: "Take messages from a queue: each is printed, then acknowledged.",
        usage: "sharedcore mailbox take [<options>] <id>",
        discussion: HelpPage.text(
            """
            Without --timeout it takes what is there, and status 1 says that nothing was. With --timeout it waits. A message \
            that cannot be read here is told of as undecodable and given back, and the command ends with status 1; with \
            --undecodable it is taken like any other.
            """, examples: ["sharedcore mailbox take jobs --timeout 1h"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions
    @OptionGroup var options: MailboxOptions

    @Argument(help: "The queue.")
    var id: String

    @Option(help: "End after this many messages, 1 or more.")
    var count: Int = 1

    @Option(help: .duration("Wait for messages, at most this long, such as 10s."), transform: DurationText.argument)
    var timeout: Duration?

    @Flag(help: "Take messages that cannot be read here, too: no other consumer gets them then.")
    var undecodable = false

    func validate() throws {
        if count < 1 { throw ValidationError("--count must be 1 or more, not \(count).") }
    }

    func run(in context: CommandContext) async throws {
        let queue = QueueID(id, codec: JSONText.codec)
        let deadline = CommandDeadline(after: timeout, by: context.clock)
        try await context.withGroup(for: "mailbox take", until: deadline) { group in
            let wormhole = options.wormhole(in: group)
            guard timeout != nil else {
                var taken = 0
                while taken < count, let message = try await wormhole.take(from: queue) {
                    try await print(message, to: context.output)
                    taken += 1
                }
                guard taken > 0 else { throw CommandFailure(.no, "there is nothing in “\(id)”") }
                return
            }
            let messages = try await wormhole.consume(queue)
            context.logger.info("waiting")
            // Do not stop when the reader of the output is gone: the acknowledgement of a printed message must
            // complete, or the message would be delivered again.
            var limit = LineLimit(count: UInt64(count), until: deadline) { messages.cancel() }
            defer { limit.end() }
            for try await message in messages {
                try await print(message, to: context.output)
                if limit.isReached() { return }
            }
            try limit.judge()
        }
    }

    private func print(_ message: QueuedMessage<JSONText>, to output: Output) async throws {
        switch message.content {
        case .success(let value):
            let line = MailboxLine(id, value, revision: message.revision, origin: message.origin)
            try await output.confirm(data: line.text, json: line.json)
        case .failure(let problem):
            let line = MailboxLine(id, problem)
            try await output.confirm(data: line.text, json: line.json)
            guard undecodable else {
                try await message.giveBack()
                throw CommandFailure(.no, "a message in “\(id)” cannot be read, and was given back")
            }
        }
        try await message.acknowledge()
    }
}
