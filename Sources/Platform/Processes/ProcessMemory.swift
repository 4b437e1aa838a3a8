package import CoreAPI
internal import Glibc

/// The memory of a process.
package enum ProcessMemory {
    /// The resident memory of this process, in bytes: with the pages that it shares with others.
    package static var residentByteCount: Int {
        let words = OpenFile.text(of: "/proc/self/statm")?.split(separator: " ") ?? []
        return (words.dropFirst().first.flatMap { Int($0) } ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Unmaps the pages of code that this process has used so far. The resident memory of a program that has started
    /// and then sleeps is then without the code that only its start needed. Code that is needed again is mapped again
    /// from its file: the system keeps those pages.
    ///
    /// Code is never written, so its pages are those of the file. A failure costs the memory alone.
    package static func releaseCode() {
        for line in (OpenFile.text(of: "/proc/self/maps") ?? "").split(separator: "\n") {
            let words = line.split(separator: " ")
            let bounds = words.first?.split(separator: "-").compactMap { UInt(String($0), radix: 16) } ?? []
            guard words.count >= 6, words[1] == "r-xp", words[5].utf8.first == UInt8(ascii: "/"), bounds.count == 2,
                let start = UnsafeMutableRawPointer(bitPattern: bounds[0])
            else { continue }
            _ = madvise(start, Int(bounds[1] - bounds[0]), MADV_DONTNEED)
        }
    }

    /// Returns the private memory of a process and its children, in bytes: data that they have written and that is in
    /// no file, in memory or swapped out. Shared memory, such as the group's journal and the programs' code, is not
    /// counted. Nil if the process has ended or cannot be seen.
    package static func ownByteCount(of process: ProcessIdentity) -> UInt64? {
        guard var total = ownByteCount(of: process.pid) else { return nil }
        // The children of the process and their children are added. No Executor has more than a few hundred.
        var rest = children(of: process.pid)
        var count = 0
        while let child = rest.popLast(), count < 256 {
            total += ownByteCount(of: child) ?? 0
            rest += children(of: child)
            count += 1
        }
        return total
    }

    private static func ownByteCount(of pid: Int32) -> UInt64? {
        var total: UInt64?
        for line in (OpenFile.text(of: "/proc/\(pid)/status") ?? "").split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard words.count == 3, words[0] == "RssAnon:" || words[0] == "VmSwap:", let count = UInt64(words[1]) else {
                continue
            }
            total = (total ?? 0) + count << 10
        }
        return total
    }

    /// Returns the processes that its threads have started; none if the kernel does not list them.
    private static func children(of pid: Int32) -> [Int32] {
        let threads = (try? Directory(path: "/proc/\(pid)/task").names()) ?? []
        return threads.flatMap { thread in
            (OpenFile.text(of: "/proc/\(pid)/task/\(thread)/children") ?? "").split(separator: " ")
                .compactMap { Int32($0) }
        }
    }
}
