internal import CoreAPI
internal import FileNotifyBackend
internal import KeptSockets
internal import Lifecycle
internal import Logging
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration
internal import Synchronization

/// Makes sure that the keeper of a Main runs, and sends it the configuration. The keeper supervises Main, so nothing is
/// lost when this process ends or starts (decision 19).
///
/// ```swift
/// let supervisor = try MainSupervisor(for: context)
/// try supervisor.begin()          // returns at once
/// supervisor.configure(options)   // when the configuration was read again
/// supervisor.end()                // leaves the keeper and Main to the next host
/// ```
final class MainSupervisor: Sendable {
    let client: KeeperClient
    private let program: String
    private let variables: [String: String]
    private let logger: Logger
    private let configuration: Mutex<KeeperConfiguration>
    /// Raised when there is something new to do.
    private let changeSignal: EventCounter
    private let isEnded = Atomic(false)

    /// The minimum time between the end of a keeper and the start of the next one.
    private static let pause = Duration.seconds(1)
    /// The maximum size of a log that is kept when a keeper starts.
    private static let logByteCount = 1 << 20

    /// Makes a supervisor, which does nothing before ``begin()``.
    ///
    /// - Parameters:
    ///   - place: The group's runtime directory, which is created if it does not exist.
    ///   - program: The path of `sharedcore-keeper`.
    ///   - variables: The variables to add to this process's environment for a new keeper, and so for Main.
    init(
        _ place: KeeperPlace, _ configuration: KeeperConfiguration, program: String, variables: [String: String] = [:],
        logger: Logger
    ) throws(SharedCoreError) {
        _ = try PrivateDirectory.open(place.directory)
        client = KeeperClient(place: place)
        self.configuration = Mutex(configuration)
        self.program = program
        self.variables = variables
        self.logger = logger
        changeSignal = try SharedCoreError.wrapping { () throws(SystemCallError) in try EventCounter() }
    }

    /// Begins to supervise the keeper, on a thread of its own that lives until ``end()``.
    func begin() throws(SystemCallError) {
        try OwnedThread.start("supervisor") { [self] in
            while !isEnded.load(ordering: .acquiring) {
                attend()
                _ = Poll.wait(for: [changeSignal.descriptor], timeout: Self.pause)
                changeSignal.clear()
            }
        }
    }

    /// Sends the keeper a new configuration. A changed command takes effect with the next host.
    func configure(_ options: SupervisionOptions) {
        configuration.withLock { $0.options = options }
        changeSignal.raise()
    }

    /// Stops supervising the keeper. The keeper and Main continue.
    func end() {
        isEnded.store(true, ordering: .releasing)
        changeSignal.raise()
    }

    /// Makes sure that a keeper runs and has the configuration. Returns when that keeper has ended, the configuration
    /// has changed, or ``end()`` was called.
    private func attend() {
        let configuration = configuration.withLock { $0 }
        if let connection = client.connect() {
            if client.ask(.configure(configuration), over: connection) == .done {
                while !Poll.wait(for: [changeSignal.descriptor], timeout: .zero)[0], isOpen(connection) {
                    _ = Poll.wait(for: [changeSignal.descriptor, connection.descriptor], timeout: nil)
                }
            }
            return
        }
        do {
            try startKeeper(configuration)
        } catch {
            logger.error("the keeper of Main was not started: \(error)")
        }
    }

    /// Returns true if the keeper is connected. It sends nothing without a request.
    private func isOpen(_ connection: MessageSocket) -> Bool {
        if case .end = connection.receive(upTo: 1) { false } else { true }
    }

    /// Starts a keeper in a session of its own, and returns when it answers or has ended. If another host has started a
    /// keeper meanwhile, that keeper stays, and the new one ends.
    private func startKeeper(_ configuration: KeeperConfiguration) throws {
        let log = try log()
        let nothing = try OpenFile(path: "/dev/null", .write)
        let keeper = try StartedProgram(
            program, ["--directory", client.place.directory] + configuration.arguments, variables: variables,
            streams: [nothing, nothing, log], ownSession: true)
        logger.notice("the keeper of Main (pid \(keeper.pid)) is started")
        let ended = try EventCounter()
        try OwnedThread.start("keeper's end") { [logger] in
            let status = try? keeper.waitForEnd()
            if status != 0 { logger.warning("the keeper of Main (pid \(keeper.pid)) has ended: \(status ?? -1)") }
            ended.raise()
        }
        for _ in 0..<100 {
            if client.connect() != nil { return }
            if Poll.wait(for: [ended.descriptor], timeout: .milliseconds(50))[0] { return }
        }
    }

    private func log() throws -> OpenFile {
        let log = try OpenFile(KeeperPlace.logName, in: try Directory(path: client.place.directory), .create)
        if try log.status().byteCount > Self.logByteCount { try log.truncate(to: 0) }
        try log.appendOnly()
        return log
    }
}

extension Resolution {
    /// Returns the place of the files of the keeper of the group's Main.
    func keeperPlace() throws(ConfigurationFailure) -> KeeperPlace {
        KeeperPlace(directory: try runtimeDirectory())
    }

    /// Returns the configuration of the supervised Main; nil if none is configured.
    func supervision() throws(ConfigurationFailure) -> KeeperConfiguration? {
        guard let command = try optional(Settings.mainCommand) else { return nil }
        var options = SupervisionOptions()
        options.watchdog = try optional(Settings.mainWatchdog)
        options.restart.limit = try value(Settings.mainRestartLimit)
        options.restart.window = try value(Settings.mainRestartWindow)
        options.wakeBudget = try value(Settings.mainWakeBudget)
        options.wakeWarning = options.wakeBudget * 4 / 5
        return KeeperConfiguration(command: command, options: options)
    }

    /// Returns the path of `sharedcore-keeper` beside this program.
    static func keeperProgram() throws(CommandFailure) -> String {
        let name = "sharedcore-keeper"
        let path = (try? OwnProgram.sibling(name)) ?? name
        guard FileStatus.isExecutable(path) else {
            throw CommandFailure(.unavailable, "sharedcore-keeper is not beside this program: \(path)")
        }
        return path
    }
}

extension MainSupervisor {
    /// Makes the supervisor of the configured Main; nil when none is configured.
    convenience init?(for context: CommandContext) throws {
        let resolution = context.resolution
        guard let configuration = try resolution.supervision() else { return nil }
        let place = try resolution.keeperPlace()
        // The maximum length of a socket's path.
        guard place.socket.utf8.count <= 107 else {
            throw CommandFailure.configuration(
                "main.command: the path of the keeper's socket is longer than 107 bytes: \(place.socket); set "
                    + "XDG_RUNTIME_DIR, or choose a shorter stateDirectory.")
        }
        let variables = try resolution.variables()
        let program = try Resolution.keeperProgram()
        do throws(SharedCoreError) {
            try self.init(place, configuration, program: program, variables: variables, logger: context.logger)
        } catch {
            throw CommandFailure(error)
        }
    }
}
