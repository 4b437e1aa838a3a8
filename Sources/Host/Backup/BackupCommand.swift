internal import ArgumentParser
internal import CoreAPI
internal import FileNotifyBackend
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `backup`: writes the content of the group to a directory.
struct BackupCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the content of the group to a directory.",
        discussion: HelpPage.text(
            """
            Copies all keys and notification names at one revision, while the group's processes continue. The directory \
            must not exist yet, or be empty; “restore” reads it. For groups in files, also behind a hub on files with an \
            ipc endpoint. For a hub at a port of this machine, give --backend file.
            """, examples: ["sharedcore backup /srv/backup/today"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

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
            // The backup is made through a participant, which must write its session to the group. So it fails on a
            // read-only mount.
            if error.message == SharedCoreError.readOnlyMount {
                throw CommandFailure(
                    .configuration,
                    "the group at \(place) cannot be joined, because its file system is mounted read-only; “sharedcore salvage "
                        + "\(place) --into \(path)” writes the same backup and only reads the group")
            }
            throw try CommandFailure.opening(error, with: context.resolution)
        }
        let summary = try await group.closing { try await group.backUp(to: path) }
        try await context.emit(summary, "written to", at: path)
    }
}

/// `restore`: replaces the content of the group by that of a backup.
struct RestoreCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Replace the content of the group by that of a backup.",
        discussion: HelpPage.text(
            """
            Creates the group if there is none. Status 69, without a change, while any process has it open. Keys that live \
            with a session are not restored. All new revisions are higher than all earlier ones, so a fenced owner stays \
            fenced. An incomplete backup is refused; see “salvage”.
            """, examples: ["sharedcore restore /srv/backup/today"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

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

/// `salvage`: reports what can be recovered from the files of a group.
struct SalvageCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage", abstract: "Print the newest state that a group's files prove, and what is missing.",
        discussion: HelpPage.text(
            """
            For a damaged directory, for the test of a backup, and for groups of an earlier version of the layout. It \
            changes nothing in the directory. --into writes that state as a complete backup. Status 1 when anything is \
            missing, 69 when nothing can be read.
            """, examples: ["sharedcore salvage ~/.local/state/sharedcore/default --into rescued"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(help: "The group's directory.", completion: .directory)
    var directory: String

    @Option(help: "A directory for the recovered content, which must be absent or empty.", completion: .directory)
    var into: String?

    func run(in context: CommandContext) async throws {
        let path = try context.path(ofBackup: directory)
        let target = try into.map { text in try context.path(ofBackup: text) }
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
