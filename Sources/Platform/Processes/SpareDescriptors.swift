package import CoreAPI
internal import Glibc

/// The number of further files that this process may open.
///
/// Swift's runtime and libdispatch end the process with SIGILL if they get no descriptor, so the number is checked in
/// advance.
package enum SpareDescriptors {
    /// The rest of the limit (`ulimit -n`); nil if it is unknown, as without /proc.
    package static var count: Int? {
        let end = limit
        guard end > 0 else { return nil }
        let numbers: [String]
        do throws(SystemCallError) {
            numbers = try Directory(path: "/proc/self/fd").names()
        } catch {
            return error.exhausted == nil ? nil : 0
        }
        // One of the listed descriptors is the one that reads the list, and is closed by now.
        return max(0, end - (numbers.count { Int($0).map { $0 < end } ?? false } - 1))
    }

    /// Throws unless enough descriptors are left.
    ///
    /// - Parameters:
    ///   - needed: How many are needed beside the open ones.
    ///   - purpose: The user of the descriptors, as the subject of a sentence.
    /// - Throws: ``SharedCoreError/Code/unavailable`` with both numbers.
    package static func require(_ needed: Int, for purpose: String, at location: String) throws(SharedCoreError) {
        guard let count, count < needed else { return }
        throw SharedCoreError(
            .unavailable,
            "\(purpose) needs \(needed) descriptors, and this process may open \(count) more. Raise its limit (ulimit -n).",
            at: location)
    }

    /// The number of descriptors that this process may have.
    package static var limit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        return Int(clamping: limit.rlim_cur)
    }

    /// Lets this process have as many files open as the system allows it.
    package static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max
        else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
