internal import BackendRegistry
internal import Coordination
internal import CoreAPI
internal import SharedCoreConfiguration

/// A temporary group in which a command runs a scenario, with the Maildir of its cores.
struct ScenarioGroup: Sendable {
    let driver: any ParticipantDriver
    let server: DemoServer
    /// The backend's name.
    let backend: String

    /// Calls `body` with a group of the configured backend, and removes it afterwards.
    ///
    /// - Parameters:
    ///   - name: The command's name.
    ///   - startDelay: The time that a core takes to connect, unless that is configured.
    static func run<Value: Sendable>(
        _ name: String, coreStarting startDelay: Duration, in context: CommandContext,
        _ body: (ScenarioGroup) async throws -> Value
    ) async throws -> Value {
        try context.resolution.checkBackend(among: context.registry.names)
        let directory = try ScratchDirectory(for: name, environment: context.resolution.environment)
        defer { directory.remove(logger: context.logger) }
        let backend = try context.resolution.value(Settings.backend)
        let server = try DemoServer(path: directory.path + "/Maildir")
        let configured = try context.resolution.value(Settings.coreStartDelay)
        let startDelay = configured > .zero ? configured : startDelay
        if backend == "memory" {
            let driver = try await MemoryDriver(
                of: name, maildir: server.path, startDelay: startDelay,
                options: try context.resolution.coordinationOptions())
            return try await body(ScenarioGroup(driver: driver, server: server, backend: backend))
        }
        let context = context.with(settings(maildir: server.path, startDelay: startDelay))
        func withProcesses(_ context: CommandContext) async throws -> Value {
            let handle = try await context.openGroup(
                as: SessionDescription(role: .tool, name: "sharedcore \(name)"), for: name)
            return try await handle.closing {
                let driver = ProcessDriver(group: handle, programs: try ScenarioPrograms(context.resolution))
                return try await body(ScenarioGroup(driver: driver, server: server, backend: backend))
            }
        }
        #if ZMQ
            if backend == "zmq" { return try await ScratchHub.serving(directory.path, in: context, withProcesses) }
        #endif
        #if Etcd
            if backend == "etcd" { return try await ScratchKeys.holding(directory.path, in: context, withProcesses) }
        #endif
        return try await withProcesses(context.with(settings(in: directory.path)))
    }

    /// Runs a scenario and then its clean-up, even if the command was interrupted. The clean-up has a separate task,
    /// because a wait in a cancelled task ends at once.
    static func playing<Value: Sendable>(
        _ play: () async throws -> Value, end: @escaping @Sendable () async throws -> Void
    ) async throws -> Value {
        let result: Result<Value, any Error>
        do { result = .success(try await play()) } catch { result = .failure(error) }
        let ending = await Task { try await end() }.result
        let value = try result.get()
        try ending.get()
        return value
    }

    /// Returns the settings that a scenario sets in place of the user's. All others stay.
    static func settings(in directory: String) -> [String: String] {
        [Settings.group.name: "demo", Settings.stateDirectory.name: directory]
    }

    /// Returns the settings of the scenario's cores: their Maildir, and the time that they take to connect.
    static func settings(maildir: String, startDelay: Duration) -> [String: String] {
        [
            Settings.coreMaildir.name: maildir, Settings.coreStartDelay.name: DurationText.write(startDelay),
            Settings.coreCommand.name: "none",
        ]
    }
}
