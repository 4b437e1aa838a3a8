package import CoreAPI
internal import Glibc
internal import Synchronization

extension ProcessIdentity {
    /// The calling process. A child made by a bare fork gets an identity of its own.
    package static var current: ProcessIdentity {
        let pid = getpid()
        if let known = remembered.withLock({ $0 }), known.pid == pid { return known }
        // A process can always read its own record; without /proc the start time is not known.
        let start = (try? startTime(of: pid).get()) ?? 0
        let identity = ProcessIdentity(bootID: SystemClock.currentBootID, pid: pid, startTime: start)
        remembered.withLock { $0 = identity }
        return identity
    }

    private static let remembered = Mutex<ProcessIdentity?>(nil)

    /// The process that has a number now; nil when none has or when it cannot be seen.
    package init?(of pid: Int32) {
        guard case .success(let start) = Self.startTime(of: pid) else { return nil }
        self.init(bootID: SystemClock.currentBootID, pid: pid, startTime: start)
    }

    /// Whether the process lives. A zombie is dead.
    package var liveness: ProcessLiveness {
        do throws(ProcessUnreachable) {
            return try ProcessHandle(self).hasEnded ? .dead : .alive
        } catch {
            switch error {
            case .dead: return .dead
            case .unknown: return .unknown
            }
        }
    }

    /// Whether the process is stopped by a signal or a debugger; nil when it is gone or cannot be seen.
    package var isStopped: Bool? {
        guard bootID == SystemClock.currentBootID, case .success(let record) = Self.record(of: pid),
            record.startTime == startTime
        else { return nil }
        return record.state == "T" || record.state == "t"
    }

    /// When the process started, in clock ticks since the machine did.
    static func startTime(of pid: Int32) -> Result<UInt64, SystemCallError> {
        record(of: pid).map(\.startTime)
    }

    /// What the system's record of a process says: its state, field 3, and its start time, field 22.
    private static func record(of pid: Int32) -> Result<(state: Substring, startTime: UInt64), SystemCallError> {
        let path = "/proc/\(pid)/stat"
        let text: String
        do throws(SystemCallError) {
            text = String(decoding: try OpenFile(path: path, .read).read(count: 4096, at: 0), as: UTF8.self)
        } catch {
            return .failure(error)
        }
        // The second field is the program's name in parentheses and may hold anything, so count from its last one.
        guard let name = text.lastIndex(of: ")") else {
            return .failure(SystemCallError("read", number: EBADMSG, at: path))
        }
        let fields = text[text.index(after: name)...].split(separator: " ")
        guard fields.count > 19, let ticks = UInt64(fields[19]) else {
            return .failure(SystemCallError("read", number: EBADMSG, at: path))
        }
        return .success((fields[0], ticks))
    }

    /// The number of the process's namespace of process numbers; 0 when it cannot be known. Numbers of processes mean
    /// something only within one.
    package static let currentNamespace: UInt64 = {
        var status = stat()
        return stat("/proc/self/ns/pid", &status) == 0 ? UInt64(status.st_ino) : 0
    }()
}
