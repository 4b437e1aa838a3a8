internal import ArgumentParser
internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `inbox`: the messages that wait to be acknowledged.
struct InboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox", abstract: "List the messages that wait to be acknowledged, or acknowledge one.",
        discussion: HelpPage.text(examples: ["sharedcore inbox", "sharedcore inbox acknowledge 17"]),
        subcommands: [InboxList.self, InboxAcknowledge.self], defaultSubcommand: InboxList.self)
}

/// `inbox list`: a page of them.
struct InboxList: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the messages that wait to be acknowledged, the oldest first.",
        discussion: HelpPage.text(
            """
            Prints a line for each. If there are more, a last line names the revision after which to continue. Takes no message.
            """, examples: ["sharedcore inbox --limit 10"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Option(help: "Begin after this revision, the end of a previous page.")
    var after: UInt64 = 0

    @Option(help: "How many messages at most.")
    var limit: Int = 100

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be 1 or more, not \(limit).") }
    }

    func run(in context: CommandContext) async throws {
        try await context.withReader(for: "inbox list") { group in
            let page = try await Inbox(group).messages(after: Revision(rawValue: after), limit: limit)
            for message in page.messages {
                try await context.output.emit(text: message.sentence, json: message.json)
            }
            guard let next = page.next else { return }
            try await context.output.emit(
                text: "There are more: --after \(next)", json: ["event": "more", "after": .natural(next.rawValue)])
        }
    }
}

/// `inbox acknowledge`: acknowledges a message that was shown, for example by a Main.
struct InboxAcknowledge: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "acknowledge", abstract: "Acknowledge a shown message, so that no Executor shows it again.",
        discussion: HelpPage.text(
            "Also a message that an Executor has in hand. Status 1 when no such message waits to be acknowledged.",
            examples: ["sharedcore inbox acknowledge 17"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(help: "The call-id of the message.")
    var callID: String

    @Option(help: "The sequence that the message has beside its call-id, as the list shows it.")
    var sequence: String?

    func run(in context: CommandContext) async throws {
        guard let call = CallID(callID), let id = sequence.map({ MessageID(call, sequence: $0) }) ?? MessageID(call)
        else { throw CommandFailure.usage("“\(callID)” with this sequence is the identity of no message") }
        let options = try context.resolution.coordinationOptions()
        try await context.withGroup(for: "inbox acknowledge") { group in
            switch try await Inbox(group, lifetime: options.inboxLifetime).acknowledge(id) {
            case .changed, .changedInHand: break
            case .over, .absent: throw CommandFailure(.no, "no message “\(id)” waits to be acknowledged")
            }
            var json: JSONObject = ["callID": .text(callID)]
            if let sequence { json.append("sequence", .text(sequence)) }
            json.append("acknowledged", true)
            try await context.output.confirm(text: "acknowledged", json: json)
        }
    }
}

extension ListedMessage {
    fileprivate var sentence: String {
        let hand = takenBy.map { ", in hand of \($0)" } ?? ""
        return "\(storedAt) “\(ValueText.oneLine(message.id.description))”\(hand): from "
            + "\(ValueText.oneLine(message.content.sender)): \(message.content.sentence)"
    }

    /// The message as a JSON line: `event callID from revision takenBy`, then `kind to` and the details that the
    /// message has, `text`, and a body.
    fileprivate var json: JSONObject {
        var object: JSONObject = [
            "event": "message", "callID": .text(message.callID.text), "from": .text(message.content.sender),
            "revision": .natural(storedAt.rawValue), "takenBy": .optional(takenBy?.description),
        ]
        object.append(detailsOf: message)
        object.append("text", .text(message.content.text))
        object.append(bodyOf: message)
        return object
    }
}

extension InboxMessage.Content {
    /// The content as one line: the text, or the kind of message.
    var sentence: String {
        guard text.isEmpty else { return ValueText.oneLine(text) }
        return switch kind {
        case .text, .invitation: ""
        case .tooLarge: "a message that is too large to be shown here."
        default: "a message of the kind “\(kind)”."
        }
    }
}
