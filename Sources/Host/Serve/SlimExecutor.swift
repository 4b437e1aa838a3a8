internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import Lifecycle
internal import Platform
internal import SharedCoreConfiguration

/// The arguments by which `sharedcore-executor`, which reads no configuration, gets the values of the configuration.
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

    /// Resolves the settings of a slim Executor from the configuration.
    ///
    /// - Parameter parent: The process whose end also ends it; nil for none.
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

    /// Returns the path of `sharedcore-executor` beside a program; nil if there is none.
    static func path(beside program: String) -> String? {
        let path = Directory.parts(of: program).directory + "/sharedcore-executor"
        return FileStatus.isExecutable(path) ? path : nil
    }

    /// The variables of its environment that are added to this process's, or differ from them: the program of a core
    /// finds the group there.
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
