internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import Lifecycle
internal import Platform
internal import SharedCoreConfiguration

/// How `sharedcore-executor`, which reads no configuration, is told what a configuration says.
struct SlimExecutor: Sendable {
    /// The absolute path of the group's directory.
    private let directory: String
    private let maildir: String
    private let command: CoreCommand?
    private let startDelay: Duration
    private let memory: UInt64?
    private let options: CoordinationOptions
    private let durability: Durability
    private let parent: Int32?

    /// - Parameter parent: The process with which it ends; nil for none.
    init(_ resolution: Resolution, parent: Int32? = nil) throws(ConfigurationFailure) {
        directory = try resolution.groupDirectory()
        maildir = try resolution.maildir()
        command = try resolution.coreProgram()
        startDelay = try resolution.value(Settings.coreStartDelay)
        memory = try resolution.value(Settings.executorMemory)
        options = try resolution.coordinationOptions()
        durability = try resolution.value(Settings.durability)
        self.parent = parent
    }

    /// Where it is beside this program; nil where it is not.
    static func path(beside program: String) -> String? {
        let path = Directory.parts(of: program).directory + "/sharedcore-executor"
        return FileStatus.isExecutable(path) ? path : nil
    }

    /// What its environment has more or otherwise than this process's: the program of a core finds the group there.
    var variables: [String: String] { command?.variables ?? [:] }

    func arguments(for callID: CallID, as name: String, timeout: Duration) -> [String] {
        var arguments = [
            "--directory", directory, "--call-id", callID.text, "--name", name, "--maildir", maildir,
            "--timeout-ms", String(timeout.millisecondsRoundedUp), "--start-ms",
            String(startDelay.millisecondsRoundedUp),
            "--memory-bytes", memory.map { String($0) } ?? "none",
            "--budget-ms", String(options.executorBudget.millisecondsRoundedUp),
            "--inbox-lifetime-ms", String(options.inboxLifetime.millisecondsRoundedUp),
            "--calls-lifetime-ms", String(options.callsLifetime.millisecondsRoundedUp),
            "--baton-lifetime-ms", String(options.batonLifetime.millisecondsRoundedUp),
            "--handover-timeout-ms", String(options.handoverTimeout.millisecondsRoundedUp),
            "--handover-maximum-timeout-ms", String(options.handoverMaximumTimeout.millisecondsRoundedUp),
            "--wake-bound-ms", String(options.wakeBound.millisecondsRoundedUp),
            "--on-handover-timeout", options.onHandoverTimeout.rawValue, "--durability", durability.rawValue,
        ]
        if let command {
            arguments += command.words.flatMap { ["--core-command", $0] }
            arguments += ["--core-start-timeout-ms", String(command.startTimeout.millisecondsRoundedUp)]
        }
        if let parent { arguments += ["--parent", String(parent)] }
        return arguments
    }
}

/// What the host goes by that can change while it runs.
struct ExecutorSettings: Sendable {
    /// How many Executors run at once.
    let limit: Int
    let limits: ExecutorLimits
    let retry: RetryPolicy
    let launch: ExecutorLaunch

    /// The settings that a reload can change.
    static let changeable: Set<String> = [
        Settings.executorLimit.name, Settings.executorBudget.name, Settings.executorWarning.name,
        Settings.executorMemory.name, Settings.executorAttempts.name, Settings.executorRetryDelay.name,
        Settings.executorCommand.name, Settings.inboxLifetime.name, Settings.callsLifetime.name,
        Settings.batonLifetime.name,
        Settings.coreMaildir.name, Settings.coreStartDelay.name, Settings.coreCommand.name,
        Settings.coreStartTimeout.name, Settings.handoverTimeout.name, Settings.handoverMaximumTimeout.name,
        Settings.handoverOnTimeout.name, Settings.wakeBound.name,
        // Of a Main that is supervised already; the host tells its keeper.
        Settings.mainWatchdog.name, Settings.mainRestartLimit.name, Settings.mainRestartWindow.name,
        Settings.mainWakeBudget.name,
    ]

    /// Measured: the memory that an Executor of this program needs with the largest message that it shows.
    ///
    /// - Parameter isResident: Whether it has all values of the group in its memory, as behind a hub.
    static func leastMemory(isResident: Bool) -> UInt64 { isResident ? 20 << 20 : 8 << 20 }

    /// Why Executors will be killed for their memory; nil where they will not.
    func memoryProblem(isResident: Bool) -> String? {
        let least = Self.leastMemory(isResident: isResident)
        guard launch.isOwn, let memory = limits.memory, memory < least else { return nil }
        return "executor.memory is \(memory >> 20) MiB: an Executor of this group needs \(least >> 20) MiB"
            + (isResident ? ", as it has all of the group in its memory" : "") + ", and may be killed with less"
    }

    /// - Parameter own: The path of this program; nil to find it.
    init(_ resolution: Resolution, own: String? = nil) throws {
        limit = try resolution.value(Settings.executorLimit)
        let budget = try resolution.value(Settings.executorBudget)
        limits = ExecutorLimits(
            warning: try resolution.executorWarning(), budget: budget,
            memory: try resolution.value(Settings.executorMemory))
        retry = RetryPolicy(
            attempts: try resolution.value(Settings.executorAttempts),
            delay: try resolution.value(Settings.executorRetryDelay))
        // A little less than until it is told, so that it can say by itself that nothing came.
        launch = try ExecutorLaunch(resolution, timeout: limits.warning * 19 / 20, own: own)
    }
}

extension Resolution {
    /// When an Executor is told that its budget is nearly used up: as configured, else after five sixths of it.
    fileprivate func executorWarning() throws(ConfigurationFailure) -> Duration {
        let budget = try value(Settings.executorBudget)
        guard let found = find(Settings.executorWarning.erased),
            let warning = try optional(Settings.executorWarning)
        else { return budget * 5 / 6 }
        guard warning <= budget else {
            throw ConfigurationFailure(
                at: found.origin.description,
                "executor.warning is “\(found.text)”; it must not be longer than executor.budget, "
                    + "which is \(DurationText.write(budget)).")
        }
        return warning
    }
}
