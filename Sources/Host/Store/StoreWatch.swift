internal import ArgumentParser
internal import CoreAPI
internal import Logging
internal import ProgramOutput

/// `store watch`: the changes under a prefix as they come.
struct StoreWatch: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Print the changes under a prefix as they come.",
        discussion: """
            A line a change: put, deleted, expired or sessionEnded. After a line “lagged”, changes were passed over, and \
            a line “put” for each entry as it stands follows.
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The prefix; without one, everything.")
    var prefix = ""

    @Option(name: .customLong("from"), help: "Begin after this revision; without it, now.")
    var revision: UInt64?

    @Option(help: "End after this many lines.")
    var count: Int?

    @Flag(help: "Also show the keys that the coordination keeps for itself.")
    var all = false

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more.") }
    }

    func run(in context: CommandContext) async throws {
        let selection = try KeyPrefix(prefix)
        let start = revision.map { WatchStart.after(Revision(rawValue: $0)) } ?? .now
        try await context.withGroup(for: "store watch") { group in
            let watch = try await group.watch(selection, from: start)
            context.logger.info("watching")
            var printer = WatchPrinter(
                output: context.output, showsReserved: all || ReservedPath.isAskedFor(by: prefix), remaining: count)
            while let event = try await watch.next() {
                if try await printer.print(event) { return }
            }
            if count != nil { throw CommandFailure(.no, "interrupted before all lines came") }
        }
    }
}
