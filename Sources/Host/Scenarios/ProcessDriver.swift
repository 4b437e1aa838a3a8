internal import Coordination
internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// A scenario with real processes: the slim Executor where it stands beside this program and knows the backend, and
/// Main of this program, with the configuration that is in force.
struct ProcessDriver: ParticipantDriver {
    let group: any SharedGroup
    let programs: ScenarioPrograms

    func startExecutor(for callID: CallID, as name: String, failPoint: String?) async throws -> any TestProcess {
        // A start waits for the child, which has no place on the pool.
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
    /// The slim program, where it stands beside this one and knows the backend.
    private let slim: (path: String, program: SlimExecutor)?

    /// - Parameters:
    ///   - resolution: The configuration, with the settings of the scenario: its group, its Maildir, how long a core
    ///     takes to connect.
    ///   - program: The path of `sharedcore`; nil for the program that runs here.
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
        // Control-C at a terminal is for the command: it lets its processes end, or ends them.
        return try ChildProcess(program, arguments, environment: variables, ownSession: true)
    }
}
