internal import ArgumentParser
internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import ProgramOutput

/// `inbox`: lists the messages that wait to be acknowledged.
struct InboxCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox", abstract: "List the messages that wait to be acknowledged, the oldest first.",
        discussion: """
            A line for each, and a last one that says after which revision to go on where there are more. Nothing is taken.
            """)

    @OptionGroup var global: GlobalOptions

    @Option(help: "Begin after this revision, with which a page before has ended.")
    var after: UInt64 = 0

    @Option(help: "How many messages at most.")
    var limit: Int = 100

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be 1 or more.") }
    }

    func run(in context: CommandContext) async throws {
        try await context.withReader(for: "inbox") { group in
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

extension ListedMessage {
    fileprivate var sentence: String {
        let hand = takenBy.map { ", in hand of \($0)" } ?? ""
        return "\(storedAt) “\(ValueText.oneLine(message.id.description))”\(hand): from "
            + "\(ValueText.oneLine(message.content.sender)): \(message.content.sentence)"
    }

    /// `event callID from revision takenBy`, what else the message has, `text`, and a body.
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
    /// The content for a person, in one line: the text, or what kind of message it is.
    var sentence: String {
        guard text.isEmpty else { return ValueText.oneLine(text) }
        return switch kind {
        case .text, .invitation: ""
        case .tooLarge: "a message that is too large to be shown here."
        default: "a message of the kind “\(kind)”."
        }
    }
}
