internal import BackendRegistry
internal import CoreAPI
internal import FileNotifyBackend
internal import Logging
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// The environment of a command: the configuration in force, the output, the log and the backends.
struct CommandContext: Sendable {
    let resolution: Resolution
    let output: Output
    let logger: Logger
    let registry: BackendRegistry
    /// The clock of the command's deadline.
    var clock: any TimeSource = SystemClock()

    /// Joins the configured group.
    ///
    /// - Parameters:
    ///   - command: The command's name, for the error about a backend that exists in one process only.
    ///   - deadline: When the command stops trying to reach the group; nil for the backend's own limit.
    ///   - startsHub: Whether a hub is started if the group needs one and none runs.
    func openGroup(
        as description: SessionDescription, for command: String, until deadline: CommandDeadline? = nil,
        startsHub: Bool = true
    ) async throws -> any SharedGroup {
        try requireSharedBackend(for: command)
        var configuration = try resolution.backendConfiguration()
        configuration.openTimeout = deadline?.left
        if !startsHub { try requireHub() }
        let registry = startsHub ? try startingRegistry(for: configuration) : registry
        do throws(SharedCoreError) {
            return try await registry.open(configuration, as: description)
        } catch {
            throw try CommandFailure.opening(error, with: resolution)
        }
    }

    /// Returns a copy of the context with settings that take precedence over all settings of the user.
    func with(_ settings: [String: String]) -> CommandContext {
        CommandContext(
            resolution: resolution.overridden(by: settings), output: output, logger: logger, registry: registry,
            clock: clock)
    }

    /// Returns the backends. The backend with a hub starts a hub if none runs and the configuration allows it.
    func startingRegistry(for configuration: BackendConfiguration) throws -> BackendRegistry {
        var registry = registry
        #if ZMQ
            if configuration.startsHub {
                registry.startHubs(with: configuration.hubLauncher(program: try OwnProgram.path))
            }
        #endif
        return registry
    }

    /// Joins the configured group as ``withGroup(as:for:_:)`` does, for a command that prints its content: it creates
    /// no group, for example for a mistyped name.
    func withPresentGroup(for command: String, _ body: (any SharedGroup) async throws -> Void) async throws {
        try requirePresentGroup()
        try await withGroup(for: command, body)
    }

    /// Reads the configured group for a command that prints its content: without a session, a commit or any write
    /// (contract L4). It creates no group and starts no hub.
    ///
    /// - Parameter deadline: The time at which opening the group fails; nil for the backend's own.
    func withReader(
        for command: String, until deadline: CommandDeadline? = nil, _ body: (any SharedGroup) async throws -> Void
    ) async throws {
        let group = try await openToRead(for: command, until: deadline)
        try await group.closing { try await body(group) }
    }

    /// Opens the configured group to read it, as ``withReader(for:until:_:)`` does.
    func openToRead(for command: String, until deadline: CommandDeadline?) async throws -> any SharedGroup {
        try requireSharedBackend(for: command)
        try requirePresentGroup()
        var configuration = try resolution.backendConfiguration()
        configuration.openTimeout = deadline?.left
        let description = SessionDescription(role: .tool, name: "sharedcore \(command)")
        #if ZMQ
            if configuration.isWithoutHub {
                // If no hub runs, read the files directly: a hub that is started for the group would serve the same
                // files.
                guard let files = configuration.inFiles else { throw try noGroup("no hub has it in memory") }
                configuration = files
            }
        #endif
        do throws(SharedCoreError) {
            return try await registry.openToRead(configuration, as: description)
        } catch {
            if configuration.backend == "file", error.code == .unavailable {
                let directory = configuration.directory
                guard FileGroup.holdsJournals(directory) else {
                    throw try noGroup("the directory \(directory) holds none")
                }
            }
            throw try CommandFailure.opening(error, with: resolution)
        }
    }

    /// True if no hub serves the configured group, and joining it would start one.
    private var isWithoutHub: Bool {
        get throws {
            #if ZMQ
                try resolution.backendConfiguration().isWithoutHub
            #else
                false
            #endif
        }
    }

    /// Refuses a group if its hub does not run.
    private func requireHub() throws {
        guard try isWithoutHub else { return }
        throw CommandFailure(
            .unavailable,
            "no hub serves the group; “sharedcore hub --detach” or the unit sharedcore-hub starts one, and so does the next "
                + "participant")
    }

    /// The time limit for opening the group in a command that does not wait; nil if a hub must be started first.
    var openTimeoutWithoutWait: Duration? {
        get throws { try isWithoutHub ? nil : .seconds(2) }
    }

    func requireSharedBackend(for command: String) throws {
        try resolution.checkBackend(among: registry.names)
        guard try resolution.value(Settings.backend) == "memory" else { return }
        throw ConfigurationFailure(
            at: resolution.find(Settings.backend.erased)?.origin.description,
            "backend is “memory”, which lives in one process and ends with it; “\(command)” needs one that "
                + "several processes share, such as file.")
    }

    private func noGroup(_ reason: String) throws -> CommandFailure {
        CommandFailure(.no, "there is no such group: “\(try resolution.value(Settings.group))”: \(reason)")
    }

    /// Refuses a group without a directory if the backend stores it in files and opening would create it. With other
    /// backends opening creates nothing that lasts.
    func requirePresentGroup() throws {
        guard try isInFiles else { return }
        // A running hub has its group open, even if the files are in another directory.
        if try resolution.value(Settings.backend) == "zmq", try !isWithoutHub { return }
        try requirePresentGroup(at: try resolution.groupDirectory())
    }

    /// Refuses a group without a directory.
    func requirePresentGroup(at directory: String) throws {
        guard !FileGroup.isPresent(in: directory) else { return }
        let name = try resolution.value(Settings.group)
        throw CommandFailure(.no, "there is no such group: “\(name)” has no directory \(directory)")
    }

    /// Joins the configured group for as long as `body` runs.
    func withGroup(
        as description: SessionDescription? = nil, for command: String, until deadline: CommandDeadline? = nil,
        _ body: (any SharedGroup) async throws -> Void
    ) async throws {
        let group = try await openGroup(
            as: description ?? SessionDescription(role: .tool, name: "sharedcore \(command)"), for: command,
            until: deadline)
        try await group.closing { try await body(group) }
    }
}
