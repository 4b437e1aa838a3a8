internal import CoreAPI
internal import KeptSockets
internal import Lifecycle
internal import Platform

/// The process of Main: a child of this keeper, or one that another keeper has started.
struct MainProcess {
    private let program: StartedProgram?
    let handle: ProcessHandle

    /// Starts Main.
    init(_ command: [String], at place: KeeperPlace, inBackground: Bool, streams: [OpenFile]) throws {
        // By this name because the program's file may have been replaced since.
        let program = try StartedProgram(
            "/proc/self/exe", MainStart.arguments(lock: place.mainLock, command: command),
            variables: [
                KeeperPlace.socketVariable: place.socket, KeeperPlace.backgroundVariable: inBackground ? "1" : "0",
            ],
            streams: streams, ownSession: true)
        do {
            // Until it is reaped, its number means it.
            guard let identity = ProcessIdentity(of: program.pid) else { throw ProcessUnreachable.dead }
            handle = try ProcessHandle(identity)
        } catch {
            program.kill()
            _ = try program.reap()
            throw error
        }
        self.program = program
    }

    /// The Main that is there though this keeper has not started it; nil when none is.
    init?(thatIsThereAt place: KeeperPlace) {
        guard let lock = try? OpenFile(path: place.mainLock, .read),
            let identity = Self.holder(of: lock) ?? Self.recorded(in: lock),
            let handle = try? ProcessHandle(identity), !handle.hasEnded
        else { return nil }
        program = nil
        self.handle = handle
    }

    private static func holder(of lock: OpenFile) -> ProcessIdentity? {
        guard let pid = try? lock.programLockHolder(), let identity = ProcessIdentity(of: pid),
            // Still the one: its number had not come to mean another process when its record was read.
            (try? lock.programLockHolder()) == pid
        else { return nil }
        return identity
    }

    /// For a Main that has closed all its descriptors and with them its lock.
    private static func recorded(in lock: OpenFile) -> ProcessIdentity? {
        guard let bytes = try? lock.read(count: 256, at: 0) else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 3, let pid = Int32(words[0]), let startTime = UInt64(words[1]),
            words[2] == SystemClock().bootID.description
        else { return nil }
        return ProcessIdentity(bootID: SystemClock().bootID, pid: pid, startTime: startTime)
    }

    var pid: Int32 { handle.identity.pid }

    /// How it ended. Only when its handle says that it has.
    func end() -> MainEnd {
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
