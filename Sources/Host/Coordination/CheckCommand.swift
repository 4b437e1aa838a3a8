internal import ArgumentParser
internal import Coordination
internal import CoreAPI
internal import FileNotifyBackend
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `check`: checks the rules of ownership on the timeline, and the checksums of the stored data.
struct CheckCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Prove the rules of ownership on the timeline, and the files of a group by their checksums.",
        discussion: HelpPage.text(
            """
            Checks the group's timeline, or a file of lines that “timeline --json” printed; “-” is standard input. It prints \
            each broken rule with its revision, and the checkpoint from which on the rest is proved. Status 1 when a rule \
            is broken, or two cores with a right to run overlapped.

            If the group is in files of this machine, every record and value is first read from the disk, also while the \
            group is in use. Status 69, with the place, when one is damaged.
            """, examples: ["sharedcore check", "sharedcore timeline --json | sharedcore check -"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(help: "A file of lines of “timeline --json”; without it, what is stored is checked.")
    var file: String?

    func run(in context: CommandContext) async throws {
        if let file {
            let text = try await Self.read(file)
            return try await report(try SavedTimeline(text, in: file).report, in: context)
        }
        var isOpen = false
        do {
            try await context.withReader(for: "check") { group in
                isOpen = true
                // Check the files while this command has the group open, because opening it completes a commit that the
                // end of the last boot has interrupted.
                try await checkFiles(in: context)
                try await report(TimelineChecker.check(try await Timeline(group).history()), in: context)
            }
        } catch {
            // If the group could not be opened, check the files here as well: a hub that reads a damaged value sends
            // its state to no client, and cannot say where the damage is.
            if !isOpen, try context.hasServingHub { try await checkFiles(in: context) }
            throw error
        }
    }

    /// Checks the group's files on this machine.
    private func checkFiles(in context: CommandContext) async throws {
        guard let directory = try context.presentDirectoryOfFiles() else { return }
        let scrub = try await context.onFiles { () throws(SharedCoreError) in try GroupScrub(of: directory) }
        try await context.output.emit(
            text:
                "files: \(scrub.byteCount.counting("byte")) in \(scrub.journalCount.counting("journal")), all as written"
                + (scrub.isPastCache
                    ? "" : " in the system's cache: the file system does not let the disk be read past it"),
            json: [
                "event": "files", "journals": .integer(Int64(scrub.journalCount)),
                "bytes": .integer(Int64(scrub.byteCount)), "fromDisk": .flag(scrub.isPastCache),
            ])
    }

    private func report(_ report: CheckReport, in context: CommandContext) async throws {
        let line = TimelineLine(clock: WallTime(), paint: .forOutput(in: context.resolution.environment))
        for violation in report.violations {
            try await context.output.emit(text: line.text(violation), json: line.json(violation))
        }
        try await context.output.emit(text: report.describe(), json: Self.json(report))
        guard report.isClean else { throw CommandFailure(.no) }
    }

    /// Larger than any timeline, but small enough for the memory of this process.
    private static let limit = 256 << 20

    private static func read(_ file: String) async throws -> String {
        let bytes: [UInt8]
        do {
            bytes = try await Abandonable.run(on: SerialThread(name: "input"), grace: .zero) {
                file == "-"
                    ? try StandardStream.input.read(upTo: limit)
                    : try SmallFile.read(file, upTo: limit)
            }
        } catch let error as SystemCallError {
            throw CommandFailure.usage("\(file): the file cannot be read: \(error.sentence)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure.usage("\(file): this is no text")
        }
        return text
    }

    /// Returns the last line: the number of checked entries and the result.
    static func json(_ report: CheckReport) -> JSONObject {
        [
            "event": "summary", "entries": .integer(Int64(report.entryCount)),
            "violations": .integer(Int64(report.violations.count)),
            "overlaps": .integer(Int64(report.overlaps)),
            "supersededOverlaps": .integer(Int64(report.supersededOverlaps)),
            "unprovedThrough": report.unprovedThrough.map { .natural($0.rawValue) } ?? .null,
            "ok": .flag(report.isClean),
        ]
    }
}
