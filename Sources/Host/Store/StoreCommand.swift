internal import ArgumentParser
internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `store`: the shared dictionary.
struct StoreCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "store", abstract: "Read, write and watch the shared dictionary.",
            discussion: HelpPage.text(
                "These commands also exist without “store”: “sharedcore get” is “sharedcore store get”.",
                examples: ["sharedcore store get mail/unread", "sharedcore store watch mail"]),
            subcommands: [
                StoreGet.self, StorePut.self, StoreDelete.self, StoreList.self, StoreWatch.self,
            ].withAliases)
    }
}

/// `store put`: sets the value under a key.
struct StorePut: HostCommand, TakesBytes {
    static let configuration = CommandConfiguration(
        commandName: "put", abstract: "Set the value under a key.",
        usage: "sharedcore set [<options>] <key> <value>\nsharedcore store put [<options>] <key> <value>",
        discussion: HelpPage.text(
            "Status 1 when the condition does not hold.",
            examples: [
                "sharedcore set mail/unread 3", "sharedcore set mail/lock me --if-absent --ttl 30s",
                "date | sharedcore set mail/checked -",
            ]), aliases: ["set"])

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(help: "The key.", completion: Completion.key)
    var key: String

    @Argument(help: "The value; “-” reads it from standard input. Write “--” before one that begins with “-”.")
    var value: ArgumentBytes

    var values: [ArgumentBytes] { [value] }

    @Flag(help: "Only if the key is absent.")
    var ifAbsent = false

    @Option(
        help: ArgumentHelp("Only when the value was last written by this revision.", valueName: "revision"))
    var ifRevision: UInt64?

    @Option(
        name: .customLong("ttl"), help: .duration("How long the entry lives, such as 90s."),
        transform: DurationText.argument)
    var lifetime: Duration?

    func validate() throws {
        if ifAbsent, ifRevision != nil {
            throw ValidationError("--if-absent and --if-revision exclude each other.")
        }
    }

    func run(in context: CommandContext) async throws {
        let key = try Key(key)
        try ReservedPath.refuse(key)
        try await context.withGroup(for: "store put") { group in
            let bytes = try await InputValue.bytes(value, limit: group.capabilities.limits.valueByteCount)
            var transaction = Transaction()
            if ifAbsent { transaction.require(.absent(key)) }
            if let ifRevision { transaction.require(.revision(key, Revision(rawValue: ifRevision))) }
            transaction.put(key, bytes, lifetime: lifetime.map { .expiring(after: $0) } ?? .persistent)
            let commit = try await commit(transaction, to: group)
            try await context.output.confirm(
                text: "revision \(commit.revision)",
                json: ["key": .text(key.text), "revision": .natural(commit.revision.rawValue)])
        }
    }

    /// Commits a transaction, and converts a failed guard to a message about the command's options.
    private func commit(_ transaction: Transaction, to group: any SharedGroup) async throws -> Commit {
        do throws(SharedCoreError) {
            return try await group.commit(transaction)
        } catch {
            guard let failure = error.guardFailure else { throw error }
            let found = failure.found.map { "it was last written by revision \($0.revision)" } ?? "the key is absent"
            throw CommandFailure(.no, "the condition on the key “\(key)” does not hold: \(found)")
        }
    }
}

/// `store get`: the value under a key.
struct StoreGet: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the value under a key.",
        usage: "sharedcore get <key>\nsharedcore store get <key>",
        discussion: HelpPage.text(
            """
            Status 1 when there is none. Without --json the value's bytes are printed as they are, and nothing else: only on \
            a terminal a line feed follows.
            """, examples: ["sharedcore get mail/unread"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(help: "The key.", completion: Completion.key)
    var key: String

    func run(in context: CommandContext) async throws {
        let key = try Key(key)
        try await context.withReader(for: "store get") { group in
            guard let entry = try await group.get(key) else {
                throw CommandFailure(.no, "there is nothing under the key “\(key)”")
            }
            if context.output.json {
                try await context.output.emit(text: "", json: StoreLine.json(entry))
            } else {
                let end = StandardStream.output.isTerminal ? [UInt8(ascii: "\n")] : []
                try await context.output.write(entry.value + end)
            }
        }
    }
}

/// `store delete`: removes a key.
struct StoreDelete: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Remove a key.",
        usage: "sharedcore del <key>\nsharedcore store delete <key>",
        discussion: HelpPage.text(
            "Status 0 even if there was nothing to remove.", examples: ["sharedcore del mail/unread"]),
        aliases: ["del"])

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(help: "The key.", completion: Completion.key)
    var key: String

    func run(in context: CommandContext) async throws {
        let key = try Key(key)
        try ReservedPath.refuse(key)
        try await context.withGroup(for: "store delete") { group in
            let commit = try await group.delete(key)
            try await context.output.confirm(
                text: commit.changed ? "revision \(commit.revision)" : "there was nothing",
                json: [
                    "key": .text(key.text), "revision": .natural(commit.revision.rawValue),
                    "changed": .flag(commit.changed),
                ])
        }
    }
}

