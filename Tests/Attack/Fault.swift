internal import CoreAPITesting
internal import Glibc
internal import TestSupport

/// A fault that strace injects into a system call of the program: an error that the kernel could give, or a kill.
struct Fault: Hashable, Sendable, CustomStringConvertible {
    enum Kind: Hashable, Sendable {
        case error(String)
        case kill
        /// Microseconds before the call begins.
        case delay(Int)
    }

    let call: String
    let kind: Kind
    /// The call of each thread that it strikes, from 1; nil for all of them.
    var occurrence: Int?

    var description: String {
        let what =
            switch kind {
            case .error(let name): name
            case .kill: "KILL"
            case .delay(let time): "delay\(time)"
            }
        return "\(call).\(occurrence.map { "\($0)" } ?? "all").\(what)"
    }

    /// The arguments of strace, before what it runs or attaches to. `paths` narrows the fault to calls on these files.
    func arguments(output: String, paths: [String] = []) -> [String] {
        let what =
            switch kind {
            case .error(let name): "error=\(name)"
            case .kill: "signal=KILL"
            case .delay(let time): "delay_enter=\(time)"
            }
        return SystemCalls.arguments(output: output, calls: [call], paths: paths)
            + ["-e", "inject=\(call):\(what):when=\(occurrence.map { "\($0)" } ?? "1+")"]
    }

    /// The errors that a call can give when a disk fails or has no space. Those that take no space are given no such error.
    static func errors(of call: String) -> [String] {
        switch call {
        case "fdatasync", "fsync": ["EIO", "ENOSPC", "EDQUOT", "EROFS"]
        case "pwrite64", "fallocate": ["EIO", "ENOSPC", "EDQUOT"]
        case "renameat2", "linkat": ["EIO", "ENOSPC", "EDQUOT", "EROFS"]
        case "openat": ["EIO", "ENOSPC", "EDQUOT", "EROFS", "EMFILE"]
        case "mmap": ["ENOMEM", "EIO"]
        default: ["EIO"]
        }
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
    /// The places that one fault can single out: calls of the same number in two threads are one.
    private(set) var places: [Place] = []

    /// Reads what strace has written.
    ///
    /// - Parameter group: The path that a call must name to be counted.
    init(trace path: String, group: String) {
        var numbers: [String: Int] = [:]
        var seen: Set<Place> = []
        for line in Self.lines(ofFile: path) where !line.contains("resumed>") {
            let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
            guard words.count == 2, let call = Self.watched.first(where: { words[1].hasPrefix($0 + "(") }) else {
                continue
            }
            let number = numbers["\(words[0]) \(call)", default: 0] + 1
            numbers["\(words[0]) \(call)"] = number
            guard line.contains(group) else { continue }
            count += 1
            let place = Place(call: call, occurrence: number)
            if seen.insert(place).inserted { places.append(place) }
        }
    }

    static func arguments(output: String, calls: [String], paths: [String] = []) -> [String] {
        ["-f", "-y", "-qq", "-o", output, "-e", "trace=" + calls.joined(separator: ",")] + paths.flatMap { ["-P", $0] }
    }

    /// How many faults were injected, by what strace has written. A call at which the
    /// process was killed has no result.
    static func injectedCount(trace path: String) -> Int {
        lines(ofFile: path).count { $0.contains("(INJECTED)") || $0.contains("(DELAYED)") || $0.hasSuffix("= ?") }
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
