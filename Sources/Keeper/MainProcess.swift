internal import CoreAPI
internal import KeptSockets
internal import Lifecycle
internal import Platform
internal import ProgramOutput

/// The process of Main: a child of this keeper, or one that another keeper has started.
struct MainProcess {
    private let program: StartedProgram?
    let handle: ProcessHandle

    /// Starts Main.
    init(_ command: [String], at place: KeeperPlace, inBackground: Bool, streams: [OpenFile]) throws {
        // Start this program through /proc, because its file may have been replaced since the keeper began.
        let program = try StartedProgram(
            "/proc/self/exe", MainStart.arguments(lock: place.mainLock, command: command),
            variables: [
                KeeperPlace.socketVariable: place.socket, KeeperPlace.backgroundVariable: inBackground ? "1" : "0",
            ],
            streams: streams, ownSession: true)
        handle = program.handle
        self.program = program
    }

    /// Finds a running Main that another keeper has started; nil if there is none.
    init?(thatIsThereAt place: KeeperPlace) {
        guard let lock = try? OpenFile(path: place.mainLock, .read),
            let identity = Self.holder(of: lock) ?? Self.recorded(in: lock),
            let handle = try? ProcessHandle(identity), handle.user == OwnProcess.user, !handle.hasEnded
        else { return nil }
        program = nil
        self.handle = handle
    }

    private static func holder(of lock: OpenFile) -> ProcessIdentity? {
        guard let pid = try? lock.programLockHolder(), let identity = ProcessIdentity(of: pid),
            // Check the lock's holder again: the process id still belongs to that Main, so the identity that was read
            // is the right one.
            (try? lock.programLockHolder()) == pid
        else { return nil }
        return identity
    }

    /// Returns the recorded process, for a Main that has closed all its descriptors and so has lost its lock.
    private static func recorded(in lock: OpenFile) -> ProcessIdentity? {
        guard let bytes = try? lock.read(count: 256, at: 0) else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 3, let pid = Int32(words[0]), let startTime = UInt64(words[1]),
            words[2] == SystemClock().bootID.description
        else { return nil }
        return ProcessIdentity(bootID: SystemClock().bootID, pid: pid, startTime: startTime)
    }

    var pid: Int32 { handle.identity.pid }

    /// Returns how it ended. Call it only after its handle has reported the end.
    func end() -> MainProcessEnd {
        guard let program else { return .unseen }
        do throws(SystemCallError) {
            switch try program.reap() {
            case .exited(let status): return .exited(status: status)
            case .killed(let signal): return .killed(signal: signal)
            }
        } catch {
            return .unseen
        }
    }
}

/// The step between a keeper and its Main: a process of this program takes Main's lock and becomes Main's program.
///
/// So a Main has its lock before its program begins, even if the keeper dies meanwhile, and no second Main begins while
/// the first runs: the process keeps the lock until it ends.
enum MainStart {
    /// The first argument of a process that performs this step.
    static let word = "start-main"
    /// The exit status when another Main has the lock.
    static let taken: Int32 = 75
    /// The exit status when the command cannot be run, as a shell's.
    private static let notFound: Int32 = 127

    static func arguments(lock: String, command: [String]) -> [String] {
        [word, lock] + command
    }

    static func run(_ arguments: [String]) -> Never {
        guard arguments.count >= 2 else { OwnProcess.exit(ExitStatus.usage.rawValue) }
        do throws(SystemCallError) {
            let lock = try OpenFile(path: arguments[0], .create)
            guard try lock.tryLockForProgram() else { OwnProcess.exit(taken) }
            let own = ProcessIdentity.current
            try lock.truncate(to: 0)
            try lock.write(Array("\(own.pid) \(own.startTime) \(own.bootID)\n".utf8), at: 0)
            let error = OwnProcess.become(Array(arguments[1].utf8), arguments.dropFirst(2).map { Array($0.utf8) })
            withExtendedLifetime(lock) {}
            StandardError.write("sharedcore-keeper: \(error)")
            OwnProcess.exit(notFound)
        } catch {
            StandardError.write("sharedcore-keeper: \(error)")
            OwnProcess.exit(ExitStatus.unavailable.rawValue)
        }
    }
}

/// The note that Main must not be started, valid for one boot of the machine.
struct MainMemory {
    let directory: Directory
    private static let closed = "closed"

    /// Returns true if Main was closed in this boot of the machine and has not been started since. An unreadable note
    /// counts as none: starting Main needlessly is better than not starting it.
    func isClosed() -> Bool {
        guard let file = try? OpenFile(KeeperPlace.memoryName, in: directory, .read),
            let bytes = try? file.read(count: 256, at: 0)
        else { return false }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return words.count == 2 && words[0] == Self.closed && words[1] == SystemClock().bootID.description
    }

    func remember(isClosed: Bool) throws(SystemCallError) {
        guard isClosed else {
            try directory.remove(KeeperPlace.memoryName)
            return
        }
        let file = try OpenFile(KeeperPlace.memoryName, in: directory, .create)
        try file.truncate(to: 0)
        try file.write(Array("\(Self.closed) \(SystemClock().bootID)\n".utf8), at: 0)
    }
}