/// `store list`: the entries under a prefix.
struct StoreList: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print the entries under a prefix, in the order of their keys.",
        usage: "sharedcore ls [--all] [<prefix>]\nsharedcore store list [--all] [<prefix>]",
        discussion: HelpPage.text(
            """
            The prefix “a/b” selects the key “a/b” and the keys under “a/b/”. A line is the key, a tab and the value. \
            Control characters are escaped, and in keys backslashes are doubled; “get” and --json have them as they are.
            """, examples: ["sharedcore ls mail"]),
        aliases: ["ls"])

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(help: "The prefix (default: everything).", completion: Completion.key)
    var prefix = ""

    @Flag(help: "Also show the keys that the coordination keeps for itself.")
    var all = false

    func run(in context: CommandContext) async throws {
        let selection = try KeyPrefix(prefix)
        let showsReserved = all || ReservedPath.isAskedFor(by: prefix)
        try await context.withReader(for: "store list") { group in
            let entries = try await group.list(selection).entries
            try await context.output.emit(
                each: entries.lazy.filter { showsReserved || !ReservedPath.contains($0.key) }, text: StoreLine.text,
                json: StoreLine.json)
        }
    }
}

/// The output lines of entries and changes in the store's commands.
enum StoreLine {
    /// Returns an entry as JSON: `key value revision`.
    static func json(_ entry: Entry) -> JSONObject {
        var line: JSONObject = ["key": .text(entry.key.text)]
        let value = ValueText.fields(entry.value)
        line.append(value.name, value.value)
        line.append("revision", .natural(entry.revision.rawValue))
        return line
    }

    /// Returns an entry as a line for people: its key, a tab and its value.
    static func text(_ entry: Entry) -> String {
        shown(entry.key) + "\t" + ValueText.oneLine(entry.value)
    }

    /// Returns the key as text. Backslashes are doubled, so that two keys never look alike after escaping.
    private static func shown(_ key: Key) -> String {
        let doubled = key.text.unicodeScalars.reduce(into: "") { text, scalar in
            text += scalar == "\\" ? "\\\\" : "\(scalar)"
        }
        return ValueText.oneLine(doubled)
    }

    /// Returns a change as JSON: `kind key value revision`; key and value are null if the change has none.
    static func json(kind: String, key: Key?, value: [UInt8]?, revision: Revision) -> JSONObject {
        var line: JSONObject = ["kind": .text(kind), "key": .optional(key?.text)]
        let value = ValueText.fields(value)
        line.append(value.name, value.value)
        line.append("revision", .natural(revision.rawValue))
        return line
    }

    /// Returns a change as a line for people, with tabs between its parts.
    static func text(kind: String, key: Key?, value: [UInt8]?, revision: Revision) -> String {
        var parts = ["\(revision)", kind]
        if let key { parts.append(shown(key)) }
        if let value { parts.append(ValueText.oneLine(value)) }
        return parts.joined(separator: "\t")
    }
}

/// The part of the dictionary with the coordination's own keys.
enum ReservedPath {
    static let name = ".sharedcore"

    private static let prefix = KeyPrefix(stringLiteral: ".sharedcore")

    /// Returns whether a key belongs to the coordination.
    static func contains(_ key: Key) -> Bool {
        prefix.contains(key)
    }

    /// Returns true if a caller with this prefix explicitly requests the reserved keys.
    static func isAskedFor(by path: String) -> Bool {
        path == name || path.hasPrefix(name + "/")
    }

    /// Refuses a write there.
    static func refuse(_ key: Key) throws(CommandFailure) {
        guard contains(key) else { return }
        throw .usage("the key “\(key)” lies under “\(name)/”, where only the coordination writes.")
    }
}
