internal import CoreAPI
package import Platform

/// A second process that runs ``ConformancePeer``, driven line by line. It is killed when the last reference is
/// released.
package final class Peer: Sendable {
    /// The process, for its signals and its end.
    package let process: ChildProcess
    private let note: @Sendable (String) -> Void

    /// Starts a peer.
    ///
    /// - Parameters:
    ///   - environment: Variables that are set for it; nil removes a variable.
    ///   - arguments: The command that runs before it, such as a change of the user.
    ///   - note: Called with each line in either direction.
    package init(
        _ program: PeerProgram, environment changes: [String: String?] = [:], through arguments: [String] = [],
        noting note: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        let words = arguments + [program.path] + program.arguments
        process = try ChildProcess(
            words[0], Array(words.dropFirst()), environment: changes, input: true, keepsErrors: true)
        self.note = note
    }

    /// The error output of the process goes to the output of the test as well.
    deinit {
        try? OpenFile.standardError().writeStream(Array(process.errorText(upTo: 1 << 20).utf8))
    }

    package var pid: Int32 { process.pid }

    /// Sends a command without waiting for its answer.
    package func send(_ command: String) throws {
        note("to \(pid): \(command)")
        try process.send(command)
    }

    /// Sends several commands at once without waiting for their answers.
    package func send(_ commands: [String]) throws {
        guard let first = commands.first, let last = commands.last else { return }
        note("to \(pid): \(commands.count) commands from “\(first)” to “\(last)”")
        try process.send(commands)
    }

    /// Returns the next line that the peer wrote.
    package func answer(timeout: Duration = TestTimeout.usual) async throws -> String {
        guard let line = try await process.nextLine(timeout: timeout) else {
            throw PeerRefusal("nothing: \(await end)")
        }
        note("from \(pid): \(line)")
        return line
    }

    /// Sends a command and returns its answer, without the leading "ok".
    @discardableResult
    package func tell(_ command: String, timeout: Duration = TestTimeout.usual) async throws -> String {
        try send(command)
        return try await done(timeout: timeout)
    }

    /// Returns the answer to a command that was sent, without the leading "ok".
    ///
    /// - Throws: ``PeerRefusal`` if the answer is not a success; ``HarnessLimitation`` if the program answers that it
    ///   does not support the command, as `limitation <reason>`.
    @discardableResult
    package func done(timeout: Duration = TestTimeout.usual) async throws -> String {
        let line = try await answer(timeout: timeout)
        if line.hasPrefix("limitation ") { throw HarnessLimitation(String(line.dropFirst("limitation ".count))) }
        guard line.hasPrefix("ok") else { throw PeerRefusal(line) }
        return String(line.dropFirst(3))
    }

    /// Returns the further answers of the peer, until its end.
    package func lastAnswers() async throws -> [String] {
        var answers: [String] = []
        while let line = try await process.nextLine(timeout: TestTimeout.usual) { answers.append(line) }
        return answers
    }

    /// Starts the peer of a harness.
    static func start(
        by harness: any ConformanceHarness, noting note: @escaping @Sendable (String) -> Void
    ) async throws -> Peer {
        guard let program = harness.peer else {
            throw HarnessLimitation("the harness “\(harness.name)” has no program for a second process")
        }
        let peer = try await SerialThread(name: "peer's start").run { try Peer(program, noting: note) }
        _ = try await peer.answer()
        return peer
    }

    // MARK: - Its end

    /// How the peer ended, with the last lines of its standard error.
    private var end: String {
        get async {
            let errors = process.errorText(upTo: 2000).split(separator: "\n").suffix(10).joined(separator: " | ")
            return "it \(await process.end())" + (errors.isEmpty ? "" : ", and said: \(errors)")
        }
    }

    /// Sends the peer a signal. Does nothing after ``ended(timeout:)`` or another wait has reaped it.
    package func signal(_ signal: ProcessSignal) { process.signal(signal) }

    /// Kills it, unless it has ended, and waits until it has ended.
    package func killNow() async { await process.killNow() }

    /// Waits until it has stopped itself.
    package func stopped(timeout: Duration = TestTimeout.usual) async throws {
        try await eventually("the peer \(pid) stops itself", timeout: timeout) { process.isStopped }
    }

    /// Waits until it has ended by itself.
    package func ended(timeout: Duration = TestTimeout.usual) async throws {
        try await eventually("the peer \(pid) ends", timeout: timeout) { process.ended != nil }
    }

    /// Kills it without reaping it: it stays a zombie until the last reference is released.
    package func becomesZombie(timeout: Duration = TestTimeout.usual) async throws {
        process.killLeavingZombie()
        // The main thread may be a zombie while other threads still run.
        try await eventually("the peer \(pid) ends", timeout: timeout) { process.identity.liveness == .dead }
    }
}

/// An answer of a peer that is not a success.
package struct PeerRefusal: Error, CustomStringConvertible {
    package let answer: String

    init(_ answer: String) {
        self.answer = answer
    }

    package var description: String { "the peer answered: \(answer)" }
}
