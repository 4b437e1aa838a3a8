internal import CoreAPITesting
internal import Glibc
internal import KeptSockets
internal import Lifecycle
internal import Platform
internal import TestSupport
internal import Testing

/// A keeper as a process, in a directory of its own, and its clients.
final class KeeperStage {
    let directory: TemporaryDirectory
    private(set) var keeper: ChildProcess?

    let place: KeeperPlace

    /// Creates a directory of its own, or uses that of a group with a host that starts the keeper.
    init(in directory: TemporaryDirectory? = nil, place: KeeperPlace? = nil) throws {
        let directory = try directory ?? TemporaryDirectory()
        self.directory = directory
        self.place = place ?? KeeperPlace(directory: directory.path)
    }

    deinit {
        // In this order, so that no Main is left that is about to begin.
        try? (try? connect())?.send(Array(KeeperRequest.quit.text.utf8))
        waitOnThread(atMost: .seconds(5)) { (try? connect()) == nil }
        keeper?.signal(.kill)
        // A Main outlives a keeper that is killed. The number belongs to Main as long as Main's lock is held.
        if let main = mainPid { kill(main, SIGKILL) }
    }

    var notebook: String { directory.path(of: "notebook") }

    /// The process that has Main's lock.
    var mainPid: Int32? {
        (try? OpenFile(path: place.mainLock, .read))?.mainLockHolder
    }

    /// Returns Main's number as soon as Main holds its lock: a keeper reports a Main before that.
    func startedMain() async throws -> Int32 {
        var found: Int32?
        try await eventually("Main has its lock") {
            found = mainPid
            return found != nil
        }
        guard let found else { throw FileProblem(path: place.mainLock, code: ENOENT) }
        return found
    }

    /// Quick supervision, with budgets that no slow machine meets by chance.
    static func options(_ change: (inout SupervisionOptions) -> Void = { _ in }) -> SupervisionOptions {
        var options = SupervisionOptions()
        options.restart.firstDelay = .milliseconds(50)
        options.restart.longestDelay = .milliseconds(200)
        options.restart.limit = 1000
        options.stopGrace = .seconds(1)
        options.wakeBudget = .seconds(120)
        options.wakeWarning = .seconds(110)
        change(&options)
        return options
    }

    /// Starts a keeper and waits until it answers.
    @discardableResult
    func start(_ command: [String], _ options: SupervisionOptions = KeeperStage.options()) async throws -> ChildProcess
    {
        let configuration = KeeperConfiguration(command: command, options: options)
        let keeper = try ChildProcess(
            try ChildProcess.built("sharedcore-keeper"), ["--directory", directory.path] + configuration.arguments,
            errors: directory.path(of: "log"))
        self.keeper = keeper
        try await until("a keeper answers") { $0.keeper == keeper.pid }
        return keeper
    }

    /// Starts a keeper of the Main for tests, which connects to a server.
    @discardableResult
    func start(
        mainOf server: LineServer, _ options: SupervisionOptions = KeeperStage.options()
    ) async throws -> ChildProcess {
        try await start(configuration(of: server, options).command, options)
    }

    /// The configuration of a keeper of the Main for tests.
    func configuration(of server: LineServer, _ options: SupervisionOptions) throws -> KeeperConfiguration {
        KeeperConfiguration(
            command: [try ChildProcess.built("sharedcore-test-main"), String(server.port), notebook], options: options)
    }

    /// Waits until the keeper's status is as it should be.
    func until(_ what: String, _ condition: (KeeperStatus) -> Bool) async throws {
        try await eventually("\(what); log: \(log)") {
            guard let status = try? await status() else { return false }
            return condition(status)
        }
    }

    /// Waits until the Main for tests has written a line.
    func untilNoted(_ line: String, count: Int = 1) async throws {
        try await eventually("\(count) × “\(line)” in \(notes); log: \(log)") {
            notes.count { $0 == line } >= count
        }
    }

    var notes: [String] { Self.lines(notebook) }
    /// The lines that Main has noted as read.
    ///
    /// A Main that is killed between its note of a line and the removal of the line leaves the line to the next Main,
    /// which notes it once more.
    var readLines: [String] { notes.filter { $0.hasPrefix("read ") }.map { String($0.dropFirst(5)) } }
    /// The lines written by the keeper of this stage, and by one that a host started.
    var log: [String] {
        Self.lines(directory.path(of: "log")) + Self.lines(place.directory + "/" + KeeperPlace.logName)
    }

    static func lines(_ path: String) -> [String] {
        guard let bytes = try? OpenFile(path: path, .read).read(count: 1 << 20, at: 0) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    func connect() throws -> MessageSocket {
        try MessageSocket(connectingTo: place.socket)
    }

    func status() async throws -> KeeperStatus {
        let answer = try await ask(.status)
        guard case .status(let status) = answer else {
            throw NoStatus(answer: answer, errorNumber: lastErrorNumber, log: log)
        }
        return status
    }

    /// The keeper gave no status.
    struct NoStatus: Error {
        let answer: KeeperMessage?
        /// 0 where the keeper closed the connection.
        let errorNumber: Int32
        let log: [String]
    }

    /// The error of the last read that ended a connection.
    private var lastErrorNumber: Int32 = 0

    @discardableResult
    func ask(_ request: KeeperRequest) async throws -> KeeperMessage? {
        try await ask(Array(request.text.utf8), over: try connect())
    }

    /// Sends a message, and gives the answer; nil when the connection ends.
    func ask(
        _ bytes: [UInt8], with file: OpenFile? = nil, over connection: MessageSocket
    ) async throws -> KeeperMessage? {
        try connection.send(bytes, with: file.map { [$0] } ?? [])
        var answer: KeeperMessage?
        try await eventually("an answer") {
            errno = 0
            let arrival = connection.receive(upTo: KeeperLimits.messageByteCount)
            let number = errno
            switch arrival {
            case .message(let bytes, _):
                answer = KeeperMessage(bytes)
                if answer == nil { Issue.record("unknown: \(String(decoding: bytes, as: UTF8.self))") }
                return true
            case .end:
                lastErrorNumber = number
                return true
            case .nothing, .tooLong: return false
            }
        }
        return answer
    }
}

extension OpenFile {
    fileprivate var mainLockHolder: Int32? { (try? programLockHolder()) ?? nil }
}

extension [String] {
    /// The lines without those that are the same as the line before.
    var withoutRepeats: [String] {
        indices.filter { $0 == startIndex || self[$0] != self[$0 - 1] }.map { self[$0] }
    }
}
