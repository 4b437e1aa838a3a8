internal import ArgumentParser
internal import ProgramOutput

/// `config show`: what is in force, and where each value came from.
struct ConfigShow: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print every setting, its value and where it came from.")

    @OptionGroup var global: GlobalOptions

    func run(in context: CommandContext) async throws {
        let rows = try context.resolution.overview()
        let keyWidth = rows.map(\.key.count).max() ?? 0
        let valueWidth = rows.map(\.value.count).max() ?? 0
        for row in rows {
            try await context.output.emit(
                text: row.key.padded(to: keyWidth) + "  " + row.value.padded(to: valueWidth) + "  "
                    + row.origin.description,
                json: [
                    "key": .text(row.key), "value": .text(row.value), "source": .text(row.origin.kind),
                    "origin": .text(row.origin.description),
                ])
        }
    }
}

extension String {
    /// The text with spaces after it, up to a width.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
