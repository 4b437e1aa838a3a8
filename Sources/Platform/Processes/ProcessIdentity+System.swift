public import CoreAPI
internal import Glibc
internal import Synchronization

extension ProcessIdentity {
    /// The calling process. A child made by a bare fork gets an identity of its own.
    public static var current: ProcessIdentity {
        let pid = getpid()
        if let known = remembered.withLock({ $0 }), known.pid == pid { return known }
        // A process can always read its own record; without /proc the start time is not known.
        let start = (try? startTime(of: pid).get()) ?? 0
        let identity = ProcessIdentity(bootID: SystemClock.currentBootID, pid: pid, startTime: start)
        remembered.withLock { $0 = identity }
        return identity
    }

    private static let remembered = Mutex<ProcessIdentity?>(nil)

    /// Creates the identity of the process that has a number now; nil if there is none or it cannot be seen.
    public init?(of pid: Int32) {
        guard case .success(let start) = Self.startTime(of: pid) else { return nil }
        self.init(bootID: SystemClock.currentBootID, pid: pid, startTime: start)
    }

    /// The number of its process group; nil if there is no process of its number.
    package var processGroup: Int32? {
        let group = getpgid(pid)
        return group < 0 ? nil : group
    }

    /// The liveness of the process: alive, dead, or unknown if it cannot be seen. A zombie is dead.
    public var liveness: ProcessLiveness {
        do throws(ProcessUnreachable) {
            return try ProcessHandle(self).hasEnded ? .dead : .alive
        } catch {
            switch error {
            case .dead: return .dead
            case .unknown: return .unknown
            }
        }
    }

    /// True while the process is stopped by a signal or a debugger; nil if it has ended or cannot be seen.
    package var isStopped: Bool? {
        guard bootID == SystemClock.currentBootID, case .success(let record) = Self.record(of: pid),
            record.startTime == startTime
        else { return nil }
        return record.state == UInt8(ascii: "T") || record.state == UInt8(ascii: "t")
    }

    /// True if the process runs no more code: it has ended, or the kernel is ending it, which may take a while on a
    /// busy machine. False if it runs or cannot be seen.
    package var isExiting: Bool {
        guard bootID == SystemClock.currentBootID else { return true }
        switch Self.record(of: pid) {
        case .success(let record) where startTime != 0 && record.startTime != startTime: return true
        case .success: break
        case .failure(let error): return error.isAbsent || error.number == ESRCH
        }
        // All threads are checked: the first one of a program may end long before the others.
        let threads: [String]
        do throws(SystemCallError) {
            threads = try Directory(path: "/proc/\(pid)/task").names()
        } catch {
            // The process has ended since its record was read.
            return error.isAbsent || error.number == ESRCH
        }
        return threads.allSatisfy { thread in
            switch Self.record(of: pid, thread: thread) {
            case .success(let record): record.isExiting
            case .failure(let error): error.isAbsent || error.number == ESRCH
            }
        }
    }

    /// Returns the time at which the process started, in clock ticks since the machine did.
    static func startTime(of pid: Int32) -> Result<UInt64, SystemCallError> {
        record(of: pid).map(\.startTime)
    }

    private static func record(of pid: Int32, thread: String? = nil) -> Result<ProcessRecord, SystemCallError> {
        let path = thread.map { "/proc/\(pid)/task/\($0)/stat" } ?? "/proc/\(pid)/stat"
        do throws(SystemCallError) {
            guard let record = ProcessRecord(try OpenFile(path: path, .read).read(count: 4096, at: 0)) else {
                throw SystemCallError("read", number: EBADMSG, at: path)
            }
            return .success(record)
        } catch {
            return .failure(error)
        }
    }

    /// The number of the process's PID namespace; 0 if it is unknown. Process numbers are valid only within one
    /// namespace.
    package static let currentNamespace: UInt64 = {
        var status = stat()
        return stat("/proc/self/ns/pid", &status) == 0 ? UInt64(status.st_ino) : 0
    }()

    /// Returns the process with a number in a PID namespace, with its number in this one; nil if it cannot be seen.
    /// Only processes of the namespaces below this one can be seen.
    ///
    /// Complexity: O(n) in the processes of the machine, for another namespace than this one.
    package static func seen(pid: Int32, startTime: UInt64, in namespace: UInt64) -> ProcessIdentity? {
        guard namespace != currentNamespace else {
            return ProcessIdentity(bootID: SystemClock.currentBootID, pid: pid, startTime: startTime)
        }
        let numbers = ((try? Directory(path: "/proc").names()) ?? []).compactMap { Int32($0) }
        return numbers.lazy.compactMap(ProcessIdentity.init(of:)).first { process in
            guard process.startTime == startTime,
                let line = OpenFile.text(of: "/proc/\(process.pid)/status")?.split(separator: "\n")
                    .first(where: { $0.hasPrefix("NSpid:") }),
                line.split(separator: "\t").last == "\(pid)"
            else { return false }
            var status = stat()
            // If the namespace of the process cannot be read, its number and its start time identify it.
            guard stat("/proc/\(process.pid)/ns/pid", &status) == 0 else { return true }
            return UInt64(status.st_ino) == namespace
        }
    }

    /// The PID namespace of the number if this is the calling process with its own number; 0 for any other process, and
    /// if a hub in another namespace has given it another number.
    package var ownNamespace: UInt64 {
        let present = Self.current
        return pid == present.pid && startTime == present.startTime ? Self.currentNamespace : 0
    }
}

/// The state of a process, as far as it can be seen.
public enum ProcessLiveness: Hashable, Sendable {
    /// The process runs or is stopped.
    case alive
    /// The process has ended, even if its parent has not reaped it yet.
    case dead
    /// The process cannot be seen from here.
    case unknown
}

/// The system's record of a process or of one of its threads, the line of `/proc/<pid>/stat`.
///
/// Parsed from the raw bytes for speed: a process that joins a group of a hundred reads a hundred of them.
struct ProcessRecord {
    /// Field 3, a letter.
    let state: UInt8
    /// Bit 2 of field 9, PF_EXITING.
    let isExiting: Bool
    /// Field 22, converted to ticks of the machine's own clock: the kernel adds the clock offset of this process's
    /// namespace.
    let startTime: UInt64

    /// Returns nil for bytes of another form.
    init?(_ line: [UInt8]) {
        // The second field is the program's name in parentheses and may hold anything, so count from its last one.
        guard let name = line.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = line[(name + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 20)
        guard fields.count > 19, let state = fields[0].first, let flags = Self.number(fields[6]),
            let ticks = Self.number(fields[19])
        else { return nil }
        self.state = state
        isExiting = flags & 0x4 != 0
        startTime = UInt64(bitPattern: Int64(bitPattern: ticks) &- TimeNamespace.tickOffset)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isOver) = product.addingReportingOverflow(UInt64(digit - UInt8(ascii: "0")))
            guard !isTooLarge, !isOver else { return nil }
            number = sum
        }
        return digits.isEmpty ? nil : number
    }
}
