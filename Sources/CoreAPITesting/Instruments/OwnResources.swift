internal import Platform

/// The resources of the system that this process holds, to check that it gives them back.
package enum OwnResources {
    /// The number of open descriptors.
    package static var descriptorCount: Int { count(of: "/proc/self/fd") }

    /// The number of threads.
    package static var threadCount: Int { count(of: "/proc/self/task") }

    /// The resident memory in bytes.
    package static var residentByteCount: Int {
        ProcessMemory.residentByteCount
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
        ((try? Directory(path: directory).names()) ?? []).count
    }
}
