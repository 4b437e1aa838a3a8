internal import ArgumentParser
internal import BackendRegistry
internal import CoreAPI
internal import Logging
internal import Platform
internal import ProgramOutput
internal import ServiceLifecycle
internal import SharedCoreConfiguration
internal import Synchronization

/// The log's stream to standard error. Each message is one line, even if it quotes several lines.
private struct LogStream: TextOutputStream, Sendable {
    mutating func write(_ line: String) {
        StandardError.write(line.hasSuffix("\n") ? String(line.dropLast()) : line)
    }
}

/// Runs one command from its options to its exit status.
struct CommandFrame: Sendable {
    let global: GlobalOptions
    /// True if the command runs despite failures in the configuration, because it reports them itself.
    var toleratesFailures = false

    /// Runs a command until it ends, or until SIGINT or SIGTERM cancels it.
    func run(_ command: some HostCommand) async throws {
        try await run(until: [.interrupt, .terminate]) { try await command.run(in: $0) }
    }

    /// Runs a command's work until it ends, or until one of the signals cancels it. The second signal of a kind ends the
    /// process at once.
    func run(
        until signals: [ProcessSignal], _ work: @escaping @Sendable (CommandContext) async throws -> Void
    ) async throws {
        // Ignore SIGPIPE: a write to a closed pipe then fails with an error, after which the command ends normally.
        OwnProcess.ignore(.brokenPipe)
        do {
            let context = try makeContext()
            switch await outcome(of: work, until: signals, in: context) {
            case .success: return
            case .failure(let failure): throw failure
            }
        } catch let failure as CommandFailure {
            throw Self.end(with: failure)
        } catch let failure as ConfigurationFailure {
            throw Self.end(with: CommandFailure(failure))
        }
    }

    private static func end(with failure: CommandFailure) -> ExitCode {
        if let message = failure.message { StandardError.write("sharedcore: \(message)") }
        return ExitCode(failure.status.rawValue)
    }

    /// Makes the context of the command. Call it once in a process, because it bootstraps logging.
    func makeContext() throws(ConfigurationFailure) -> CommandContext {
        let level = global.logLevel
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler(label: label, stream: LogStream())
            handler.logLevel = level
            return handler
        }
        let logger = Logger(label: "sharedcore")
        let environment = try EnvironmentLayer.ofProcess()
        if !toleratesFailures { try FormerNames.refuse(in: environment) }
        let search = ConfigurationSearch(flag: global.file, environment: environment)
        let file = toleratesFailures ? try search.readWithFailures() : try search.read()
        var resolution = Resolution(
            flags: global.flags, environment: environment, file: file,
            workingDirectory: (try? OwnProcess.workingDirectory()).map { .init($0) } ?? .gone)
        do throws(ConfigurationFailure) {
            resolution = try resolution.loadingBackend(among: SharedCoreProgram.added)
        } catch {
            guard toleratesFailures else { throw error }
        }
        if !toleratesFailures { UnknownVariables.warn(of: resolution, logger: logger) }
        var registry = SharedCoreProgram.registry
        if let plugin = resolution.plugin { registry.register(PluginFactory(plugin)) }
        return CommandContext(
            resolution: resolution, output: Output(json: global.json), logger: logger, registry: registry)
    }

    /// Runs the command until it ends or a signal cancels it.
    private func outcome(
        of work: @escaping @Sendable (CommandContext) async throws -> Void, until signals: [ProcessSignal],
        in context: CommandContext
    ) async -> Result<Void, CommandFailure> {
        let service = CommandService { try await work(context) }
        let configuration = ServiceGroupConfiguration(
            services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
            // The command reports the service group's events in its own words.
            logger: Logger(label: "sharedcore.lifecycle") { _ in SwiftLogNoOpLogHandler() })
        let group = ServiceGroup(configuration: configuration)
        do {
            if !signals.isEmpty {
                try SignalRelay.begin(signals, takesIgnored: true) { signal, _ in
                    // A function that blocks, such as one of a plugin, delays the end. The next signal does not wait.
                    SignalRelay.end(signal)
                    Task { await group.triggerGracefulShutdown() }
                }
            }
            try await group.run()
        } catch {
            return .failure(CommandFailure(.unavailable, "\(error)"))
        }
        return service.result
    }
}
