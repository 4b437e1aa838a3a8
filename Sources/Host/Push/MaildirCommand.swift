internal import ArgumentParser
internal import Coordination
internal import CoreAPI
internal import MaildirCore
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `maildir`: lists the messages that a core has set aside, and gives them back.
struct MaildirCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "maildir", abstract: "List the messages that the core has set aside, or try them again.",
        discussion: HelpPage.text(
            """
            “poison” has those whose reading has ended three processes, “malformed” what is no message, “oversized” what is \
            over a limit. --retry moves all of one kind back to “new”; what has ended processes may then end three more.
            """, examples: ["sharedcore maildir", "sharedcore maildir --retry malformed"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Option(
        help: ArgumentHelp("Try all messages of a kind again: poison, malformed or oversized.", valueName: "kind"),
        completion: .list(SideFolder.allCases.map(\.word)))
    var retry: String?

    private var folder: SideFolder? { SideFolder.allCases.first { $0.word == retry } }

    func validate() throws {
        guard retry == nil || folder != nil else {
            throw ValidationError("--retry takes poison, malformed or oversized, not “\(retry ?? "")”.")
        }
    }

    func run(in context: CommandContext) async throws {
        let path = try context.resolution.maildir()
        if folder != nil { try context.requirePresentGroup() }
        do {
            try await run(at: path, in: context)
        } catch let error as SystemCallError {
            throw CommandFailure(.unavailable, "the Maildir cannot be used: \(error)")
        }
    }

    private func run(at path: String, in context: CommandContext) async throws {
        let thread = SerialThread(name: "maildir")
        // A mistyped path would list nothing, as if no message were set aside.
        _ = try await thread.run { () throws(SystemCallError) in try Directory(path: path) }
        if let folder { return try await retry(folder, at: path, on: thread, in: context) }
        let messages = try await thread.run { () throws(SystemCallError) in try SetAsideMessage.all(beside: path) }
        for message in messages {
            try await context.output.emit(
                data: "\(message.folder.word)\t\(message.byteCount)\t\(ValueText.oneLine(message.name))",
                json: [
                    "event": "setAside", "kind": .text(message.folder.word), "file": .text(message.name),
                    "bytes": .integer(Int64(message.byteCount)),
                ])
        }
    }

    /// Gives the messages back. First removes each one's substitute from the inbox, or the core would regard the
    /// message as shown already.
    private func retry(
        _ folder: SideFolder, at path: String, on thread: SerialThread, in context: CommandContext
    ) async throws {
        let found = try await thread.run { try SetAsideMessage.toRetry(folder, of: path) }
        var count = 0
        var left: [(file: String, reason: String)] = []
        if let found, !found.callIDs.isEmpty {
            let options = try context.resolution.coordinationOptions()
            try await context.withPresentGroup(for: "maildir") { group in
                let inbox = try Inbox(group, lifetime: options.inboxLifetime)
                for (index, callID) in found.callIDs.enumerated() {
                    if let callID, let reason = try await Self.reasonToStay(callID, in: inbox) {
                        left.append((found.name(of: index), reason))
                        continue
                    }
                    try await thread.run { () throws(SystemCallError) in try found.giveBack(index) }
                    count += 1
                }
            }
        }
        for (file, reason) in left {
            try await context.output.emit(
                text: "\(ValueText.oneLine(file)) stays: \(ValueText.oneLine(reason))",
                json: ["event": "stays", "file": .text(file), "reason": .text(reason)])
        }
        let note = left.isEmpty ? "" : " \(left.count.counting("stays", "stay"))."
        try await context.output.confirm(
            text: count.counting("message is", "messages are") + " tried again." + note,
            json: ["event": "retried", "count": .integer(Int64(count)), "left": .integer(Int64(left.count))])
    }

    /// Removes the notice that stands for a message in the inbox, so that the message can be stored again.
    ///
    /// - Returns: Why that is not possible now; nil if the inbox has no such notice any more.
    private static func reasonToStay(_ callID: CallID, in inbox: Inbox) async throws(SharedCoreError) -> String? {
        do throws(SharedCoreError) {
            switch try await inbox.forgetNotice(of: callID) {
            case .gone: return nil
            case .taken: return "an Executor is telling of it"
            case .message: return "the inbox has a message of its call-id"
            case .changed: return "what was answered in its place has changed just now"
            }
        } catch {
            // A damaged record of one message must not prevent the retry of others.
            guard error.code == .corrupt || error.code == .incompatible else { throw error }
            return error.sentence
        }
    }
}
