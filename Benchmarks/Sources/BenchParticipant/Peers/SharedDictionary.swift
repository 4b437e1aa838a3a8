internal import Glibc

/// A small dictionary of numbers in a file that processes share, changed under a lock: what the peers have in place of
/// UserDefaults or of a table of SQLite. It is faster than both.
struct SharedDictionary: Sendable {
    let path: String

    /// Reads it, changes it, and writes it back, while nobody else does.
    func update<Value>(_ change: (inout [String: UInt64]) -> Value) -> Value {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        precondition(file >= 0, "\(path) cannot be opened: error \(errno)")
        defer { close(file) }
        while flock(file, LOCK_EX) != 0 {}
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = max(0, pread(file, &buffer, buffer.count, 0))
        var values: [String: UInt64] = [:]
        for line in String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: "=")
            if parts.count == 2 { values[String(parts[0])] = UInt64(parts[1]) }
        }
        let before = values
        let result = change(&values)
        if values != before {
            let text = Array(values.map { "\($0.key)=\($0.value)\n" }.joined().utf8)
            precondition(pwrite(file, text, text.count, 0) == text.count && ftruncate(file, text.count) == 0)
        }
        return result
    }
}
