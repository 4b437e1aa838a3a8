internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport

/// A fault in a system call of the program: an error that the kernel could give, or a kill, which strace injects. A
/// short read or write is made by a fail point, which release builds do not have.
struct Fault: Hashable, Sendable, CustomStringConvertible {
    enum Kind: Hashable, Sendable {
        case error(String)
        case kill
        /// The process is stopped there.
        case stop
        /// The call is delayed by microseconds.
        case delay(Int)
        /// The call transfers half of its bytes and, if the disk is full by then, the next one none.
        case short(isFull: Bool)
        /// The call fails, and the process is killed at one of the same kind, so many later. Two fail points, since strace
        /// knows one fault for each kind of call.
        case errorThenKill(after: Int)

        /// True for a fault that needs a build with fail points.
        var needsFailPoints: Bool {
            switch self {
            case .short, .errorThenKill: true
            default: false
            }
        }
    }

    let call: String
    let kind: Kind
    /// The number of the call to fail in each thread, from 1; nil for all of them. For fail points, the number in the
    /// process.
    var occurrence: Int?
    /// True if the fault strikes all later calls as well.
    var isLasting = false
    /// True if only calls on files of the group with a known name are counted and struck. Set for system calls that the
    /// loader and the runtime make too.
    var isNamed = false

    init(call: String, kind: Kind, occurrence: Int?) {
        self.call = call
        self.kind = kind
        self.occurrence = occurrence
    }

    init(_ kind: Kind, at place: SystemCalls.Place, isLasting: Bool = false) {
        call = place.call
        self.kind = kind
        occurrence = place.occurrence
        self.isLasting = isLasting
        isNamed = place.isNamed
    }

    /// A fault in all calls of a kind, for as long as the program runs.
    init(_ kind: Kind, always call: String) {
        self.call = call
        self.kind = kind
        isNamed = SystemCalls.general.contains(call)
    }

    var description: String {
        let what =
            switch kind {
            case .error(let name): name
            case .kill: "KILL"
            case .stop: "STOP"
            case .delay(let time): "delay\(time)"
            case .short(let isFull): isFull ? "SHORT-FULL" : "SHORT"
            case .errorThenKill(let count): "EIO-KILL\(count)"
            }
        let isUnnamed = SystemCalls.general.contains(call) && !isNamed
        let place = occurrence.map { isLasting ? "\($0)-all" : "\($0)" } ?? "all"
        return "\(call)\(isUnnamed ? "-unnamed" : "").\(place).\(what)"
    }

    /// The arguments of strace, without the program that it runs or attaches to.
    ///
    /// - Parameters:
    ///   - faults: Two of one call have the same error, and both are named or none is.
    ///   - directories: The directory of the group, and others that the program writes to, for faults on named files.
    ///   - failPoint: One that is active besides.
    static func arguments(
        for faults: [Fault], output: String, in directories: [String] = [], beside failPoint: String? = nil
    ) -> [String] {
        let paths = faults.contains(where: \.isNamed) ? directories.flatMap(SystemCalls.paths) : []
        let own = faults.compactMap { $0.failPoint(in: directories.first ?? "") }
        let marks = own.flatMap(Self.marks)
        let injections = Dictionary(grouping: faults, by: \.call).values.compactMap(injection)
        let calls = Set(faults.map(\.call) + (marks.isEmpty ? [] : SystemCalls.marking)).sorted()
        // With a list of paths, strace sees no call on others.
        let named = paths.isEmpty ? [] : paths + marks
        return SystemCalls.arguments(output: output, calls: calls)
            + named.flatMap { ["-P", $0] } + injections.flatMap { ["-e", $0] }
            + environment(of: [failPoint].compactMap(\.self) + own)
    }

    /// The arguments of strace that activate fail points in the program that it runs.
    static func environment(of failPoints: [String]) -> [String] {
        failPoints.isEmpty ? [] : ["-E", "SHAREDCORE_FAIL_POINT=" + failPoints.joined(separator: ",")]
    }

    /// The faults that strace injects into the calls of one kind, which it takes once for each kind.
    private static func injection(of all: [Fault]) -> String? {
        let faults = all.filter { !$0.kind.needsFailPoints }
        guard let fault = faults.first else { return nil }
        let what: String
        switch fault.kind {
        case .error(let name): what = "error=\(name)"
        case .kill: what = "signal=KILL"
        case .stop: what = "signal=STOP"
        case .delay(let time): what = "delay_enter=\(time)"
        case .short, .errorThenKill: return nil
        }
        let places = faults.compactMap(\.occurrence).sorted()
        let when =
            switch (places.first, places.last) {
            case (let first?, let last?) where first < last: "\(first)..\(last)+\(last - first)"
            case (let first?, _): fault.isLasting ? "\(first)+" : "\(first)"
            default: "1+"
            }
        return "inject=\(fault.call):\(what):when=\(when)"
    }

