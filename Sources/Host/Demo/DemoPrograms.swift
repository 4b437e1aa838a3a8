internal import Coordination
internal import CoreAPI
internal import Platform
internal import Subprocess
internal import SystemPackage

/// How the demo starts its processes, with the configuration that is in force for it.
struct DemoPrograms: Sendable {
    /// What the environment of each of them has more than this one's.
    let variables: [String: String]
    /// This program's path.
    private let own: String
    /// The slim program, where it stands beside this one and knows the backend.
    private let slim: (path: String, program: SlimExecutor)?

    /// - Parameters:
    ///   - resolution: The configuration, with what the demo decides: its group, its Maildir, how long a core takes to connect.
    ///   - program: The path of `sharedcore`; nil for the program that runs here.
    init(_ resolution: Resolution, program: String? = nil) throws {
        own = try program ?? OwnProgram.path
        variables = try resolution.variables()
        let isOverFiles = try resolution.value(Settings.backend) == "file"
        let program = try SlimExecutor(resolution)
        slim = isOverFiles ? SlimExecutor.path(beside: own).map { ($0, program) } : nil
    }

    /// A Main.
    func main() -> Subprocess.Configuration {
        configuration(of: own, ["main"] + Self.flags)
    }

    /// An Executor: the slim program where it stands beside this one and knows the backend, else this one.
    ///
    /// - Parameter failPoint: Where it kills itself, in a build that has such places.
    func executor(
        for callID: CallID, as name: String, failPoint: String? = nil
    ) -> Subprocess.Configuration {
        if let slim {
            let arguments = slim.program.arguments(for: callID, as: name, deadline: DemoPlay.deadline)
            return configuration(of: slim.path, arguments, failPoint: failPoint)
        }
        return configuration(
            of: own,
            ["executor", "--call-id", callID.text, "--name", name, "--deadline", DurationText.write(DemoPlay.deadline)]
                + Self.flags, failPoint: failPoint)
    }

    private static let flags = ["--json", "--log-level", "warning"]

    /// A program that is asked to end, and killed after a second, when the demo is interrupted.
    private func configuration(
        of program: String, _ arguments: [String], failPoint: String? = nil
    ) -> Subprocess.Configuration {
        var variables = variables
        if let failPoint { variables["SHAREDCORE_FAIL_POINT"] = failPoint }
        var platform = PlatformOptions()
        // Control-C at a terminal is for the command that plays: it lets them end, or ends them.
        platform.processGroupID = 0
        platform.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(1))]
        let pairs = variables.map { (Environment.Key(stringLiteral: $0.key), $0.value as String?) }
        return Subprocess.Configuration(
            executable: .path(FilePath(program)), arguments: Arguments(arguments),
            environment: .inherit.updating(Dictionary(uniqueKeysWithValues: pairs)), platformOptions: platform)
    }
}
