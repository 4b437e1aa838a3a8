internal import Coordination
internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// A scenario with real processes and the configuration in force: the Main of this program, and the slim Executor if it
/// is installed beside this program and supports the backend.
struct ProcessDriver: ParticipantDriver {
    let group: any SharedGroup
    let programs: ScenarioPrograms

    func startExecutor(for callID: CallID, as name: String, failPoint: String?) async throws -> any TestProcess {
        // Starting a process blocks, so it must not run on the concurrent pool.
        try await SerialThread(name: "scenario").run { [programs] in
            try programs.startExecutor(for: callID, as: name, timeout: scenarioTimeout, failPoint: failPoint)
        }
    }

    func startMain(as name: String) async throws -> any TestProcess {
        try await SerialThread(name: "scenario").run { [programs] in try programs.startMain() }
    }
}

extension ChildProcess: TestProcess {
    func isHolder(_ owner: GroupOwner) -> Bool { owner.process == identity && !hasEnded }
    func nextLine() async throws -> String? { try await nextLine(timeout: nil) }
    func kill() { signal(.kill) }
    func thaw() { signal(.continue) }
    func terminate() { signal(.terminate) }
}

/// How a scenario starts its processes.
struct ScenarioPrograms: Sendable {
    /// The variables of each process's environment beyond this one's.
    let variables: [String: String]
    /// This program's path.
    private let own: String
    /// The slim program, if it is installed beside this one and supports the backend.
    private let slim: (path: String, program: SlimExecutor)?

    /// Finds the programs of a scenario, and resolves their configuration.
    ///
    /// - Parameters:
    ///   - resolution: The configuration, with the settings of the scenario: its group, its Maildir, and the time that
    ///     a core takes to connect.
    ///   - program: The path of `sharedcore`; nil for this program.
    init(_ resolution: Resolution, program: String? = nil) throws {
        own = try program ?? OwnProgram.path
        variables = try resolution.variables()
        let isOverFiles = try resolution.value(Settings.backend) == "file"
        let program = try SlimExecutor(resolution)
        slim = isOverFiles ? SlimExecutor.path(beside: own).map { ($0, program) } : nil
    }

    func startMain() throws -> ChildProcess { try start(own, ["main"] + Self.flags) }

    func startExecutor(
        for callID: CallID, as name: String, timeout: Duration, failPoint: String?
    ) throws -> ChildProcess {
        if let slim {
            return try start(
                slim.path, slim.program.arguments(for: callID, as: name, timeout: timeout), failPoint: failPoint)
        }
        let arguments = [
            "executor", "--call-id", callID.text, "--name", name, "--timeout", DurationText.write(timeout),
        ]
        return try start(own, arguments + Self.flags, failPoint: failPoint)
    }

    private static let flags = ["--json", "--log-level", "warning"]

    private func start(_ program: String, _ arguments: [String], failPoint: String? = nil) throws -> ChildProcess {
        var variables: [String: String?] = variables
        if let failPoint { variables["SHAREDCORE_FAIL_POINT"] = failPoint }
        // Start the process in its own session, so that Control-C at a terminal reaches only the command. The command
        // then ends its processes, or lets them finish.
        return try ChildProcess(program, arguments, environment: variables, ownSession: true)
    }
}