    /// The names that the program's fail points have for calls.
    static let failPoints = [
        "pwrite64": "pwrite", "fdatasync": "fdatasync", "fsync": "fsync", "fallocate": "posix_fallocate",
        "linkat": "linkat", "ftruncate": "ftruncate", "unlinkat": "unlinkat",
    ]

    private func failPoint(in group: String) -> String? {
        guard let occurrence, let name = Self.failPoints[call] else { return nil }
        switch kind {
        case .short(let isFull):
            let place = "pwrite.short\(group):fail@\(occurrence)"
            return isFull ? place + ",pwrite\(group):fail=28@\(occurrence + 1)" : place
        // The second one begins to count when the first one has struck.
        case .errorThenKill(let count): return "\(name)\(group):fail@\(occurrence),\(name)\(group):kill@\(count)"
        default: return nil
        }
    }

    /// The marks that the strikes of fail points leave in a trace.
    private static func marks(of failPoints: String) -> [String] {
        failPoints.split(separator: ",").compactMap { $0.split(separator: ":").first }
            .map { FailPoint.mark(ofStrike: String($0)) }
    }

    /// The number of them that have struck, by the output of strace.
    ///
    /// - Parameter directories: As for the arguments of strace.
    static func struckCount(of faults: [Fault], trace path: String, in directories: [String]) -> Int {
        let marks = faults.compactMap { $0.failPoint(in: directories.first ?? "") }.flatMap(Self.marks)
        return SystemCalls.injectedCount(of: faults, trace: path) + SystemCalls.markCount(of: marks, trace: path)
    }

    /// The errors that each single call is failed with: that of a broken device, and that of a full one where a call
    /// takes space.
    static func errors(of call: String) -> [String] {
        switch call {
        case "mmap": ["ENOMEM"]
        case "pwrite64", "fallocate", "fdatasync", "fsync", "linkat", "renameat2", "openat", "mkdirat":
            ["EIO", "ENOSPC"]
        // Of a table of locks that is full, and of a lock manager on another machine or in FUSE.
        case "fcntl": ["EIO", "ENOLCK", "EDEADLK"]
        case "inotify_init1": ["EMFILE", "ENOMEM"]
        case "inotify_add_watch": ["ENOSPC", "ENOMEM"]
        default: ["EIO"]
        }
    }

    /// The errors that all calls of a kind are failed with, for as long as the program runs.
    static func lastingErrors(of call: String) -> [String] {
        switch call {
        // A read-only file system, or a quota, refuses the calls that change it.
        case "pwrite64", "fallocate", "fdatasync", "fsync", "linkat", "renameat2", "openat", "mkdirat", "ftruncate":
            Set(errors(of: call) + ["ENOSPC", "EDQUOT", "EROFS"]).sorted()
        case "unlinkat": ["EIO", "EROFS"]
        // A container may forbid the newer call.
        case "statx": ["EIO", "ENOSYS"]
        default: errors(of: call)
        }
    }
}

/// The system calls that the backend makes on the group's directory, as strace sees them.
///
/// The program makes further calls there that are not places of a fault. `close` frees the descriptor with any result,
/// and a kill there is one before the next call. `read` takes events and the content of mails. `lseek` is the C
/// library's for a mail, and `symlinkat` a note of the Maildir's core. `inotify_rm_watch` and `epoll_ctl` change
/// nothing on a file. `bind`, `chmod`, `connect` and `unlink` are of the host's sockets, which lie beside the store.
/// `futex_waitv` waits in memory.
struct SystemCalls: Sendable {
    /// The calls that change the directory or bring it to the disk, or map its pages for that.
    static let changing = [
        "fdatasync", "fsync", "pwrite64", "fallocate", "renameat2", "linkat", "openat", "mmap", "ftruncate", "unlinkat",
        "mkdirat",
    ]
    /// The calls that read, lock and watch. The C library's `fstat` is one call or another.
    static let looking = [
        "pread64", "fcntl", "newfstatat", "fstat", "statx", "getdents64", "fstatfs", "inotify_init1",
        "inotify_add_watch",
    ]
    static let watched = changing + looking

    /// Each as its name and its number among those of its thread.
    struct Place: Hashable, Sendable {
        let call: String
        let occurrence: Int
        /// True if `occurrence` counts only the calls on named files of the group.
        let isNamed: Bool

        var isGeneral: Bool { SystemCalls.general.contains(call) }
        var isChanging: Bool { SystemCalls.changing.contains(call) }
    }

    /// The number of calls.
    private(set) var count = 0
    /// The number of calls of each kind.
    private(set) var counts: [String: Int] = [:]
    /// The places that one fault can single out: calls of the same number in two threads are one. General calls on named
    /// files are numbered among these.
    private(set) var places: [Place] = []
    /// The places of the calls on a file of the group that has a known name, numbered among these calls alone.
    ///
    /// For a pair of calls of which one is general, strace is told these names and counts no other call.
    private(set) var namedPlaces: [Place] = []
    /// The number of ``places`` before each write.
    private(set) var placeCountsBeforeWrites: [Int] = []

