internal import CoreAPITesting
internal import Glibc
internal import Synchronization
internal import TestSupport

/// The error for a rule that did not hold.
struct Finding: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The writes that the program has acknowledged, kept outside of the group.
///
/// A write is announced before it begins, and counts as acknowledged only when the program has ended with 0 and a line
/// here says so. A write that was announced and not acknowledged may have taken effect, until a later one of its key is
/// acknowledged. One key has one writer at a time.
final class AcknowledgementLog: Sendable {
    private struct Keeping {
        /// The values that each key may have; nil for an absent key.
        var possible: [String: Set<String?>] = [:]
        var acknowledgedCount = 0
    }

    private let keeping = Mutex(Keeping())
    private let file: Int32

    init(path: String) throws {
        file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileProblem(path: path, code: errno) }
    }

    deinit {
        close(file)
    }

    /// Announces that a value is about to be put, or with nil that the key is about to be deleted.
    func announce(_ key: String, _ value: String?) throws {
        try write("begin", key, value)
        keeping.withLock { _ = $0.possible[key, default: [nil]].insert(value) }
    }

    /// Notes that the program has acknowledged an announced write.
    func acknowledge(_ key: String, _ value: String?) throws {
        try write("ok", key, value)
        keeping.withLock {
            $0.possible[key] = [value]
            $0.acknowledgedCount += 1
        }
    }

    /// Copies the knowledge of another log, for a copy of its group.
    func adopt(_ other: AcknowledgementLog) {
        let known = other.keeping.withLock { $0 }
        keeping.withLock { $0 = known }
    }

    /// Returns another log with the present knowledge of this one.
    func copy(path: String) throws -> AcknowledgementLog {
        let copy = try AcknowledgementLog(path: path)
        copy.adopt(self)
        return copy
    }

    var acknowledgedCount: Int { keeping.withLock(\.acknowledgedCount) }

    /// The bytes of the values that may be there.
    var liveByteCount: Int {
        keeping.withLock { $0.possible.values.reduce(0) { $0 + ($1.map { $0?.utf8.count ?? 0 }.max() ?? 0) } }
    }

    /// The keys that are known to have a value.
    var presentKeys: [String] {
        keeping.withLock { $0.possible.filter { !$0.value.contains(nil) }.keys.sorted() }
    }

    /// Throws unless the entries found are possible ones.
    func verify(_ found: [String: String]) throws {
        let possible = keeping.withLock(\.possible)
        for (key, values) in possible where !values.contains(found[key]) {
            throw Finding(
                "Under “\(key)” stands \(Self.name(of: found[key])), but \(values.map(Self.name).sorted()) may.")
        }
        if let key = found.keys.sorted().first(where: { possible[$0] == nil }) {
            throw Finding("Under “\(key)” stands something that was never put.")
        }
    }

    private func write(_ word: String, _ key: String, _ value: String?) throws {
        let line = Array("\(word) \(key) \(Self.name(of: value))\n".utf8)
        guard Glibc.write(file, line, line.count) == line.count else {
            throw FileProblem(path: "the log of acknowledgements", code: errno)
        }
    }

    /// The beginning of a value, which is different for each.
    private static func name(of value: String?) -> String {
        value.map { "\($0.prefix(24)) (\($0.utf8.count) bytes)" } ?? "nothing"
    }
}
