internal import ArgumentParser
internal import CoreAPI
internal import Logging
internal import ProgramOutput

/// `store watch`: prints the changes under a prefix as they come.
struct StoreWatch: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Print the changes under a prefix as they come.",
        usage: "sharedcore watch [<options>] [<prefix>]\nsharedcore store watch [<options>] [<prefix>]",
        discussion: HelpPage.text(
            """
            A line a change: put, deleted, expired or sessionEnded. After a line “lagged”, changes were passed over, and \
            a line “put” for each entry as it stands follows.
            """, examples: ["sharedcore watch mail", "sharedcore watch --json --count 1"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(help: "The prefix (default: everything).", completion: Completion.key)
    var prefix = ""

    @Option(
        name: .customLong("from"),
        help: ArgumentHelp("Begin after this revision (default: now).", valueName: "revision"))
    var revision: UInt64?

    @Option(help: "End after this many lines, 1 or more.")
    var count: Int?

    @Flag(help: "Also show the keys that the coordination keeps for itself.")
    var all = false

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more, not \(count).") }
    }

    func run(in context: CommandContext) async throws {
        let selection = try KeyPrefix(prefix)
        let start = revision.map { WatchStart.after(Revision(rawValue: $0)) } ?? .now
        try await context.withGroup(for: "store watch") { group in
            let watch = try await group.watch(selection, from: start)
            context.logger.info("watching")
            try await context.output.whileRead {
                var printer = WatchPrinter(
                    output: context.output, showsReserved: all || ReservedPath.isAskedFor(by: prefix),
                    remaining: count)
                while let event = try await watch.next() {
                    if try await printer.print(event) { return }
                }
                if count != nil { throw CommandFailure(.no, "interrupted before all lines came") }
            }
        }
    }
}

/// Prints the events of a watch, up to a number of lines.
struct WatchPrinter {
    let output: Output
    let showsReserved: Bool
    /// The number of lines that are still wanted; nil for all.
    var remaining: Int?

    /// Prints an event. True when no more lines are wanted.
    mutating func print(_ event: WatchEvent) async throws -> Bool {
        switch event {
        case .snapshot(let snapshot):
            return try await print(snapshot)
        case .lagged(let snapshot):
            if try await print("lagged", nil, nil, snapshot.revision) { return true }
            return try await print(snapshot)
        case .changes(let set):
            for change in set.changes where showsReserved || !ReservedPath.contains(change.key) {
                if try await print(name(of: change.kind), change.key, change.new?.value, set.revision) { return true }
            }
            return false
        }
    }

    private mutating func print(_ snapshot: Snapshot) async throws -> Bool {
        for entry in snapshot.entries where showsReserved || !ReservedPath.contains(entry.key) {
            if try await print("put", entry.key, entry.value, entry.revision) { return true }
        }
        return false
    }

    private mutating func print(
        _ kind: String, _ key: Key?, _ value: [UInt8]?, _ revision: Revision
    ) async throws -> Bool {
        try await output.emit(
            data: StoreLine.text(kind: kind, key: key, value: value, revision: revision),
            json: StoreLine.json(kind: kind, key: key, value: value, revision: revision))
        guard let left = remaining else { return false }
        remaining = left - 1
        return left <= 1
    }

    private func name(of kind: Change.Kind) -> String {
        switch kind {
        case .put: "put"
        case .deleted: "deleted"
        case .expired: "expired"
        case .sessionEnded: "sessionEnded"
        }
    }
}
