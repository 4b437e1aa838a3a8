package import CoreAPI

/// How much memory a process has.
package enum ProcessMemory {
    /// The memory that a process has for itself alone, in bytes: what it has written that stands in no file, in memory or
    /// swapped out. What it shares with others, such as the group's journal and the programs' code, is not counted. Nil
    /// when it is gone or cannot be seen.
    package static func ownByteCount(of process: ProcessIdentity) -> UInt64? {
        guard let file = try? OpenFile(path: "/proc/\(process.pid)/status", .read),
            let bytes = try? file.read(count: 8 << 10, at: 0)
        else { return nil }
        var total: UInt64?
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard words.count == 3, words[0] == "RssAnon:" || words[0] == "VmSwap:", let count = UInt64(words[1]) else {
                continue
            }
            total = (total ?? 0) + count << 10
        }
        return total
    }
}
