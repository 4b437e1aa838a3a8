internal import CoreAPITesting
internal import Glibc
internal import TestSupport

/// A fault in a system call of the program: an error that the kernel could give, or a kill, which strace injects. A
/// call that takes only a part of its bytes is made by a fail point, which release builds do not have.
struct Fault: Hashable, Sendable, CustomStringConvertible {
    enum Kind: Hashable, Sendable {
        case error(String)
        case kill
        /// The process stands still there.
        case stop
        /// Microseconds before the call begins.
        case delay(Int)
        /// The call takes half of its bytes, and where the disk is full by then, the next one none.
        case short(isFull: Bool)
    }

    let call: String
    let kind: Kind
    /// The call of each thread that it strikes, from 1; nil for all of them. Of short calls, that of the process.
    var occurrence: Int?

    var description: String {
        let what =
            switch kind {
            case .error(let name): name
            case .kill: "KILL"
            case .stop: "STOP"
            case .delay(let time): "delay\(time)"
            case .short(let isFull): isFull ? "SHORT-FULL" : "SHORT"
            }
        return "\(call).\(occurrence.map { "\($0)" } ?? "all").\(what)"
    }

    /// The arguments of strace, before what it runs or attaches to.
    ///
    /// - Parameters:
    ///   - faults: Two of one call have the same error.
    ///   - group: The group's directory, for faults in calls that the loader and the runtime make as well: these faults
    ///     strike its files alone.
    static func arguments(for faults: [Fault], output: String, group: String? = nil) -> [String] {
        let paths = faults.contains { SystemCalls.general.contains($0.call) } ? group.map(SystemCalls.paths) ?? [] : []
        let places = faults.compactMap { $0.failPoint(in: group ?? "") }
        let injections = Dictionary(grouping: faults, by: \.call).values.compactMap(injection)
        return SystemCalls.arguments(output: output, calls: Set(faults.map(\.call)).sorted())
            + paths.flatMap { ["-P", $0] } + injections.flatMap { ["-e", $0] }
            + (places.isEmpty ? [] : ["-E", "SHAREDCORE_FAIL_POINT=" + places.joined(separator: ",")])
    }

    /// What strace injects into the calls of one kind, which it takes once for each kind.
    private static func injection(of faults: [Fault]) -> String? {
        guard let fault = faults.first else { return nil }
        let what: String
        switch fault.kind {
        case .error(let name): what = "error=\(name)"
        case .kill: what = "signal=KILL"
        case .stop: what = "signal=STOP"
        case .delay(let time): what = "delay_enter=\(time)"
        case .short: return nil
        }
        let places = faults.compactMap(\.occurrence).sorted()
        let when =
            switch (places.first, places.last) {
            case (let first?, let last?) where first < last: "\(first)..\(last)+\(last - first)"
            case (let first?, _): "\(first)"
            default: "1+"
            }
        return "inject=\(fault.call):\(what):when=\(when)"
    }

    private func failPoint(in group: String) -> String? {
        guard case .short(let isFull) = kind, let occurrence else { return nil }
        let place = "pwrite.short\(group):fail@\(occurrence)"
        return isFull ? place + ",pwrite\(group):fail=28@\(occurrence + 1)" : place
    }

    /// How many of them were injected, by what strace has written.
    static func injectedCount(of faults: [Fault], trace path: String) -> Int {
        let shortCount = faults.count { fault in
            guard case .short = fault.kind, let occurrence = fault.occurrence else { return false }
            return SystemCalls.callCount(trace: path) >= occurrence
        }
        return SystemCalls.injectedCount(trace: path) + shortCount
    }

    /// The errors that each single call is failed with: that of a broken device, and that of a full one where a call
    /// takes space.
    static func errors(of call: String) -> [String] {
        switch call {
        case "mmap": ["ENOMEM"]
        case "ftruncate": ["EIO"]
        default: ["EIO", "ENOSPC"]
        }
    }

    /// The errors that all calls of a kind are failed with, for as long as the program runs.
    static func lastingErrors(of call: String) -> [String] {
        SystemCalls.general.contains(call) ? [] : errors(of: call) + ["EDQUOT", "EROFS"]
    }
}

/// The system calls that the backend makes on the group's directory, as strace sees them.
struct SystemCalls: Sendable {
    static let watched = [
        "fdatasync", "fsync", "pwrite64", "fallocate", "renameat2", "linkat", "openat", "mmap", "ftruncate",
    ]

    /// Each as its name and its number among those of its thread.
    struct Place: Hashable, Sendable {
        let call: String
        let occurrence: Int
    }

    /// How many there were.
    private(set) var count = 0
    /// How many there were of each.
    private(set) var counts: [String: Int] = [:]
    /// The places that one fault can single out: calls of the same number in two threads are one.
    private(set) var places: [Place] = []
    /// The places of those on a file of the group that has a known name, numbered among these alone: where one of two
    /// calls is general, strace is told these names and counts no other call.
    private(set) var namedPlaces: [Place] = []

    /// Reads what strace has written.
    ///
    /// - Parameter group: The path that a call must name to be counted.
    init(trace path: String, group: String) {
        var numbers: [String: Int] = [:]
        var namedNumbers: [String: Int] = [:]
        var seen: Set<Place> = []
        var seenNamed: Set<Place> = []
        let paths = Self.paths(of: group)
        for line in Self.lines(ofFile: path) where !line.contains("resumed>") {
            // The number of the thread, spaces up to a column, the call.
            let thread = line.prefix { $0 != " " }
            let rest = line.dropFirst(thread.count).drop { $0 == " " }
            guard let call = Self.watched.first(where: { rest.hasPrefix($0 + "(") }) else { continue }
            let isNamed = paths.contains { line.contains("<\($0)>") || line.contains("\"\($0)\"") }
            if isNamed {
                namedNumbers["\(thread) \(call)", default: 0] += 1
                let place = Place(call: call, occurrence: namedNumbers["\(thread) \(call)", default: 0])
                if seenNamed.insert(place).inserted { namedPlaces.append(place) }
            }
            if Self.general.contains(call), !isNamed { continue }
            let number = numbers["\(thread) \(call)", default: 0] + 1
            numbers["\(thread) \(call)"] = number
            guard line.contains(group) else { continue }
            count += 1
            counts[call, default: 0] += 1
            let place = Place(call: call, occurrence: number)
            if seen.insert(place).inserted { places.append(place) }
        }
    }

    /// Calls that the loader and the runtime make too.
    static let general: Set = ["mmap", "openat"]

    /// The directory of a group, and its files that have a name of which is known what it will be.
    static func paths(of group: String) -> [String] {
        [group, group + "/sessions", group + "/spare"] + (1...20).map { group + "/journal-\($0)" }
    }

    static func arguments(output: String, calls: [String] = watched) -> [String] {
        ["-f", "-y", "-qq", "-o", output, "-e", "trace=" + calls.joined(separator: ",")]
    }

    /// How many faults were injected, by what strace has written. A call at which the
    /// process was killed has no result.
    fileprivate static func injectedCount(trace path: String) -> Int {
        lines(ofFile: path).count { $0.contains("(INJECTED)") || $0.contains("(DELAYED)") || $0.hasSuffix("= ?") }
    }

    /// How many calls there were.
    fileprivate static func callCount(trace path: String) -> Int {
        lines(ofFile: path).count { !$0.contains("resumed>") && $0.contains("(") }
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
