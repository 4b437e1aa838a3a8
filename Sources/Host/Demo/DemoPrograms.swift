internal import Coordination
internal import CoreAPI
internal import Platform
internal import Subprocess
internal import SystemPackage

/// How the demo starts its processes.
struct DemoPrograms: Sendable {
    let backend: String
    let group: String
    /// The directory in which the group lies.
    let directory: String
    let maildir: String
    let startDuration: Duration
    let options: CoordinationOptions
    /// What only the backend knows, by the names of the settings.
    let settings: [String: String]

    /// This program's path.
    private let own: String

    /// - Parameter program: The path of `sharedcore`; nil for the program that runs here.
    init(
        backend: String, group: String, directory: String, maildir: String, startDuration: Duration,
        options: CoordinationOptions, settings: [String: String], program: String? = nil
    ) throws {
        self.backend = backend
        self.group = group
        self.directory = directory
        self.maildir = maildir
        self.startDuration = startDuration
        self.options = options
        self.settings = settings
        own = try program ?? OwnProgram.path
    }

    /// A Main.
    func main() -> Subprocess.Configuration {
        configuration(of: own, ["main"] + flags)
    }

    /// An Executor: the slim program where it stands beside this one and knows the backend, else this one.
    ///
    /// - Parameter failPoint: Where it kills itself, in a build that has such places.
    func executor(
        for callID: CallID, as name: String, failPoint: String? = nil
    ) -> Subprocess.Configuration {
        if backend == "file", let slim {
            return configuration(of: slim, slimArguments(for: callID, as: name), failPoint: failPoint)
        }
        return configuration(
            of: own,
            ["executor", "--call-id", callID.text, "--name", name, "--deadline", DurationText.write(DemoPlay.deadline)]
                + flags, failPoint: failPoint)
    }

    private var slim: String? { SlimExecutor.path(beside: own) }

    private var flags: [String] {
        ["--json", "--backend", backend, "--group", group, "--dir", directory, "--log-level", "warning"]
    }

    private func slimArguments(for callID: CallID, as name: String) -> [String] {
        SlimExecutor(
            directory: directory + "/" + group, maildir: maildir, startDuration: startDuration, options: options
        ).arguments(for: callID, as: name, deadline: DemoPlay.deadline)
    }

    /// A program that is asked to end, and killed after a second, when the demo is interrupted.
    private func configuration(
        of program: String, _ arguments: [String], failPoint: String? = nil
    ) -> Subprocess.Configuration {
        var variables = variables
        if let failPoint { variables["SHAREDCORE_FAIL_POINT"] = failPoint }
        var platform = PlatformOptions()
        platform.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(1))]
        return Subprocess.Configuration(
            executable: .path(FilePath(program)), arguments: Arguments(arguments),
            environment: .inherit.updating(variables), platformOptions: platform)
    }

    /// What the demo decides for its processes, whatever the user's own configuration says. The rest of it holds.
    private var variables: [Subprocess.Environment.Key: String?] {
        var variables: [Subprocess.Environment.Key: String?] = [
            .init(stringLiteral: Settings.coreMaildir.erased.environmentName): maildir,
            .init(stringLiteral: Settings.coreStartDuration.erased.environmentName):
                startDuration.wholeMilliseconds + "ms",
        ]
        for setting in Settings.all {
            guard let text = settings[setting.name] else { continue }
            variables[.init(stringLiteral: setting.environmentName)] = text
        }
        return variables
    }
}
