internal import ArgumentParser
internal import CoreAPI
internal import FileNotifyBackend

/// `restore`: puts what a backup holds in the place of the group's content.
struct RestoreCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Put what a backup holds in the place of the group's content.",
        discussion: """
            The group is made where there is none. While any process has it open, it is left as it is, with status 69. Keys \
            that live with a session do not come back, and all revisions lie above those that were given out before, so \
            that what was fenced stays fenced. A backup that is not whole is refused; see “salvage”.
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(
        help: "The directory of the backup, or of a copy of a group's directory that was made while no process wrote.",
        completion: .directory)
    var directory: String

    func run(in context: CommandContext) async throws {
        let path = try context.path(ofBackup: directory)
        let place = try context.directoryOfFiles(for: "restore")
        let summary = try await context.onFiles { () throws(SharedCoreError) in
            try FileGroup.restore(SalvagedGroup(readingFrom: path), into: place)
        }
        try await context.emit(summary, "restored to", at: place)
    }
}
