internal import Coordination
internal import CoreAPI
internal import Glibc
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

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
    private let timeout: Duration
    private let variables: [String: String]

    /// - Parameters:
    ///   - timeout: How long an Executor waits for its message.
    ///   - own: The path of this program; nil to find it.
    init(_ resolution: Resolution, timeout: Duration, own: String? = nil) throws {
        guard let own = own ?? (try? OwnProgram.path) else {
            throw CommandFailure(.unavailable, "the own program cannot be found")
        }
        self.own = own
        parent = ProcessIdentity.current.pid
        self.timeout = timeout
        // The host has a hub, and starts another if it is killed. One that an Executor starts would end with what limits
        // its memory.
        variables = try resolution.overridden(by: [Settings.zmqHub.name: "none"]).variables()
        if let words = try resolution.optional(Settings.executorCommand) {
            try Self.check(words, in: resolution)
            kind = .command(words)
        } else if try resolution.value(Settings.backend) == "file", let slim = SlimExecutor.path(beside: own) {
            kind = .slim(path: slim, try SlimExecutor(resolution, parent: parent))
        } else {
            kind = .own
        }
    }

    /// Refuses what would let a call-id, which comes from outside, name a program or be one.
    private static func check(_ words: [String], in resolution: Resolution) throws(ConfigurationFailure) {
        let scripts = words.indices.flatMap { Self.scripts(behind: $0, of: words) }
        guard let program = words.first, ([program] + scripts).contains(where: { $0.contains("{id}") }) else { return }
        throw ConfigurationFailure(
            at: resolution.find(Settings.executorCommand.erased)?.origin.description,
            "executor.command has “{id}” in its program or in a script after “-c”, where a call-id that somebody "
                + "sends would be run; give it as an argument, or use $SHAREDCORE_CALL_ID.")
    }

    /// Returns the words that an option of a shell has it run: the rest of an option such as `-c` or `-ec`, and the next word that
    /// is no option.
    private static func scripts(behind index: Int, of words: [String]) -> [String] {
        let letters = words[index].utf8.dropFirst()
        guard index > 0, words[index].startsWithBytes(of: "-"), !words[index].startsWithBytes(of: "--"),
            let mark = letters.firstIndex(of: UInt8(ascii: "c")),
            letters[..<mark].allSatisfy({ Unicode.Scalar($0).properties.isAlphabetic })
        else { return [] }
        let next = words[(index + 1)...].first { !$0.startsWithBytes(of: "-") }
        return [String(decoding: letters[mark...], as: UTF8.self)] + (next.map { [$0] } ?? [])
    }

    /// Whether it is an Executor of this project: then it is known what its answers mean.
    var isOwn: Bool { if case .command = kind { false } else { true } }

    /// The program for a push, whose values are in its environment.
    ///
    /// - Parameter isHeld: Whether it does nothing until it is let go.
    func program(for push: Push, isHeld: Bool = false) -> ExecutorInvocation {
        let callID = push.callID
        let name = "push \(callID)"
        switch kind {
        case .slim(let path, let slim):
            let arguments = slim.arguments(for: callID, as: name, timeout: timeout)
            return ExecutorInvocation(
                path: path, arguments: arguments + ["--confirmed"] + (isHeld ? ["--held"] : []),
                variables: slim.variables.merging(push.variables) { _, pushed in pushed },
                isHeld: isHeld, isConfirmed: true)
        case .own:
            let command = [
                "executor", "--json", "--log-level", "warning", "--call-id=\(callID)", "--name=\(name)", "--timeout",
                DurationText.write(timeout), "--confirmed",
            ]
            var program = gated(command, as: .own, for: push, isHeld)
            program.isConfirmed = true
            return program
        case .command(let words):
            return gated(words.map { $0.replacing("{id}", with: callID.text) }, as: .executor, for: push, isHeld)
        }
    }

    private func gated(
        _ words: [String], as way: StartGate.Way, for push: Push, _ isHeld: Bool
    ) -> ExecutorInvocation {
        ExecutorInvocation(
            path: own,
            arguments: StartGate.arguments(for: words, as: way, of: parent, leave: isHeld ? STDIN_FILENO : nil),
            variables: variables.merging(push.variables) { _, pushed in pushed }, isHeld: isHeld)
    }
}
