internal import ArgumentParser
internal import CoreAPI
internal import FileNotifyBackend
internal import ProgramOutput

/// `salvage`: tells what the files of a group prove.
struct SalvageCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage", abstract: "Tell the newest state that a group's files prove, and what is missing.",
        discussion: """
            For a damaged directory, a backup that is to be tested, and groups of an earlier version of the layout. Nothing \
            in the directory is changed. --into writes that state as a backup that is whole. Status 1 when anything is \
            missing, 69 when nothing is left.
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The group's directory.", completion: .directory)
    var directory: String

    @Option(help: "A directory for what is left, which is not there yet or is empty.", completion: .directory)
    var into: String?

    func run(in context: CommandContext) async throws {
        let path = try context.path(ofBackup: directory)
        let target = try into.map { text throws(CommandFailure) in try context.path(ofBackup: text) }
        let salvaged = try await context.onFiles { () throws(SharedCoreError) in
            let salvaged = try SalvagedGroup(readingFrom: path)
            if let target { _ = try salvaged.write(to: target) }
            return salvaged
        }
        for finding in salvaged.findings {
            try await context.output.emit(text: finding, json: ["event": "missing", "text": .text(finding)])
        }
        try await context.emit(
            salvaged.summary, target == nil ? "found in" : "written to", at: target ?? path)
        guard salvaged.findings.isEmpty else { throw CommandFailure(.no) }
    }
}
