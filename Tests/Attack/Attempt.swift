internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Synchronization
internal import TestSupport

/// One run of a scenario: a separate group, the attacked program, and this process's knowledge of both.
///
/// The program is driven as by a user: with arguments, streams, signals and files.
final class Attempt: Sendable {
    /// The end of a command of the program, with its output.
    struct Answer: Sendable {
        let command: String
        let end: ProgramEnd
        let lines: [String]
        let errors: String

        var isSuccess: Bool { end == .exited(0) }

        /// The command, its end and the last of its errors, for a message.
        var summary: String { "“\(command)” ended with \(end): \(errors.suffix(600))" }
    }

    /// The seed of all its random choices.
    let seed: UInt64
    /// A directory for everything that it makes.
    let directory: String
    let log: AcknowledgementLog
    let witness: Witness
    private let program: String
    private let counter = Atomic(0)
    private let faults = Atomic(0)
    private let missed = Atomic(false)

    init(program: String, directory: String, seed: UInt64) throws {
        self.program = program
        self.directory = directory
        self.seed = seed
        log = try AcknowledgementLog(path: directory + "/acknowledged")
        witness = try Witness(directory: directory + "/witness")
        try Self.makeDirectory(groups)
    }

    /// The directory that contains groups; a file system may be mounted there.
    var groups: String { directory + "/groups" }
    /// The directory of the group.
    var group: String { groups + "/default" }
    /// The number of injected faults.
    var faultCount: Int { faults.load(ordering: .relaxed) }
    /// True if the fault to be tried did not occur.
    var isMissed: Bool { missed.load(ordering: .relaxed) }

    func countFaults(_ count: Int = 1) {
        faults.add(count, ordering: .relaxed)
    }

    /// Records that the fault to be tried did not occur.
    func noteMissed() {
        missed.store(true, ordering: .relaxed)
    }

    // MARK: - Running the program

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - prefix: The command that runs before it and executes it, such as `strace -D`.
    ///   - errors: The path of a file for its standard error.
    func start(_ arguments: [String], through prefix: [String] = [], errors: String? = nil) throws -> ChildProcess {
        let words = prefix + [program, "--state-directory", groups] + arguments
        return try ChildProcess(
            words[0], Array(words.dropFirst()),
            environment: [
                "XDG_CONFIG_HOME": directory, "XDG_RUNTIME_DIR": directory, "XDG_STATE_HOME": directory,
                "SHAREDCORE_HANDOVER_TIMEOUT": "500ms",
            ], errors: errors ?? errorPath())
    }

    /// Runs the program to its end. Any signal that ends it fails the attempt, unless it is SIGKILL and that is expected.
    ///
    /// - Parameters:
    ///   - killedAfter: When it is killed, unless it has ended.
    ///   - mayBeKilled: True if a fault may kill it.
    @discardableResult
    func run(
        _ arguments: [String], through prefix: [String] = [], killedAfter: Duration? = nil, mayBeKilled: Bool = false
    ) async throws -> Answer {
        let errors = errorPath()
        let child = try start(arguments, through: prefix, errors: errors)
        if let killedAfter {
            // The trial is about the moment of the kill.
            try await Task.sleep(for: killedAfter)
            if child.ended == nil { countFaults() }
            child.signal(.kill)
        }
        return try await end(
            of: child, (prefix.isEmpty ? [] : ["…"]) + arguments, errors: errors,
            mayBeKilled: mayBeKilled || killedAfter != nil)
    }

    /// The signals by which the kernel or the runtime ends a faulty program. A shell reports them as a status.
    private static let faultSignals: Set<Int32> = [SIGBUS, SIGSEGV, SIGILL, SIGABRT, SIGTRAP, SIGFPE, SIGSYS]

    /// Waits for the end of a command.
    func end(
        of child: ChildProcess, _ words: [String], errors: String = "/dev/null", mayBeKilled: Bool = false
    ) async throws -> Answer {
        let command = words.map { $0.utf8.count > 60 ? "\($0.prefix(20))…(\($0.utf8.count) bytes)" : $0 }
            .joined(separator: " ")
        do {
            try await eventually("“\(command)” ends", timeout: .seconds(60)) { child.ended != nil }
        } catch {
            child.signal(.kill)
            throw error
        }
        let answer = Answer(
            command: command, end: await child.end(), lines: child.lines, errors: Self.text(ofFile: errors))
        switch answer.end {
        case .exited(let status) where !Self.faultSignals.contains(status - 128): break
        case .killed(by: SIGKILL) where mayBeKilled: break
        default: throw Finding("A signal ended the program: \(answer.summary)")
        }
        return answer
    }

    /// Runs another program to its end and demands success.
    @discardableResult
    func tool(_ program: String, _ arguments: String...) async throws -> [String] {
        let errors = errorPath()
        let child = try ChildProcess(program, arguments, errors: errors)
        guard await child.end() == .exited(0) else {
            let words = ([program] + arguments).joined(separator: " ")
            let reason = Self.text(ofFile: errors).split(separator: "\n").joined(separator: " ")
            throw HarnessLimitation("“\(words)” failed: \(reason)")
        }
        return child.lines
    }

    // MARK: - Files

    /// Returns an unused path.
    func newPath(_ name: String) -> String {
        "\(directory)/\(name)-\(counter.add(1, ordering: .relaxed).newValue)"
    }

    private func errorPath() -> String { newPath("errors") }

    static func makeDirectory(_ path: String) throws {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FileProblem(path: path, code: errno) }
    }

    /// The text of a small file; empty when there is none.
    static func text(ofFile path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// The names in the group's directory.
    var names: [String] { TemporaryDirectory.names(in: group).sorted() }

    /// The bytes of the disk that each file of the group takes.
    var spaceOfFiles: String {
        names.map { name in
            let space = try? FilePresence(ofPath: group + "/" + name).allocatedByteCount
            return "\(name) \(space.map(String.init) ?? "-")"
        }.joined(separator: ", ")
    }

    /// The newest journal's path.
    var newestJournal: String? {
        names.compactMap { name in
            name.hasPrefix("journal-") ? Int(name.dropFirst("journal-".count)) : nil
        }.max().map { group + "/journal-\($0)" }
    }
}
