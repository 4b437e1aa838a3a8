internal import ArgumentParser
internal import BackendRegistry
internal import CoreAPI
internal import Logging
internal import ProgramOutput

/// `bench`: measures the configured backend beside the limits of this machine and designs that users know.
struct BenchCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measure the configured backend, the limit and the peers, in one run.",
        discussion: """
            Figures: \(BenchFigures.standardNames.joined(separator: ", ")). Each is measured in turns with its limit, a C \
            program, and with its peers: Redis, SQLite, D-Bus and etcd where they are installed, or two designs, a state \
            flag that is polled every 100 ms and believed until it is 30 s old, and a lease of 500 ms that is renewed every \
            50 ms. All of them takes about three minutes. How they grow with the sizes of a group, by name only: \
            \(GrowthFigures.names.joined(separator: ", ")). Figures of a debug build say little.
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The figures; without any, all that the backend can give.")
    var names: [String] = []

    @Option(help: "How many samples of each figure, in place of its own number.")
    var samples: Int?

    func validate() throws {
        for name in names where !BenchFigures.names.contains(name) {
            let choices = BenchFigures.names.joined(separator: ", ")
            throw ValidationError(
                "“\(name)” is no figure; there is \(choices)"
                    + Spelling.suggestion(for: name, among: BenchFigures.names))
        }
        if let samples, samples < 1 { throw ValidationError("--samples takes a number from 1 on.") }
    }

    func run(in context: CommandContext) async throws {
        try context.resolution.checkBackend(among: context.registry.names)
        let directory = try ScratchDirectory(for: "bench", environment: context.resolution.environment)
        defer { directory.remove(logger: context.logger) }
        let backend = try context.resolution.value(Settings.backend)
        let impossible = names.filter { !BenchFigures.names(BenchFigures.names, for: backend).contains($0) }
        guard impossible.isEmpty else {
            throw CommandFailure(
                .usage,
                "\(impossible.joined(separator: ", ")): the backend “\(backend)”"
                    + (backend == "memory" ? " lives in one process; it" : "") + " gives "
                    + BenchFigures.names(BenchFigures.names, for: backend).joined(separator: ", "))
        }
        #if ZMQ
            if backend == "zmq" {
                return try await ScratchHub.serving(directory.path, in: context) {
                    try await measure(in: directory.path, context: $0)
                }
            }
        #endif
        #if Etcd
            if backend == "etcd" {
                return try await ScratchKeys.holding(directory.path, in: context) {
                    try await measure(in: directory.path, context: $0)
                }
            }
        #endif
        try await measure(
            in: directory.path, context: context.with(DemoCommand.settings(in: directory.path)))
    }

    private func measure(in directory: String, context: CommandContext) async throws {
        let group = try context.resolution.backendConfiguration()
        let wanted = names.isEmpty ? BenchFigures.names(BenchFigures.standardNames, for: group.backend) : names
        var figures: [Figure] = []
        let source = try BenchFigures(group: group, directory: directory, context: context)
        for name in wanted where !figures.contains(where: { $0.name == name }) {
            figures.append(try await source.figure(name, rounds: samples))
        }
        var results: [FigureResult] = []
        do {
            try await FigureRun(figures: figures, progress: BenchProgress(of: figures)).run { result in
                results.append(result)
                if context.output.json { try await context.output.emit(text: "", json: result.json) }
            }
        } catch {
            await source.close()
            throw error
        }
        await source.close()
        if !context.output.json { try await context.output.emit(text: FigureTable.text(of: results), json: [:]) }
    }
}
