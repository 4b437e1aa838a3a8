internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import Synchronization
internal import TestSupport
internal import ZMQBackend

/// A group, its Maildir and the programs that take part in it.
final class Post: Sendable {
    let directory: TemporaryDirectory
    /// The time that a core takes to connect, in milliseconds.
    let startMilliseconds: Int
    private let counter = Atomic(0)

    init(startMilliseconds: Int) throws {
        directory = try TemporaryDirectory()
        self.startMilliseconds = startMilliseconds
        for folder in ["groups", "mail", "mail/new", "mail/cur", "mail/tmp"] {
            guard mkdir(directory.path(of: folder), 0o700) == 0 else {
                throw FileProblem(path: folder, code: errno)
            }
        }
    }

    var group: String { directory.path(of: "groups/main") }
    var maildir: String { directory.path(of: "mail") }

    /// This process's own handle of the group.
    func open() async throws -> FileGroup {
        try await FileGroup.open(directory: group, as: SessionDescription(role: .tool, name: "test"))
    }

    /// The text of a call-id's message.
    func text(of callID: String) -> String { "This is for \(callID)." }

    /// Puts the message of a call-id on the server, as a mail transfer agent does.
    func deliver(_ callID: String) throws {
        let name = "\(counter.add(1, ordering: .relaxed).newValue).test"
        let mail =
            "From: Ann <ann@example.org>\r\nTo: Bob <bob@example.org>\r\nCall-ID: \(callID)\r\n\r\n\(text(of: callID))\r\n"
        let temporary = maildir + "/tmp/" + name
        let file = creat(temporary, 0o600)
        guard file >= 0 else { throw FileProblem(path: temporary, code: errno) }
        let bytes = Array(mail.utf8)
        let written = write(file, bytes, bytes.count)
        close(file)
        guard written == bytes.count, rename(temporary, maildir + "/new/" + name) == 0 else {
            throw FileProblem(path: temporary, code: errno)
        }
    }

    /// The number of messages in a folder of the Maildir.
    func count(in folder: String) throws -> Int {
        try Directory(path: maildir + "/" + folder).names().count
    }

    /// Starts an Executor for a call-id.
    ///
    /// - Parameter arguments: What runs before it, such as a change of the namespace.
    func push(
        _ callID: String, deadline: Duration = .seconds(120), failPoint: String? = nil, through arguments: [String] = []
    ) throws -> ChildProcess {
        try start(
            "sharedcore-executor",
            [
                "--directory", group, "--call-id", callID, "--maildir", maildir, "--start-ms", "\(startMilliseconds)",
                "--timeout-ms", "\(Int(deadline / .milliseconds(1)))", "--budget-ms", "120000",
            ],
            environment: failPoint.map { ["SHAREDCORE_FAIL_POINT": $0] } ?? [:], through: arguments)
    }

    /// Starts a Main.
    ///
    /// - Parameter arguments: What runs before it, such as a change of the namespace.
    func startMain(through arguments: [String] = []) throws -> ChildProcess {
        try start(
            "sharedcore", ["main", "--json", "--state-directory", directory.path(of: "groups"), "--group", "main"],
            environment: [
                "SHAREDCORE_CORE_MAILDIR": maildir, "SHAREDCORE_CORE_START_DELAY": "\(startMilliseconds)ms",
            ], through: arguments)
    }

    /// Starts an Executor that reaches the group through a hub, which it starts when there is none.
    func pushThroughHub(_ callID: String) throws -> ChildProcess {
        try start("sharedcore", ["executor", "--json", "--call-id", callID, "--timeout", "120s"] + hubGroup)
    }

    /// Runs a command about the hub to its end.
    func hub(_ arguments: String...) async throws -> ProgramEnd {
        try await start("sharedcore", ["hub"] + arguments + hubGroup).end()
    }

    /// The process of the hub, when one serves.
    func hubProcess() throws -> ProcessIdentity? {
        guard case .serving(let identity) = try HubEndpointState.ofSocket(socket) else { return nil }
        return identity
    }

    private var socket: String { directory.path(of: "hub") }

    private var hubGroup: [String] {
        ["--backend", "zmq", "--state-directory", directory.path(of: "groups"), "--group", "main"]
    }

    private func start(_ program: String, _ options: [String]) throws -> ChildProcess {
        try start(
            program, options,
            environment: [
                "SHAREDCORE_CORE_MAILDIR": maildir, "SHAREDCORE_CORE_START_DELAY": "\(startMilliseconds)ms",
                "SHAREDCORE_ZMQ_ENDPOINT": "ipc://\(socket)", "SHAREDCORE_EXECUTOR_BUDGET": "120s",
            ], through: [])
    }

    private func start(
        _ program: String, _ options: [String], environment: [String: String], through arguments: [String]
    ) throws -> ChildProcess {
        let words = try arguments + [ChildProcess.built(program)] + options
        return try ChildProcess(words[0], Array(words.dropFirst()), environment: environment, errors: errors)
    }

    /// The file to which all programs write their complaints.
    private var errors: String { directory.path(of: "errors") }

    /// The lines in which a program says that it was told something that it does not know: a setting that a test believes
    /// in and that does nothing.
    func misunderstandings() throws -> [String] {
        guard access(errors, F_OK) == 0 else { return [] }
        let file = try OpenFile(path: errors, .read)
        let text = String(decoding: try file.read(count: try file.status().byteCount, at: 0), as: UTF8.self)
        // The processes that the tests start inherit the tests' own variables.
        return text.split(separator: "\n").map(String.init).filter {
            $0.contains("unknown variable") && !$0.contains("unknown variable SHAREDCORE_TEST_")
        }
    }

    /// The report on its call-id in a process's lines.
    func report(of process: ChildProcess) -> PushReport? {
        process.lines.compactMap(PushReport.init).last
    }
}
