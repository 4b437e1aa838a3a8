internal import Coordination
internal import CoreAPI
internal import FoundationEssentials
internal import Platform
internal import ProgramOutput

/// What the host starts for a push.
///
/// The Executor is told what the host's own configuration says, so that it needs none, and the kernel ends it when the host
/// is killed.
struct ExecutorLaunch: Sendable {
    private enum Kind {
        /// `sharedcore-executor`, for a group in files.
        case slim(path: String, SlimExecutor)
        /// This program's command `executor`.
        case own
        case command([String])
    }

    private let kind: Kind
    /// This program.
    private let own: String
    private let parent: Int32
    private let deadline: Duration
    private let variables: [String: String]

    /// - Parameter deadline: How long an Executor waits for its message.
    init(_ resolution: Resolution, deadline: Duration) throws(CommandFailure) {
        do {
            own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        } catch {
            throw CommandFailure(.unavailable, "the own program cannot be found: \(error)")
        }
        parent = ProcessIdentity.current.pid
        self.deadline = deadline
        variables = try resolution.variables()
        if let words = try resolution.optional(Settings.executorCommand) {
            kind = .command(words)
        } else if try resolution.value(Settings.backend) == "file", let slim = SlimExecutor.path(beside: own) {
            kind = .slim(
                path: slim,
                SlimExecutor(
                    directory: try resolution.groupDirectory(), maildir: try resolution.maildir(),
                    startDuration: try resolution.value(Settings.coreStartDuration),
                    options: try resolution.coordinationOptions(),
                    durability: try resolution.value(Settings.durability),
                    parent: parent))
        } else {
            kind = .own
        }
    }

    /// The program for a call-id.
    func program(for callID: CallID) -> ExecutorProgram {
        let name = "push \(callID)"
        switch kind {
        case .slim(let path, let slim):
            return ExecutorProgram(
                path: path, arguments: slim.arguments(for: callID, as: name, deadline: deadline), variables: [:])
        case .own:
            let command = [
                "executor", "--json", "--log-level", "warning", "--call-id=\(callID)", "--name=\(name)", "--deadline",
                DurationText.write(deadline),
            ]
            return ExecutorProgram(
                path: own, arguments: ParentTie.arguments(for: command, of: parent), variables: variables)
        case .command(let words):
            var variables = variables
            variables[EnvironmentLayer.callIDVariable] = callID.text
            return ExecutorProgram(
                path: own,
                arguments: ExclusiveGate.arguments(
                    for: words.map { $0.replacing("{id}", with: callID.text) }),
                variables: variables)
        }
    }
}

extension Resolution {
    /// The environment that gives another process of this program the same configuration, without a file.
    func variables() throws(CommandFailure) -> [String: String] {
        var variables = [EnvironmentLayer.fileVariable: "/dev/null"]
        for row in try overview() where row.origin != .fallback {
            guard let setting = Settings.all.first(where: { $0.name == row.key }) else { continue }
            variables[setting.environmentName] = row.value
        }
        // What is by default depends on where it is asked for.
        variables[Settings.directory.erased.environmentName] = try parentDirectory()
        return variables
    }
}
