internal import CLinux
package import CoreAPI
internal import Glibc

/// The number of further threads that this process may start.
///
/// libdispatch, on which Swift's tasks run, retries for ever if it gets none: the process would hang silently. So
/// threads are started on trial in advance.
package enum SpareThreads {
    /// The pool has one thread per processor, but at most this many are required.
    private static let poolLimit = 16
    /// The memory that a program needs for its work, beside the stacks of its threads.
    private static let heapByteCount = 32 << 20

    /// Starts as many threads as are needed, ends them, and throws if not all could run at once.
    ///
    /// - Parameters:
    ///   - own: How many are needed beside those of Swift's pool.
    ///   - purpose: The user of the threads, as the subject of a sentence.
    /// - Throws: ``SharedCoreError/Code/unavailable`` with the missing resource, and the limit's name.
    package static func require(_ own: Int, for purpose: String, at location: String) throws(SharedCoreError) {
        let needed = own + min(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))), poolLimit)
        let byteCount = needed * clinux_stack_size() + heapByteCount
        guard clinux_can_map(byteCount) else {
            throw SharedCoreError(
                .unavailable,
                "\(purpose) needs \(byteCount >> 20) MiB more of address space, for \(needed) threads and what they work with, and "
                    + "this process may not have so much. Raise its limit (ulimit -v, ulimit -d).",
                at: location)
        }
        // If memory is limited, all threads share one heap: a heap for each thread would use up the memory that was
        // found above.
        if clinux_has_limited_memory() { OwnProcess.shareHeap() }
        let found = Int(clinux_try_threads(Int32(needed)))
        guard found < needed else { return }
        throw SharedCoreError(
            .unavailable,
            "\(purpose) needs \(needed) threads, and this process may start \(found) more. Raise the limit of its user (ulimit -u) or "
                + "of its control group (pids.max).",
            at: location)
    }
}
