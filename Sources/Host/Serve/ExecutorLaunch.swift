internal import Coordination
internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// The program that the host starts for a push.
///
/// The Executor gets the host's configuration, so that it needs none of its own. The kernel ends it when the host is
/// killed.
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

    /// Finds the program of the Executors, and resolves its configuration.
    ///
    /// - Parameters:
    ///   - timeout: How long an Executor waits for its message.
    ///   - own: The path of this program; nil to find it.
    init(_ resolution: Resolution, timeout: Duration, own: String? = nil) throws {
        guard let own = own ?? (try? OwnProgram.path) else {
            throw CommandFailure(.unavailable, "the path of this program cannot be found")
        }
        self.own = own
        parent = ProcessIdentity.current.pid
        self.timeout = timeout
        // An Executor must start no hub: the hub would be in the cgroup that limits the Executor's memory, and end with
        // the Executor. The host has a hub, and replaces one that is killed.
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

    /// Refuses a command in which a call-id could be used as a program or a script, because call-ids come from outside.
    private static func check(_ words: [String], in resolution: Resolution) throws(ConfigurationFailure) {
        let scripts = words.indices.flatMap { Self.scripts(behind: $0, of: words) }
        guard let program = words.first, ([program] + scripts).contains(where: { $0.contains("{id}") }) else { return }
        throw ConfigurationFailure(
            at: resolution.find(Settings.executorCommand.erased)?.origin.description,
            "executor.command has “{id}” in its program or in a script after “-c”, where a call-id from outside would run "
                + "as code; give it as an argument, as behind “-c SCRIPT”, or use $SHAREDCORE_CALL_ID.")
    }

    /// Returns the words that a program may run as a script because of an option with `c`, such as `-c` or `-ec`.
    ///
    /// A shell accepts other options, with or without values, between that option and its script, so each later word
    /// may be the script. If a word that is not an option follows a plain `-c`, then only that word is the script, and
    /// the later ones are its arguments. With another program the script is the rest of the option, or the next word
    /// that is not an option.
    private static func scripts(behind index: Int, of words: [String]) -> [String] {
        guard index > 0, isOption(words[index]), !words[index].startsWithBytes(of: "--") else { return [] }
        let letters = words[index].utf8.dropFirst()
        guard let mark = letters.firstIndex(of: UInt8(ascii: "c")) else { return [] }
        let behind = words[(index + 1)...]
        let isPlain = words[index] == "-c" && behind.first.map { !isOption($0) } ?? false
        if words[..<index].contains(where: isShell), !isPlain { return words[index...].map(\.self) }
        guard words[index].startsWithBytes(of: "-"),
            letters[..<mark].allSatisfy({ Unicode.Scalar($0).properties.isAlphabetic })
        else { return [] }
        let next = behind.first { !$0.startsWithBytes(of: "-") }
        return [String(decoding: letters[mark...], as: UTF8.self)] + (next.map { [$0] } ?? [])
    }

    /// The reason why the program cannot be started now; nil if it can.
    var programProblem: String? {
        guard case .command(let words) = kind, let program = words.first else { return nil }
        do throws(CommandSearch.Failure) {
            try CommandSearch.check(Array(program.utf8), path: OwnProcess.variable("PATH"))
            return nil
        } catch {
            return "executor.command: \(error.message): no push can be served"
        }
    }

    private static func isOption(_ word: String) -> Bool {
        word.startsWithBytes(of: "-") || word.startsWithBytes(of: "+")
    }

    /// Returns true if a word may name a shell: a part of its last component ends with `sh`, as of `/bin/bash` and
    /// `bash-static`.
    private static func isShell(_ word: String) -> Bool {
        let parts = (word.pathParts.last ?? "").utf8.split { !Unicode.Scalar($0).properties.isAlphabetic }
        return parts.contains { $0.suffix(2).elementsEqual("sh".utf8) }
    }

    /// True for an Executor of this project, whose exit statuses and lines are known.
    var isOwn: Bool { if case .command = kind { false } else { true } }

    /// Returns the program for a push, with the push's values in its environment.
    ///
    /// - Parameter isHeld: True if the program waits before it begins.
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
            arguments: StartGate.arguments(
                for: words, as: way, of: parent, leave: isHeld ? StandardStream.input.rawValue : nil),
            variables: variables.merging(push.variables) { _, pushed in pushed }, isHeld: isHeld)
    }
}
