internal import ArgumentParser
internal import MaildirCore
internal import Platform
internal import ProgramOutput

/// `maildir`: lists the messages that a core has set aside, and gives them back.
struct MaildirCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "maildir", abstract: "List the messages that the core has set aside, or try them again.",
        discussion: """
            “poison” has those whose reading has ended three processes, “malformed” what is no message, “oversized” what is \
            over a limit. --retry moves all of one kind back to “new”; what has ended processes may then end three more.
            """)

    @OptionGroup var global: GlobalOptions

    @Option(help: "Try all messages of a kind again: poison, malformed or oversized.")
    var retry: String?

    private var folder: SideFolder? { SideFolder.allCases.first { $0.word == retry } }

    func validate() throws {
        guard retry == nil || folder != nil else {
            throw ValidationError("--retry takes poison, malformed or oversized.")
        }
    }

    func run(in context: CommandContext) async throws {
        let path = try context.resolution.maildir()
        do {
            try await run(at: path, in: context)
        } catch let error as SystemCallError {
            throw CommandFailure(.unavailable, "the Maildir cannot be used: \(error)")
        }
    }

    private func run(at path: String, in context: CommandContext) async throws {
        let thread = SerialThread(name: "maildir")
        if let folder {
            let count = try await thread.run { () throws(SystemCallError) in
                try SetAsideMessage.retry(folder, of: path)
            }
            return try await context.output.confirm(
                text: count.counting("message") + (count == 1 ? " is" : " are") + " tried again.",
                json: ["event": "retried", "count": .integer(Int64(count))])
        }
        let messages = try await thread.run { () throws(SystemCallError) in try SetAsideMessage.all(beside: path) }
        for message in messages {
            try await context.output.emit(
                text: "\(message.folder.word)\t\(message.byteCount)\t\(ValueText.oneLine(message.name))",
                json: [
                    "event": "setAside", "kind": .text(message.folder.word), "file": .text(message.name),
                    "bytes": .integer(Int64(message.byteCount)),
                ])
        }
    }
}
