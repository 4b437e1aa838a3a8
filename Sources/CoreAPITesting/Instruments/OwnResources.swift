internal import Glibc

/// The resources of the system that this process holds, to check that it gives them back.
package enum OwnResources {
    /// The number of open descriptors.
    package static var descriptorCount: Int { count(of: "/proc/self/fd") }

    /// The number of threads.
    package static var threadCount: Int { count(of: "/proc/self/task") }

    /// The resident memory in bytes.
    package static var residentByteCount: Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Returns the least growth of the resident memory, in bytes, over several batches of the same work. A leak grows
    /// with every batch; other work of the process does not.
    package static func leastGrowth(batches: Int, _ work: () async throws -> Void) async throws -> Int {
        var least = Int.max
        for _ in 0..<batches {
            let before = residentByteCount
            try await work()
            least = min(least, residentByteCount - before)
        }
        return least
    }

    private static func count(of directory: String) -> Int {
        guard let stream = opendir(directory) else { return 0 }
        defer { closedir(stream) }
        var count = 0
        while let entry = readdir(stream) {
            if entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { count += 1 }
        }
        return count
    }
}
