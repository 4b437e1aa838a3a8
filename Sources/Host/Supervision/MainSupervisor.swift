internal import CoreAPI
internal import FileNotifyBackend
internal import KeptSockets
internal import Lifecycle
internal import Logging
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration
internal import Synchronization

/// Has a Main supervised: makes sure that its keeper is there, and tells it the configuration. The supervision itself
/// is the keeper's, so nothing is lost when this process ends or begins (decision 19).
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
    private let bell: EventCounter
    private let isEnded = Atomic(false)

    /// How long after a keeper's end the next one is started at the earliest.
    private static let pause = Duration.seconds(1)
    /// The largest log that is kept when a keeper starts.
    private static let logByteCount = 1 << 20

    /// - Parameters:
    ///   - place: The group's runtime directory, which is made when it is not there.
    ///   - program: The path of `sharedcore-keeper`.
    ///   - variables: The variables beyond this process's, for the environment of a keeper that is started, and so of
    ///     Main.
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
        bell = try SharedCoreError.wrapping { () throws(SystemCallError) in try EventCounter() }
    }

    /// Begins to see to the keeper, on a thread of its own that lives until ``end()``.
    func begin() throws(SystemCallError) {
        try OwnedThread.start("supervisor") { [self] in
            while !isEnded.load(ordering: .acquiring) {
                attend()
                _ = Poll.wait(for: [bell.descriptor], timeout: Self.pause)
                bell.clear()
            }
        }
    }

    /// Tells the keeper how it supervises from now on. Another command is for the next host.
    func configure(_ options: SupervisionOptions) {
        configuration.withLock { $0.options = options }
        bell.raise()
    }

    /// Does not see to the keeper any more. It goes on, and Main with it.
    func end() {
        isEnded.store(true, ordering: .releasing)
        bell.raise()
    }

    /// Sees to it that a keeper is there and knows its configuration; returns when that keeper is gone, or the
    /// configuration has changed, or this ends.
    private func attend() {
        let configuration = configuration.withLock { $0 }
        if let connection = client.connect() {
            if client.ask(.configure(configuration), over: connection) == .done {
                while !Poll.wait(for: [bell.descriptor], timeout: .zero)[0], isOpen(connection) {
                    _ = Poll.wait(for: [bell.descriptor, connection.descriptor], timeout: nil)
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

    /// Returns whether the keeper is there. It says nothing that was not asked.
    private func isOpen(_ connection: MessageSocket) -> Bool {
        if case .end = connection.receive(upTo: 1) { false } else { true }
    }

    /// Starts a keeper in a session of its own, and returns when it answers, or has ended. One that another host has
    /// started meanwhile keeps the place, and this one ends.
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
        for _ in 0..<100 where client.connect() == nil {
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

    /// Which Main is supervised, and how; nil when none is.
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

    /// Returns the path of `sharedcore-keeper`, which stands beside this program.
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
        // The longest path of a socket that the kernel takes.
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
