internal import ArgumentParser
internal import BackendRegistry
internal import CoreAPI
internal import Glibc
internal import Platform
internal import ProgramOutput

/// The program `sharedcore-bench`, which `sharedcore bench` becomes with the configuration that is in force: measures a
/// backend beside the limits of this machine and designs that users know.
@main
struct BenchProgram: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sharedcore-bench", abstract: "Measure a backend, the limit and the peers, in one run.",
        discussion: """
            Figures: \(BenchFigures.standardNames.joined(separator: ", ")). Each is measured in turns with its limit, a C \
            program, and with its peers: Redis, SQLite, D-Bus and etcd where they are installed, or two designs, a state \
            flag that is polled every 100 ms and believed until it is 30 s old, and a lease of 500 ms that is renewed every \
            50 ms. All of them takes about three minutes. How they grow with the sizes of a group, by name only: \
            \(GrowthFigures.names.joined(separator: ", ")). What a flood at a hub does to its other clients, by name \
            only: \(FloodFigure.name). Figures of a debug build say little. SIGINT or SIGTERM ends \
            it with what was measured until then.
            """)

    @Option(help: "The transport: memory, file, zmq, or etcd where it is built with it.")
    var backend = "file"

    @Option(help: "What a commit survives: process or disk.", transform: Self.durability)
    var durability = Durability.process

    @Option(
        name: .customLong("setting"), help: "What the transport is told more, as NAME=VALUE, such as etcd.endpoints.")
    var settings: [BenchSetting] = []

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @Option(help: "How many rounds, in place of each figure's own number; a round has 1 to 100 samples.")
    var samples: Int?

    @Argument(help: "The figures; without any, all that the backend can give.")
    var names: [String] = []

    private static func durability(_ text: String) throws -> Durability {
        guard let durability = [Durability.process, .disk].first(where: { $0.rawValue == text }) else {
            throw ValidationError("“\(text)” is no durability; it must be process or disk.")
        }
        return durability
    }

    func validate() throws {
        for name in names where !BenchFigures.names.contains(name) {
            let choices = BenchFigures.names.joined(separator: ", ")
            throw ValidationError(
                "“\(name)” is no figure; there is \(choices)"
                    + Spelling.suggestion(for: name, among: BenchFigures.names))
        }
        let impossible = names.filter { !BenchFigures.names(BenchFigures.names, for: backend).contains($0) }
        guard impossible.isEmpty else {
            throw ValidationError(
                "\(impossible.joined(separator: ", ")): the backend “\(backend)”"
                    + (backend == "memory" ? " lives in one process; it" : "") + " gives "
                    + BenchFigures.names(BenchFigures.names, for: backend).joined(separator: ", "))
        }
        if let samples, samples < 1 { throw ValidationError("--samples takes a number from 1 on.") }
    }

    func run() async throws {
        // If it fails, a truncated file may end this process, as a process without a handler.
        try? BusErrorHandler.install()
        ProgramStart.requireResources(for: "sharedcore-bench", threadCount: 8)
        // A reader that went away shows itself as an error of the write.
        signal(SIGPIPE, SIG_IGN)
        do {
            let interruption = try Interruption<Void>()
            try await interruption.run { try await measure() }
            try interruption.check()
        } catch {
            guard let failure = BenchFailure(endedBy: error) else { return }
            if let message = failure.message { StandardError.write("sharedcore-bench: \(message)") }
            throw ExitCode(failure.status.rawValue)
        }
    }

    private func measure() async throws {
        let output = BenchOutput(json: json)
        let settings = Dictionary(settings.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        try await BenchScratch.holding(backend, durability, settings) { group, programs in
            let wanted = names.isEmpty ? BenchFigures.names(BenchFigures.standardNames, for: backend) : names
            var figures: [Figure] = []
            let source = try BenchFigures(programs: programs, group: group)
            for name in wanted where !figures.contains(where: { $0.name == name }) {
                figures.append(try await source.figure(name, rounds: samples))
            }
            do {
                try await FigureRun(figures: figures, progress: BenchProgress(of: figures)).run(report: output.add)
            } catch {
                await source.close()
                try output.end()
                throw error
            }
            await source.close()
            try output.end()
        }
    }
}

/// A setting of a backend, as it stands on the command line.
struct BenchSetting: ExpressibleByArgument {
    let name: String
    let value: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty else { return nil }
        (name, value) = (parts[0], parts[1])
    }
}
