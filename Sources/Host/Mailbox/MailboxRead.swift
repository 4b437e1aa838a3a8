internal import ArgumentParser
internal import CoreAPI
internal import ProgramOutput
internal import Wormholes

/// `mailbox read`: what stands in a mailbox.
struct MailboxRead: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "read", abstract: "Print the message of a mailbox, or all of a queue, and leave them there.",
        discussion: "Status 1 when there is none, or one that cannot be read.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var options: MailboxOptions

    @Argument(help: "The mailbox.")
    var id: String

    @Flag(help: "The queue of this name.")
    var queue = false

    func run(in context: CommandContext) async throws {
        try await context.withPresentGroup(for: "mailbox read") { group in
            let lines = try await lines(in: options.wormhole(in: group))
            guard !lines.isEmpty else { throw CommandFailure(.no, "there is nothing in “\(id)”") }
            for line in lines { try await context.output.emit(text: line.text, json: line.json) }
            let problems = lines.compactMap(\.reason)
            guard problems.isEmpty else {
                throw CommandFailure(.no, "\(problems.count) of \(lines.count) in “\(id)” cannot be read")
            }
        }
    }

    private func lines(in wormhole: Wormhole) async throws(WormholeError) -> [MailboxLine] {
        if queue {
            return try await wormhole.read(QueueID(id, codec: JSONText.codec)).map { found in
                switch found {
                case .success(let message): MailboxLine(id, message)
                case .failure(let problem): MailboxLine(id, problem)
                }
            }
        }
        do throws(WormholeError) {
            return try await wormhole.read(MailboxID(id, codec: JSONText.codec)).map { [MailboxLine(id, $0)] } ?? []
        } catch {
            guard let problem = error.undecodable else { throw error }
            return [MailboxLine(id, problem)]
        }
    }
}
