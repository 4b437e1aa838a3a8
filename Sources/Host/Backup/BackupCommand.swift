internal import ArgumentParser
internal import CoreAPI
internal import FileNotifyBackend

/// `backup`: writes what stands in the group to a directory.
struct BackupCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write what stands in the group to a directory.",
        discussion: """
            All keys and notification names as they stand at one revision, while the group's processes go on. The directory \
            must not be there yet, or be empty; “restore” takes it back. For groups in files, also behind a hub of this \
            machine.
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The directory.", completion: .directory)
    var directory: String

    func run(in context: CommandContext) async throws {
        let path = try context.path(ofBackup: directory)
        let place = try context.directoryOfFiles(for: "backup")
        try context.requirePresentGroup(at: place)
        let group: FileGroup
        do throws(SharedCoreError) {
            group = try await FileGroup.open(
                directory: place, as: SessionDescription(role: .tool, name: "sharedcore backup"))
        } catch {
            throw try CommandFailure.opening(error, with: context.resolution)
        }
        do {
            let summary = try await group.backUp(to: path)
            await group.close()
            try await context.emit(summary, "written to", at: path)
        } catch {
            await group.close()
            throw error
        }
    }
}