    /// Reads the trace that strace has written.
    ///
    /// - Parameter directories: The paths of which a call must name one to be counted.
    init(trace path: String, in directories: [String]) {
        var numbers: [String: Int] = [:]
        var seen: Set<Place> = []
        var seenNamed: Set<Place> = []
        let names = directories.flatMap(Self.paths)
        for line in Self.lines(ofFile: path) where !line.contains("resumed>") {
            // The number of the thread, spaces up to a column, the call.
            let thread = line.prefix { $0 != " " }
            let rest = line.dropFirst(thread.count).drop { $0 == " " }
            guard let call = Self.watched.first(where: { rest.hasPrefix($0 + "(") }) else { continue }
            func place(isNamed: Bool) -> Place {
                let number = numbers["\(thread) \(call) \(isNamed)", default: 0] + 1
                numbers["\(thread) \(call) \(isNamed)"] = number
                return Place(call: call, occurrence: number, isNamed: isNamed)
            }
            let isNamed = names.contains { line.contains("<\($0)>") || line.contains("\"\($0)\"") }
            let named = isNamed ? place(isNamed: true) : nil
            let any = place(isNamed: false)
            // Of this call, strace strikes a number and not an argument.
            if call == "fcntl", !rest.contains(", F_OFD_"), !rest.contains(", F_SETLK"), !rest.contains(", F_GETLK") {
                continue
            }
            if let named, seenNamed.insert(named).inserted { namedPlaces.append(named) }
            guard call.hasPrefix("inotify_") || directories.contains(where: { Self.isMeant($0, by: line, call) }) else {
                continue
            }
            count += 1
            counts[call, default: 0] += 1
            if call == "pwrite64" { placeCountsBeforeWrites.append(places.count) }
            let place = if let named, Self.general.contains(call) { named } else { any }
            if seen.insert(place).inserted { places.append(place) }
        }
    }

    /// Returns true if a call is on a directory or a file in it. A call that makes the directory names its parent and
    /// the last part of its path.
    private static func isMeant(_ directory: String, by line: Substring, _ call: String) -> Bool {
        if line.contains(directory) { return true }
        guard !general.contains(call), let slash = directory.lastIndex(of: "/") else { return false }
        return line.contains("<\(directory[..<slash])>, \"\(directory[directory.index(after: slash)...])\"")
    }

    /// ``places`` without the middle of those in which the program polls, as while it waits for a lock.
    var distinctPlaces: [Place] {
        var rest = Dictionary(grouping: places, by: \.call).mapValues(\.count)
        var seen: [String: Int] = [:]
        return places.filter { place in
            seen[place.call, default: 0] += 1
            rest[place.call, default: 0] -= 1
            return place.isChanging || min(seen[place.call, default: 0], rest[place.call, default: 0] + 1) <= 15
        }
    }

    /// Calls that the loader and the runtime make too.
    static let general: Set = [
        "mmap", "openat", "pread64", "fcntl", "newfstatat", "fstat", "statx", "getdents64", "fstatfs",
    ]

    /// The paths of a group's directory and of its files with names that are known in advance.
    static func paths(of group: String) -> [String] {
        [group, group + "/sessions", group + "/spare", group + "/witness"] + (1...20).map { group + "/journal-\($0)" }
    }

    /// - Parameter calls: A name that the machine does not know is none.
    static func arguments(output: String, calls: [String] = watched) -> [String] {
        ["-f", "-y", "-qq", "-o", output, "-e", "trace=" + calls.map { "?" + $0 }.joined(separator: ",")]
    }

    /// The calls by which a strike of a fail point shows in a trace. Machines differ in which of them there is.
    static let marking = ["access", "faccessat"]

    /// The number of faults that strace has injected.
    ///
    /// The trace shows no result for a call at which the process was killed. The same holds for the calls of its other
    /// threads at that moment, and for a call of a thread at the end of a process.
    fileprivate static func injectedCount(of faults: [Fault], trace path: String) -> Int {
        let killed = Set(faults.filter { $0.kind == .kill }.map(\.call))
        return lines(ofFile: path).count { line in
            line.contains("(INJECTED)") || line.contains("(DELAYED)") || line.contains("--- SIGSTOP {")
                || line.hasSuffix("= ?")
                    && killed.contains { line.contains(" \($0)(") || line.contains(" \($0) resumed>") }
        }
    }

    /// The number of strikes of fail points, by the marks of their strikes.
    fileprivate static func markCount(of marks: [String], trace path: String) -> Int {
        lines(ofFile: path).count { line in marks.contains { line.contains("\"\($0)\"") } }
    }

    /// The processes that stood still, by a thread of each.
    static func stoppedThreads(trace path: String) -> [Int32] {
        lines(ofFile: path).filter { $0.contains("stopped by SIGSTOP") }.compactMap { Int32($0.prefix { $0 != " " }) }
    }

    private static func lines(ofFile path: String) -> [Substring] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { text += buffer.prefix(count) }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }
}
