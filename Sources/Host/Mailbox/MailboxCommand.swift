internal import ArgumentParser
internal import CoreAPI
internal import ProgramOutput
internal import Wormholes

/// `mailbox`: messages that wait for their receivers.
struct MailboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mailbox", abstract: "Pass messages to other processes, also to those that come later.",
        discussion: HelpPage.text(
            """
            A mailbox keeps the last message; with --queue it keeps all of them until each is taken. Messages are JSON.
            """,
            examples: [
                #"sharedcore mailbox send jobs '{"file":"a.pdf"}' --queue"#, "sharedcore mailbox take jobs",
            ]),
        subcommands: [
            MailboxSend.self, MailboxRead.self, MailboxListen.self, MailboxTake.self, MailboxClear.self,
            MailboxClearAll.self,
        ])
}

/// The options of every command about mailboxes.
struct MailboxOptions: ParsableArguments {
    @Option(help: "The directory of the mailboxes; each directory has mailboxes of its own.")
    var directory: String?

    func wormhole(in group: any SharedGroup) -> Wormhole {
        Wormhole(group, directory: directory)
    }
}

/// The mailbox or queue that a command names.
struct NamedMailbox: ParsableArguments {
    @OptionGroup var options: MailboxOptions

    @Argument(help: "The mailbox.")
    var id: String

    @Flag(help: "The queue of this name.")
    var queue = false
}

/// `mailbox read`: the content of a mailbox.
struct MailboxRead: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "read", abstract: "Print the message of a mailbox, or all of a queue, and leave them there.",
        discussion: HelpPage.text(
            "Status 1 when there is no message, or one that cannot be read.",
            examples: ["sharedcore mailbox read jobs --queue"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions
    @OptionGroup var mailbox: NamedMailbox

    func run(in context: CommandContext) async throws {
        try await context.withReader(for: "mailbox read") { group in
            let lines = try await lines(in: mailbox.options.wormhole(in: group))
            guard !lines.isEmpty else { throw CommandFailure(.no, "there is nothing in “\(mailbox.id)”") }
            for line in lines { try await context.output.emit(data: line.text, json: line.json) }
            let problems = lines.compactMap(\.reason)
            guard problems.isEmpty else {
                throw CommandFailure(.no, "\(problems.count) of \(lines.count) in “\(mailbox.id)” cannot be read")
            }
        }
    }

    private func lines(in wormhole: Wormhole) async throws(WormholeError) -> [MailboxLine] {
        if mailbox.queue {
            return try await wormhole.read(QueueID(mailbox.id, codec: JSONText.codec)).map { found in
                switch found {
                case .success(let message): MailboxLine(mailbox.id, message)
                case .failure(let problem): MailboxLine(mailbox.id, problem)
                }
            }
        }
        do throws(WormholeError) {
            let message = try await wormhole.read(MailboxID(mailbox.id, codec: JSONText.codec))
            return message.map { [MailboxLine(mailbox.id, $0)] } ?? []
        } catch {
            guard let problem = error.decodingFailure else { throw error }
            return [MailboxLine(mailbox.id, problem)]
        }
    }
}

/// `mailbox clear`: removes the content of a mailbox.
struct MailboxClear: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Remove the message of a mailbox, or all of a queue.",
        discussion: HelpPage.text(
            "Listeners are notified. Status 1 if it was empty.", examples: ["sharedcore mailbox clear jobs --queue"])
    )

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions
    @OptionGroup var mailbox: NamedMailbox

    func run(in context: CommandContext) async throws {
        try await context.withGroup(for: "mailbox clear") { group in
            let wormhole = mailbox.options.wormhole(in: group)
            let hadSome =
                mailbox.queue
                ? try await wormhole.clear(QueueID(mailbox.id, codec: JSONText.codec))
                : try await wormhole.clear(MailboxID(mailbox.id, codec: JSONText.codec))
            guard hadSome else { throw CommandFailure(.no, "there was nothing in “\(mailbox.id)”") }
            try await context.output.confirm(text: "cleared", json: ["id": .text(mailbox.id), "cleared": true])
        }
    }
}

/// `mailbox clear-all`: removes the content of all mailboxes of a wormhole.
struct MailboxClearAll: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear-all", abstract: "Remove all messages of all mailboxes and queues of the directory.",
        discussion: HelpPage.text("Nothing else of the group is touched.", examples: ["sharedcore mailbox clear-all"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions
    @OptionGroup var options: MailboxOptions

    func run(in context: CommandContext) async throws {
        try await context.withGroup(for: "mailbox clear-all") { group in
            let count = try await options.wormhole(in: group).clearAll()
            try await context.output.confirm(
                text: "\(count.counting("mailbox", "mailboxes")) cleared", json: ["cleared": .natural(UInt64(count))])
        }
    }
}

/// A line about a mailbox, as people and programs read it.
struct MailboxLine {
    let kind: String
    let id: String
    var message: JSONText?
    var revision: Revision?
    var origin: SessionID?
    /// For a line `lagged`: how many messages were skipped.
    var missed: UInt64?
    /// For a line `undecodable`: why the message cannot be read.
    var reason: String?

    init(_ id: String, _ message: MailboxMessage<JSONText>) {
        self.init(id, .message(message))
    }

    init(_ id: String, _ message: JSONText, revision: Revision, origin: SessionID) {
        kind = "message"
        self.id = id
        (self.message, self.revision, self.origin) = (message, revision, origin)
    }

    init(_ id: String, _ problem: DecodingFailure) {
        kind = "undecodable"
        self.id = id
        reason = problem.description
    }

    init(_ id: String, _ event: MailboxEvent<JSONText>) {
        self.id = id
        switch event {
        case .message(let found):
            kind = "message"
            (message, revision, origin) = (found.value, found.revision, found.origin)
        case .cleared(let at, let by):
            kind = "cleared"
            (revision, origin) = (at, by)
        case .undecodable(let problem, let at, let by):
            kind = "undecodable"
            (reason, revision, origin) = (problem.description, at, by)
        case .lagged(let count):
            kind = "lagged"
            missed = count
        }
    }

    /// The text line: only the message, if there is one.
    var text: String {
        if let message { return ValueText.oneLine(message.text) }
        if let missed { return "lagged\t\(missed) passed over" }
        return [kind, reason ?? ""].filter { !$0.isEmpty }.joined(separator: "\t")
    }

    var json: JSONObject {
        var json: JSONObject = [
            "kind": .text(kind), "id": .text(id), "message": message.map { .written($0.text) } ?? .null,
            "revision": revision.map { .natural($0.rawValue) } ?? .null, "origin": .optional(origin?.description),
        ]
        if let missed { json.append("missed", .natural(missed)) }
        if let reason { json.append("reason", .text(reason)) }
        return json
    }
}
