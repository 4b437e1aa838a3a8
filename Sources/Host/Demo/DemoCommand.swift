internal import ArgumentParser
internal import BackendRegistry
internal import Coordination
internal import CoreAPI
internal import Logging
internal import ProgramOutput

/// `demo`: the whole story with real processes.
struct DemoCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Play the whole story with real processes.",
        discussion: """
            In a temporary group and with a real Maildir: ten pushes at once, a hand-over to Main, a push that Main \
            answers, and Main's sudden death. Status 1 when a message was lost or came twice, two cores ran at once or a \
            rule was broken. With --backend memory the participants live in one process.
            """)

    @OptionGroup var global: GlobalOptions

    func run(in context: CommandContext) async throws {
        try context.resolution.checkBackend(among: context.registry.names)
        let directory = try ScratchDirectory(for: "demo", environment: context.resolution.environment)
        defer { directory.remove(logger: context.logger) }
        let summary = try await play(in: directory, context: context)
        try await context.output.emit(text: summary.text, json: summary.json)
        if !summary.isClean { throw CommandFailure(.no) }
    }

    private func play(in directory: ScratchDirectory, context: CommandContext) async throws -> DemoSummary {
        let resolution = context.resolution
        let backend = try resolution.value(Settings.backend)
        let server = try DemoServer(path: directory.path + "/Maildir")
        let configured = try resolution.value(Settings.coreStartDuration)
        // Long enough that no message is right by luck.
        let startDuration = configured > .zero ? configured : .milliseconds(400)
        let options = try resolution.coordinationOptions()
        let reporter = DemoReporter(output: context.output)
        let context = context.with(Self.settings(maildir: server.path, startDuration: startDuration))
        guard backend != "memory" else {
            let players = try await MemoryPlayers(
                of: "demo", maildir: server.path, startDuration: startDuration, options: options)
            return try await DemoPlay(
                stage: MemoryStage(players: players), server: server, reporter: reporter, backend: backend
            ).run()
        }
        #if ZMQ
            if backend == "zmq" {
                return try await ScratchHub.serving(directory.path, in: context) { context in
                    try await play(on: server, reporter, in: context)
                }
            }
        #endif
        #if Etcd
            if backend == "etcd" {
                return try await ScratchKeys.holding(directory.path, in: context) { context in
                    try await play(on: server, reporter, in: context)
                }
            }
        #endif
        let own = context.with(Self.settings(in: directory.path))
        return try await play(on: server, reporter, in: own)
    }

    /// The settings that the demo decides, whatever the user's own configuration says. The rest of it holds.
    static func settings(in directory: String) -> [String: String] {
        [Settings.group.name: "demo", Settings.directory.name: directory]
    }

    /// The settings of its cores: the Maildir that they fetch messages from, and how long they take to connect.
    static func settings(maildir: String, startDuration: Duration) -> [String: String] {
        [
            Settings.coreMaildir.name: maildir, Settings.coreStartDuration.name: DurationText.write(startDuration),
        ]
    }

    /// Plays it with processes, in the group and with the settings of a context.
    private func play(
        on server: DemoServer, _ reporter: DemoReporter, in context: CommandContext
    ) async throws -> DemoSummary {
        let backend = try context.resolution.value(Settings.backend)
        let handle = try await context.openGroup(
            as: SessionDescription(role: .tool, name: "sharedcore demo"), for: "demo")
        let stage = ProcessStage(group: handle, programs: try DemoPrograms(context.resolution))
        do {
            let play = DemoPlay(stage: stage, server: server, reporter: reporter, backend: backend)
            let summary = try await play.run()
            await handle.close()
            return summary
        } catch {
            await handle.close()
            throw error
        }
    }
}
