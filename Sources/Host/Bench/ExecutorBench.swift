internal import BackendRegistry
internal import BenchmarkRun
internal import Coordination
internal import CoreAPI
internal import FoundationEssentials
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// Measures the program that a push starts: the slim one where it knows the backend, else this one.
final class ExecutorBench: Sendable {
    private let programs: BenchPrograms
    private let group: BackendConfiguration
    private let context: CommandContext
    private let directory: String
    private let server: DemoServer
    private let number = Atomic(0)
    private let watcher = Mutex<(any SharedGroup)?>(nil)

    init(programs: BenchPrograms, group: BackendConfiguration, directory: String, context: CommandContext) throws {
        self.programs = programs
        self.group = group
        self.context = context
        self.directory = directory
        server = try DemoServer(path: directory + "/Maildir")
    }

    func close() async {
        let handle = watcher.withLock { $0.take() }
        await handle?.close()
    }

    /// From the start of the program to the moment at which it owns and starts its core, by its own entry of the timeline.
    /// (That of its acquisition is part of the commit by which it owns, so its time is read before.)
    func start() async throws -> Double {
        let handle = try await watchedGroup()
        let mail = try nextMail()
        try await server.deliver(mail)
        let (program, arguments) = try executor(for: mail.callID)
        let run = try await programs.measure(program, arguments)
        let coreStart = try await Timeline(handle).history().records.last { record in
            record.entry.pid == run.pid && record.entry.kind == .coreStarted
        }
        guard let coreStart else { throw CommandFailure(.unavailable, "the Executor did not own") }
        return run.start.milliseconds(to: coreStart.entry.at)
    }

    /// The most memory that the program has when its message is there already.
    func memory() async throws -> Double {
        let mail = try nextMail()
        let place = directory + "/memory-\(mail.number)"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try Data(mail.text.utf8).write(to: URL(filePath: place + "/" + mail.callID.text))
        let main = try await programs.participant(.sharedcore, .main, in: directory, of: group, ["server=\(place)"])
        try main.order("own")
        try await main.hear("owning")
        let (program, arguments) = try executor(for: mail.callID)
        let run = try await programs.measure(program, arguments)
        try await main.finish()
        return run.megabytes
    }

    private func watchedGroup() async throws -> any SharedGroup {
        if let known = watcher.withLock({ $0 }) { return known }
        let opened = try await settings.openGroup(
            as: SessionDescription(role: .tool, name: "sharedcore bench"), for: "bench")
        watcher.withLock { $0 = opened }
        return opened
    }

    private func nextMail() throws -> DemoMail {
        guard let mail = DemoMail(number.add(1, ordering: .relaxed).newValue) else {
            throw CommandFailure(.unavailable, "there is no call-id")
        }
        return mail
    }

    private func executor(for callID: CallID) throws -> (String, [String]) {
        let resolution = settings.resolution
        guard group.backend != "file" else {
            return (
                programs.executor,
                try SlimExecutor(resolution).arguments(for: callID, as: "bench", deadline: .seconds(30))
            )
        }
        return (
            "/usr/bin/env",
            try resolution.variables().map { "\($0.key)=\($0.value)" } + [
                programs.own, "executor", "--json", "--call-id", callID.text, "--deadline", "30s", "--log-level",
                "warning",
            ]
        )
    }

    /// What is configured, with what the figures decide: their group, their Maildir, and a core that connects at once.
    private var settings: CommandContext {
        context.with([Settings.group.name: group.group]).with(
            DemoCommand.settings(maildir: server.path, startDuration: .zero))
    }
}
